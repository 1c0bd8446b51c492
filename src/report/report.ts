import { pinnedAssumptions } from "../api/variation/vary.js";
import { adviceIds, adviceLevels, adviceTable } from "../domain/advice.js";
import { profiles } from "../domain/assumptions.js";
import { isFault, outcomeOf, outcomes } from "../domain/outcomes.js";
import { mistakesIn } from "../schema/check.js";
import {
  choice,
  count,
  flag,
  growingChoice,
  instant,
  list,
  mapping,
  nullable,
  optional,
  orNull,
  text,
  type ValueOf,
} from "../schema/shape.js";
import { camelCase, inJsonOfAnyVersion } from "../schema/spelling.js";
import { listed } from "../schema/words.js";
import type { Runtime } from "../world/runtime.js";
import { howToCover } from "./reproduce.js";
import { suggestEndpoint } from "./suggest-endpoint.js";

const world = {
  scenario: text(),
  seed: count(),
  profile: choice(profiles),
  /** The assumptions that the scenario sets itself where the profile would set them otherwise, or vary them. */
  pinned: list(text()),
};

const coverage = mapping({
  /** A whole number, rounded down: 100 is all. */
  percent: count({ most: 100 }),
  met: count(),
  promised: count(),
});
/** The share of the promised paths that was met. */
export interface Coverage extends ValueOf<typeof coverage> {}

const share = () => mapping({ met: count(), total: count() });

const path = mapping({
  pathId: growingChoice(outcomes.map(({ path }) => path)),
  /** Whether the specification promises it; the coverage is of these. */
  promised: flag(),
  /** Whether a request ended there other than by a key in a wrong place. */
  met: flag(),
  /** The number of requests that ended like this; of a promised path without those to endpoints of the preview. */
  count: count(),
  /** The number of those to endpoints of the preview. */
  previewCount: count(),
  /** The requests that end like this. */
  when: text(),
  /**
   * The way to meet it, with a line for a shell that has the environment for clients; `null` when it was met, and for a path that
   * is not promised when no single request leads there.
   */
  howToMeet: nullable(text()),
});
/** One way in which a request can end. */
export interface ReportedPath extends ValueOf<typeof path> {}

const request = mapping({
  /** The request id. */
  id: text(),
  /** ISO 8601, on the sandbox's clock. */
  at: instant(),
  method: text(),
  path: text(),
  /** The ref of the key that the advice is about (for a key in the query, of that one), if the sandbox has it. */
  key: nullable(text()),
  /** The fingerprint of that key, or of what was presented as one. */
  fingerprint: nullable(text()),
  /** For a method or path that the API does not have: the nearest it has. */
  didYouMean: nullable(text()),
});
/** A request that earned an advice. */
export interface ReportedRequest extends ValueOf<typeof request> {}

const advice = mapping({
  id: growingChoice(adviceIds),
  level: choice(adviceLevels),
  /** The rules or the section behind it. */
  rule: text(),
  /** The number of requests that earned it. */
  count: count(),
  meaning: text(),
  whatToDo: text(),
  /** The first of the requests, five at most. */
  examples: list(request),
});
/** An advice and the requests that earned it. */
export interface ReportedAdvice extends ValueOf<typeof advice> {}

const repeat = mapping({
  pathId: growingChoice(outcomes.map(({ path }) => path)),
  key: nullable(text()),
  fingerprint: nullable(text()),
  /** The number of requests after the first refusal. */
  count: count(),
  /** The real milliseconds from the first refusal to the latest of them. */
  withinMs: count(),
});
/** How often a key was sent again after it had been refused. */
export interface ReportedRepeat extends ValueOf<typeof repeat> {}

export const reportShape = mapping({
  ...world,
  /** The runs that the report is merged from, with scenario, seed, profile and what is pinned of each; left out: it is of one run. */
  runs: optional(list(mapping(world))),
  /** The number of requests of the client. */
  requests: count(),
  /** The number of answers, delayed by a fault, for which the client did not wait; only a server knows. */
  unread: count(),
  coverage,
  /** The kinds of faults that were met. */
  faults: share(),
  /** The paths of the preview that were met; `null` where there is no preview. */
  preview: orNull(share()),
  /** Every path, in the order of the list of outcomes. */
  paths: list(path),
  /** The advice that was earned, the most serious first. */
  advice: list(advice),
  /** The keys that were sent again after 401, 403 or 429, whether or not that earned advice. */
  repeats: list(repeat),
});
/** The paths that a client has met, and advice on how it behaved. Plain data; holds no key. */
export interface Report extends ValueOf<typeof reportShape> {}

/**
 * Builds the report of all clients of a runtime: over every world that ran there, since the start or since the requests were
 * cleared. How to cover a path holds for the world that runs now;
 * `underExec` says that the report comes when `exec` has stopped it, `keysInOutput` are the places of keys in a command's output.
 */
export function reportOf(
  { world, counters }: Pick<Runtime, "world" | "counters">,
  { underExec = false, keysInOutput = [] }: { underExec?: boolean; keysInOutput?: readonly string[] } = {},
): Report {
  const running = world();
  const counted = counters.read();
  const hints = howToCover(running, { curlOptions: counters.curlOptions, underExec });
  const paths = outcomes.map(({ path: pathId, promised, when }): ReportedPath => {
    const { count, previewCount, isMet: met } = counted.paths[pathId];
    return { pathId, promised, met, count, previewCount, when, howToMeet: met ? null : hints(pathId) };
  });
  const advice = adviceTable.map(({ id, level, rule, meaning, whatToDo }) => {
    const { count, examples } = counted.advice[id];
    const requests = examples.map((request) => {
      const suggestion =
        id === "wrong-method-or-path" && suggestEndpoint(request.method, request.path, running.preview);
      return { ...request, at: new Date(request.at).toISOString(), didYouMean: suggestion || null };
    });
    const advice = { id, level, rule, count, meaning, whatToDo, examples: requests };
    if (id !== "key-in-output" || keysInOutput.length === 0) return advice;
    const shown = listed(keysInOutput.slice(0, mostExamples), "and");
    return { ...advice, count: keysInOutput.length, meaning: `${meaning} First: ${shown}.` };
  });
  return {
    scenario: running.name,
    seed: running.seed,
    profile: running.profile,
    pinned: pinnedAssumptions(running),
    requests: counted.requests,
    unread: counted.unread,
    ...sharesOf(paths, running.preview),
    paths,
    advice: advice.filter(({ count }) => count > 0),
    repeats: counted.repeats,
  };
}

/** Returns the shares of the paths that were met: of the promised ones, of the faults, and of those of the preview. */
function sharesOf(
  paths: readonly ReportedPath[],
  hasPreview: boolean,
): Pick<Report, "coverage" | "faults" | "preview"> {
  const share = (chosen: readonly ReportedPath[]) => ({
    met: chosen.filter((row) => row.met).length,
    total: chosen.length,
  });
  const { met, total: promised } = share(paths.filter((row) => row.promised));
  const isAnnounced = hasPreview || paths.some(({ previewCount }) => previewCount > 0);
  return {
    coverage: { percent: Math.floor((met * 100) / promised), met, promised },
    faults: share(paths.filter(({ pathId }) => isFault(pathId))),
    preview: isAnnounced ? share(paths.filter(({ pathId }) => outcomeOf(pathId).preview === true)) : null,
  };
}

const mostExamples = 5;

/** Merges the reports of several runs, at least one, into one: a path is met when a run has met it. */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const [first] = reports;
  const runs = reports.flatMap(
    ({ runs, scenario, seed, profile, pinned }) => runs ?? [{ scenario, seed, profile, pinned }],
  );
  const paths = first.paths.map(({ pathId }) => mergePath(rowsOf(reports, pathId)));
  const advice = adviceIds.flatMap((id) => {
    const [row, ...others] = reports.flatMap((report) => report.advice.filter((one) => one.id === id));
    return row === undefined ? [] : [mergeAdvice([row, ...others])];
  });
  // Complete by its type: what is left out here would be that of the first run alone.
  const merged: Omit<Report, "seed" | "profile" | "pinned"> = {
    scenario: [...new Set(runs.map(({ scenario }) => scenario))].join(", "),
    runs,
    requests: sum(reports, ({ requests }) => requests),
    unread: sum(reports, ({ unread }) => unread),
    ...sharesOf(
      paths,
      reports.some(({ preview }) => preview !== null),
    ),
    paths,
    advice,
    repeats: mergeRepeats(reports.flatMap(({ repeats }) => repeats)),
  };
  return { ...first, ...merged };
}

function rowsOf(reports: readonly Report[], pathId: string): [ReportedPath, ...ReportedPath[]] {
  const rows = reports.flatMap(({ paths }) => paths.filter((path) => path.pathId === pathId));
  return rows as [ReportedPath, ...ReportedPath[]];
}

function mergePath(rows: readonly [ReportedPath, ...ReportedPath[]]): ReportedPath {
  const met = rows.some((row) => row.met);
  return {
    ...rows[0],
    met,
    count: sum(rows, ({ count }) => count),
    previewCount: sum(rows, ({ previewCount }) => previewCount),
    howToMeet: met ? null : rows[0].howToMeet,
  };
}

function mergeAdvice(rows: readonly [ReportedAdvice, ...ReportedAdvice[]]): ReportedAdvice {
  const examples = rows.flatMap((row) => row.examples).slice(0, mostExamples);
  return { ...rows[0], count: sum(rows, ({ count }) => count), examples };
}

// Keys of a ref differ from seed to seed.
function mergeRepeats(repeats: readonly ReportedRepeat[]): ReportedRepeat[] {
  const merged = new Map<string, ReportedRepeat>();
  for (const one of repeats) {
    const id = `${one.pathId} ${one.key ?? one.fingerprint}`;
    const { count, withinMs } = merged.get(id) ?? { count: 0, withinMs: 0 };
    merged.set(id, { ...one, count: count + one.count, withinMs: Math.max(withinMs, one.withinMs) });
  }
  return [...merged.values()];
}

function sum<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + numberOf(row), 0);
}

/**
 * Reads a report that came as JSON, spelled as `GET /report` spells it; `undefined` for anything else.
 *
 * Members that it does not know are left in place: a newer sandbox may say more.
 */
export function parseReport(json: unknown): Report | undefined {
  // A sandbox of an earlier version shows neither what is pinned nor repeats.
  const report = typeof json === "object" && json !== null ? { pinned: [], repeats: [], ...json } : json;
  const mistakes = mistakesIn(inJsonOfAnyVersion(reportShape), report);
  return mistakes.every(({ kind }) => kind === "unknown") ? (camelCase(report) as Report) : undefined;
}
