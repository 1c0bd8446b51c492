import words from "../api/variation/words.json" with { type: "json" };
import { type Assumptions, assumptionTable, type Profile } from "../rules/assumptions.js";
import { effectAt, type FaultPathId, whatToDoAfter } from "../rules/fault-effects.js";
import { outcomeOf, type PathId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { RunConditions } from "../sandbox/conditions.js";
import { whyTooLittle } from "./promises.js";
import type { CausePoint, CertifyResult, CertifyVerdict, Run, RunCause } from "./result.js";

export interface PlannedRun extends Pick<Run, "name" | "profile" | "seed" | "fault"> {
  readonly isLate?: boolean;
}

/** Returns the runs that certify a client, the baseline first. */
export function planOf(
  seed: number,
  seeds: readonly number[],
  faults: readonly FaultPathId[],
): [PlannedRun, ...PlannedRun[]] {
  const plain = (profile: Profile) => ({ name: profile, profile, seed });
  return [
    plain("minimal"),
    plain("typical"),
    ...faults.map((fault): PlannedRun => ({ ...plain("minimal"), name: fault, fault })),
    ...seeds.map((one): PlannedRun => ({ name: `varied ${one}`, profile: "varied", seed: one })),
  ];
}

/** When a run is ended, in milliseconds. */
export interface Timeouts {
  readonly total: number;
  /** Time since its start or its last request. */
  readonly silent: number;
}

/** How long a client may wait for a response: longer than the usual timeouts. */
export const longestWait = 30_000;

interface TimeoutFacts {
  /** The user's choice for all runs. */
  readonly timeout?: number | undefined;
  /** The duration of the client's baseline; left out before the baseline. */
  readonly baselineMs?: number | undefined;
  /** The paths where a fault may affect a request. */
  readonly paths: readonly PathId[];
  /** The time that a client may wait before its next request. Default: none. */
  readonly min?: number;
}

/** Returns how long a run may take. After a fault, the client may wait for as long as `longestWait` and its whole baseline. */
export function timeoutsFor(
  { fault }: PlannedRun,
  { timeout, baselineMs, paths, min = 0 }: TimeoutFacts,
): Timeouts {
  if (timeout !== undefined) return { total: timeout, silent: timeout };
  if (baselineMs === undefined) return { total: 60_000, silent: 60_000 };
  const total = Math.max(30_000, 5 * baselineMs) + min;
  const silent = Math.max(longestWait, min) + baselineMs;
  if (fault === undefined) return { total, silent: min === 0 ? total : silent };
  // Each path may end in a timeout.
  return { total: Math.max(total, paths.length * silent), silent };
}

/** What a certificate names, such as `varied` or `fault.hang`; each needs a run that shows something. */
export const runKindOf = ({ profile, fault }: Pick<Run, "profile" | "fault">): string => fault ?? profile;

/** Returns the kinds of runs of which none shows anything, each with the first of them. */
export function kindsWithoutEvidence({ runs, promises }: Pick<CertifyResult, "runs" | "promises">) {
  const open = new Map(
    runs.flatMap((run) => (run.reason === undefined ? [] : [[runKindOf(run), run.reason]])),
  );
  for (const run of runs) if (run.reason === undefined) open.delete(runKindOf(run));
  const [first] = promises.runs;
  if (promises.tried === 0 && first?.reason !== undefined) open.set("broken promises", first.reason);
  return open;
}

/** Returns the verdict on a client. It passes only if every run was made, and some of each kind showed something. */
export function verdictOf({
  runs,
  promises,
  unmet,
  report,
}: Omit<CertifyResult, "verdict" | "notTried">): CertifyVerdict {
  const [baseline, ...others] = runs;
  if (baseline?.outcome === "flaky") return "flaky";
  if (baseline?.outcome !== "passed" || baseline.requests === 0) return "unusable";
  if (whyTooLittle(report) !== undefined) return "unusable";
  const outcomes = others.map(({ outcome }) => outcome);
  if (outcomes.includes("failed") || outcomes.includes("timed_out") || unmet.length > 0) return "failed";
  if (outcomes.includes("flaky")) return "flaky";
  const isWhole = [...others, ...promises.runs].every(({ outcome }) => outcome !== "not_run");
  return isWhole && kindsWithoutEvidence({ runs, promises }).size === 0 ? "passed" : "unusable";
}

interface FaultFinding {
  readonly path?: PathId | undefined;
  /** Whether a request of the path must not simply be repeated. */
  readonly isOnce?: boolean;
  /** Whether it fails only if a status comes with a gateway's page. */
  readonly isPage?: boolean;
  /** How long the client had waited when its run was ended. */
  readonly waitedMs?: number;
}

/** The cause that a fault is. */
export function faultCause(
  fault: FaultPathId,
  { path, isOnce = false, isPage = false, waitedMs }: FaultFinding = {},
): RunCause {
  const { happens } = effectAt(fault);
  const where = path === undefined ? "" : ` that would end on ${path}`;
  const ends = waitedMs === undefined ? "fails" : `still waiting after ${Math.round(waitedMs / 1000)} s,`;
  const sentence = `${ends} when the first request${where} ${happens}${isPage ? " with an HTML page" : ""}`;
  const longer = `If your client has a longer timeout, raise --timeout, for example to --timeout 60s.`;
  const status = fault === "fault.status" || path === undefined ? 503 : outcomeOf(path).status;
  const usual = whatToDoAfter(fault, { isRepeatable: !isOnce, status });
  const page = "Read the status before the body: the error page of a gateway is HTML.";
  const whatToDo = [usual, ...(isPage ? [page] : []), ...(waitedMs === undefined ? [] : [longer])];
  return { sentence, whatToDo, points: [], fault, ...(path !== undefined && { pathId: path }) };
}

/** What `typical` has besides `minimal`. */
export const typicalAssumptions = (Object.keys(assumptionTable) as (keyof Assumptions)[]).filter(
  (name) => assumptionTable[name].typical !== undefined,
);

/** Returns the cause of a baseline that fails, but passes with `typical`: what it needs of this profile. */
export function needsCause(needs: readonly (keyof Assumptions)[]): RunCause {
  const names = needs.length > 0 ? needs : typicalAssumptions;
  const which = listed(
    names.map((name) => `\`${name}\``),
    needs.length > 0 ? "and" : "or",
  );
  const sentence = `fails with minimal and passes with typical, because it needs ${which}`;
  return { sentence, whatToDo: names.flatMap((name) => remedyOf(name) ?? []), points: [] };
}

/** Returns a run with the cause that its fault is, if there was no time to find the path. */
export function causedRun(run: Run): Run {
  const isBroken = run.outcome === "failed" || run.outcome === "timed_out";
  return isBroken && run.fault !== undefined ? { cause: faultCause(run.fault), ...run } : run;
}

const rows: Readonly<Record<string, { remedy: string; variants: Readonly<Record<string, string>> }>> = words;
const wordsOf = (row: string, variant: string) => rows[row]?.variants[variant];

/** What a client can do that breaks at a row of varied responses, or at the assumption of this name. */
const remedyOf = (row: string) => rows[row]?.remedy;

const tooLong =
  "Limit how long your client waits: a `Retry-After` may be hours. If it may wait that long, raise --timeout.";

/** Returns the cause of a failure by varied points, or by the seed itself if there are no points. */
export function variationCause(points: readonly CausePoint[], run: PlannedRun, path?: PathId): RunCause {
  const at = path === undefined ? {} : { pathId: path };
  if (points.length === 0) {
    const sentence = `fails with seed ${run.seed} even when nothing is varied`;
    const whatToDo =
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.";
    return { sentence, whatToDo: [whatToDo], points, ...at };
  }
  const statuses = [...new Set(points.map(({ status }) => status))];
  const parts = statuses.map((status) => {
    const words = points.flatMap((one) =>
      one.status === status ? (wordsOf(one.row, one.variant) ?? []) : [],
    );
    return `a ${status} ${listed(words, "and")}`;
  });
  const late = run.isLate ? [tooLong] : [];
  const whatToDo = [...new Set(points.flatMap(({ row }) => remedyOf(row) ?? [])), ...late];
  const start = run.isLate ? "does not end in time" : "fails";
  return { sentence: `${start} when ${parts.join(" and ")}`, whatToDo, points, ...at };
}

const isSame = (one: CausePoint) => (other: CausePoint) =>
  one.row === other.row && one.variant === other.variant && one.status === other.status;

export function includesAll(all: readonly CausePoint[], some: readonly CausePoint[]): boolean {
  return some.every((one) => all.some(isSame(one)));
}

/** Returns the points where responses differ from `minimal`, in an order that does not depend on the order of the requests. */
export function pointsIn(seen: readonly CausePoint[]): CausePoint[] {
  const found = new Map(seen.map((one) => [`${one.row} ${one.status} ${one.variant}`, one]));
  return [...found.keys()]
    .sort()
    .map((id) => found.get(id) as CausePoint)
    .filter(({ row, variant }) => wordsOf(row, variant) !== undefined);
}

/** Returns the conditions where only these points vary, where the seed has them. */
export function whereTheyWere(points: readonly CausePoint[]): RunConditions {
  return { points };
}

/** Returns the conditions where only these points vary, on every response that they fit. */
export function everywhere(points: readonly CausePoint[]): RunConditions {
  return { points, isEverywhere: true };
}
