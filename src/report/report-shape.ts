import { adviceIds, adviceLevels } from "../domain/advice.js";
import { profiles } from "../domain/assumptions.js";
import { outcomes } from "../domain/outcomes.js";
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

// Apart from the making of a report: pages leave these out.

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
