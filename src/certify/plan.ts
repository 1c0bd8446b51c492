import type { Report } from "../report/report-shape.js";
import { variableOf } from "../rules/api-key.js";
import { effectAt, type FaultPathId } from "../rules/fault-effects.js";
import { isFault, isSuccess, type PathId } from "../rules/outcomes.js";
import type { RunConditions } from "../sandbox/conditions.js";
import type { Reason, SentKey, Timeouts } from "./run.js";

/** What a certification is asked for. */
export interface CertifyPlan {
  /** Of the plain run, and of all others but the varied ones. */
  readonly seed: number;
  /** The first of the eight seeds. */
  readonly firstSeed: number;
  /** Whether it tries every fault. Default: the four that break most clients. */
  readonly hasAllFaults?: boolean;
  /** The names of the only runs, besides the plain one. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** The paths whose wrong answer the client survives on purpose. */
  readonly allow: readonly string[];
  /** The key of resends, if the client sends it. */
  readonly defaultKey: string | undefined;
  /** Milliseconds for each run. Default: see {@link timeoutsFor}. */
  readonly timeout?: number | undefined;
}

/** The minimum of promised paths and announced endpoints that a client must cover: fewer show too little. */
export const minPaths = 5;

/** Eight seeds in a row show every variant of each row. */
export const seedCount = 8;

export const usualFaults: readonly FaultPathId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** A fault of a run: a status comes with a gateway's page. */
export function faultsOf(fault: FaultPathId): NonNullable<RunConditions["faults"]> {
  const { example } = effectAt(fault);
  const then = fault === "fault.status" ? { ...example, body: "html" as const } : example;
  return [{ then }];
}

export const groupNames = ["plain", "varied", "answers", "resends", "faults"] as const;

/** Whether a run of this name is asked for: by its name, the start of it, or its group. */
export function isWanted({ only }: Pick<CertifyPlan, "only">, name: string): boolean {
  const group =
    { answer: "answers", resend: "resends", fault: "faults" }[name.split(".")[0] ?? ""] ?? "varied";
  return (
    only === undefined || only.some((one) => one === group || name === one || name.startsWith(`${one}.`))
  );
}

/** The seeds of the varied runs. */
export function seedsOf({ only, firstSeed }: Pick<CertifyPlan, "only" | "firstSeed">): number[] {
  const eight = Array.from({ length: seedCount }, (_, at) => firstSeed + at);
  if (only === undefined || only.includes("varied")) return eight;
  return only.flatMap((name) => seedIn(name) ?? []);
}

/** The seed of a varied run by its name, such as `varied.3`. */
export function seedIn(name: string): number | undefined {
  const [, seed] = /^varied\.(\d{1,15})$/.exec(name) ?? [];
  return seed === undefined ? undefined : Number(seed);
}

/** The key that takes part in resends: the default key, or the first that works, and neither if its rejection is survived on purpose. */
export function resendKeyOf(
  sent: readonly SentKey[],
  { defaultKey, allow }: Pick<CertifyPlan, "defaultKey" | "allow">,
): SentKey | undefined {
  const working = sent.filter(({ isUnknown, paths }) => !isUnknown && paths.some(isSuccess));
  const always = working.filter(({ paths }) => paths.every((path) => isSuccess(path) || isFault(path)));
  const judgeable = always.filter(({ paths }) => !paths.some((path) => allow.includes(path)));
  return judgeable.find(({ key }) => key === defaultKey) ?? judgeable[0] ?? always[0] ?? working[0];
}

/** A path for a second run of a fault: another one, of a key that works if there is one. */
export function otherPath(paths: readonly PathId[], first: PathId | undefined): PathId | undefined {
  const others = paths.filter((path) => path !== first);
  return others.find(isSuccess) ?? others[0] ?? first;
}

/** How long a client may wait for a response: longer than the usual timeouts. */
export const longestWait = 30_000;

/** Returns how long a run may take. `wait`: how long the client may wait before its next request. */
export function timeoutsFor(timeout: number | undefined, plainMs: number | undefined, wait = 0): Timeouts {
  if (timeout !== undefined) return { total: timeout, silent: timeout };
  if (plainMs === undefined) return { total: 60_000, silent: 60_000 };
  const total = Math.max(longestWait, 5 * plainMs) + wait;
  return { total, silent: wait === 0 ? total : Math.max(longestWait, wait) + plainMs };
}

const misdirections = ["key-in-query", "key-in-authorization", "wrong-method-or-path"];

/** Returns why a plain run that passed covers too little; `undefined` if it covers enough. */
export function whyTooLittle({ coverage, announced, paths, advice, requests }: Report): Reason | undefined {
  const missing = minPaths - coverage.covered - announced.covered;
  if (missing <= 0) return undefined;
  const wrong = advice.find(({ id }) => misdirections.includes(id));
  const sendsKey = wrong || paths.some((row) => row.promised && row.covered && row.pathId !== "401.missing");
  const few = `the client covers ${coverage.covered} of ${coverage.promised} promised paths, and certify needs ${minPaths}`;
  const why =
    requests === 0 ? "the command sent no request" : sendsKey ? few : "the client sends no key in x-api-key";
  const fix = wrong ? `${wrong.meaning} ${wrong.whatToDo} ` : "";
  const keys = paths.flatMap(({ promised, covered, pathId, howToCover }) => {
    const { ref = "none", scopes } = howToCover ?? {};
    return promised && !covered && ref !== "none" && scopes === undefined
      ? [`${variableOf(ref)} (${pathId})`]
      : [];
  });
  return {
    why,
    whatToDo: `${fix}Send ${missing} or more of these keys, and check each response: ${keys.join(", ")}`,
  };
}
