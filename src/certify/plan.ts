import type { Report } from "../report/report-shape.js";
import { variableOf } from "../rules/api-key.js";
import { outcomeOf } from "../rules/outcomes.js";
import { minute } from "../rules/time.js";
import type { ClientRun, Timeouts } from "./client-run.js";
import type { Check, Reason } from "./judgment.js";

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
  /** The outcomes whose wrong answer the client survives on purpose, and the faults that it does not survive on purpose. */
  readonly allow: readonly string[];
  /** The assumptions that the given scenario sets: no run varies whether and how these are there. */
  readonly ownAssumptions?: readonly string[];
  /** The key of resends, if the client sends it. */
  readonly defaultKey: string | undefined;
  /** The flags of the call that each run needs, and those that only `certify` has. */
  readonly flags: readonly string[];
  readonly ownFlags: readonly string[];
  /** Milliseconds for each run. Default: see {@link timeoutsFor}. */
  readonly timeout?: number | undefined;
}

/** The minimum of promised outcomes and announced endpoints that a client must cover: fewer show too little. */
export const minOutcomes = 5;

/** Eight seeds in a row show every variant of each row. */
export const seedCount = 8;

export const groupNames = ["plain", "varied", "answer", "resend", "fault"] as const;

/** Whether a run of this name is asked for: by its name or the start of it. */
export function isWanted({ only }: Pick<CertifyPlan, "only">, name: string): boolean {
  return only === undefined || only.some((one) => name === one || name.startsWith(`${one}.`));
}

/** The seeds of the varied runs. */
export function seedsOf({ only, firstSeed }: Pick<CertifyPlan, "only" | "firstSeed">): number[] {
  const eight = Array.from({ length: seedCount }, (_, at) => firstSeed + at);
  if (only === undefined || only.includes("varied")) return eight;
  return only.flatMap((name) => seedIn(name) ?? []);
}

/** The varied run whose responses differ from each other. */
export const mixedName = "varied.mixed";

/** The command that shows a problem again, with the flags that its run needs. */
export function againWith(
  { flags, ownFlags }: Pick<CertifyPlan, "flags" | "ownFlags">,
  by: "exec" | "certify",
  ...words: readonly string[]
): string[] {
  return [by, ...words, ...flags, ...(by === "certify" ? ownFlags : [])];
}

/** The command that shows a run again; `exec` has no limit of time. */
export function againOf({ name, result }: Pick<ClientRun, "name" | "result">, plan: CertifyPlan): string[] {
  const seed = seedIn(name);
  if (result === "timed_out" || (seed === undefined && name !== "plain"))
    return againWith(plan, "certify", "--only", name);
  const varied = seed === undefined ? [] : ["--profile", "varied", "--seed", String(seed)];
  return againWith(plan, "exec", ...varied);
}

/** The seed of a varied run by its name, such as `varied.3`. */
export function seedIn(name: string): number | undefined {
  const [, seed] = /^varied\.(\d{1,15})$/.exec(name) ?? [];
  return seed === undefined ? undefined : Number(seed);
}

/** How long a client may wait for a response: longer than the usual timeouts. */
export const longestWait = 30_000;

/** Returns how long a run may take. `wait`: how long the client may wait before its next request. */
export function timeoutsFor(timeout: number | undefined, plainMs: number | undefined, wait = 0): Timeouts {
  if (timeout !== undefined) return { total: timeout, silent: timeout };
  if (plainMs === undefined) return { total: minute, silent: minute };
  const total = Math.max(longestWait, 5 * plainMs) + wait;
  return { total, silent: wait === 0 ? total : Math.max(longestWait, wait) + plainMs };
}

const misdirections = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

/** Returns why a plain run that passed covers too little; `undefined` if it covers enough. */
export function whyTooLittle({
  coverage,
  announced,
  outcomes,
  advice,
  requests,
}: Report): Reason | undefined {
  const missing = minOutcomes - coverage.covered - announced.covered;
  if (missing <= 0) return undefined;
  const wrong = advice.find(({ id }) => misdirections.includes(id));
  const sendsKey =
    wrong || outcomes.some((row) => row.promised && row.covered && row.outcome !== "401.missing");
  const few = `the client covers ${coverage.covered} of ${coverage.promised} promised outcomes, and certify needs ${minOutcomes}`;
  const why =
    requests === 0 ? "the command sent no request" : sendsKey ? few : "the client sends no key in x-api-key";
  const fix = wrong ? `${wrong.meaning} ${wrong.whatToDo} ` : "";
  const keys = keysToSend(outcomes.filter(({ promised }) => promised));
  return {
    why,
    whatToDo: `${fix}Send ${missing} or more of these keys, and check each response: ${keys}`,
  };
}

/** The variables of keys that cover what the client does not; those that its scenario lacks follow with theirs. */
function keysToSend(outcomes: Report["outcomes"]): string {
  const groups = new Map([["", [] as string[]]]);
  for (const { covered, outcome, howToCover } of outcomes) {
    const { ref = "none", scopes, scenario } = howToCover ?? {};
    if (covered || ref === "none" || scopes !== undefined) continue;
    const where = scenario ? `with the scenario ${scenario}: ` : "";
    groups.set(where, [...(groups.get(where) ?? []), `${variableOf(ref)} (${outcome})`]);
  }
  return [...groups].flatMap(([where, keys]) => (keys.length > 0 ? where + keys.join(", ") : [])).join("; ");
}

/** Returns why `--only` has shown nothing, if each check that it names is not judged; `undefined` if one is. */
export function whyNothingTried(
  { only = [] }: Pick<CertifyPlan, "only">,
  checks: readonly Check[],
  { outcomes }: Report,
): Reason | undefined {
  const name = only.find((start) => {
    const ofName = checks.filter((check) => isWanted({ only: [start] }, check.name));
    return start !== "plain" && ofName.every(({ result }) => result.kind === "not_judged");
  });
  if (name === undefined) return undefined;
  const { result } = checks.find((check) => isWanted({ only: [name] }, check.name)) ?? {};
  if (result?.kind === "not_judged") return { ...result.reason, why: `${name}: ${result.reason.why}` };
  const [, ofAnswer = ""] = /^answer\.(.+)/.exec(name) ?? [];
  const rows = outcomes.filter(({ outcome }) =>
    ofAnswer === "" ? name.endsWith(`.${outcomeOf(outcome).code}`) : outcome.startsWith(ofAnswer),
  );
  return {
    why: `the client covers no outcome of ${name}`,
    whatToDo: `Send a key that ends there, and check its response: ${keysToSend(rows)}`,
  };
}
