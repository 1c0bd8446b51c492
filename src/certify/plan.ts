import type { Report } from "../report/report-shape.js";
import { keyVariable } from "../rules/api-key.js";
import { outcomeRow } from "../rules/outcomes.js";
import { minute } from "../rules/time.js";
import type { ClientRun, Timeouts } from "./client-run.js";
import type { Check, Reason } from "./judgment.js";

/** What a call of certify asks for: its flags, read. */
export interface CertifyPlan {
  /** The seed of the plain run, and of all others but the varied ones. */
  readonly seed: number;
  /** The first of the eight seeds of varied runs. */
  readonly firstSeed: number;
  /** Whether it tries every fault. Default: the four that break most clients. */
  readonly hasAllFaults?: boolean;
  /** The names of the only runs, besides the plain one. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** The outcomes whose wrong answer the client survives on purpose, and the faults that it does not survive on purpose. */
  readonly allow: readonly string[];
  /** The assumptions that the given scenario sets: no run varies them. */
  readonly ownAssumptions?: readonly string[];
  /** The key whose requests are rejected to find resends, if the client sends it and it fits. */
  readonly defaultKey: string | undefined;
  /** The flags of the call that each command needs which shows a problem again, such as `--now`. */
  readonly flags: readonly string[];
  /** The other such flags, which only `certify` has, such as `--timeout`. */
  readonly certifyFlags: readonly string[];
  /** Milliseconds for each run. Default: see {@link timeoutsFor}. */
  readonly timeout?: number | undefined;
}

/** How many promised outcomes and announced endpoints a client must cover: fewer show too little. */
export const minOutcomes = 5;

/** Eight seeds in a row show every variant of each row. */
export const seedCount = 8;

/** The groups of runs, as `--only` names them. */
export const groupNames = ["plain", "varied", "answer", "resend", "fault"] as const;

/** The varied run whose responses differ from each other. */
export const mixedName = "varied.mixed";

/** How long a client may wait for a response, in milliseconds: longer than the usual timeouts. */
export const longestWait = 30_000;

/** The advice on requests that reach no endpoint, or no key: a client that sends them covers little. */
const misdirectionAdvice = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

/** Whether `--only` asks for a run or a check of this name: by its name or the start of it. */
export function isWanted({ only }: Pick<CertifyPlan, "only">, name: string): boolean {
  if (only === undefined) return true;
  return only.some((start) => name === start || name.startsWith(`${start}.`));
}

/** The seeds of the varied runs. */
export function variedSeeds({ only, firstSeed }: Pick<CertifyPlan, "only" | "firstSeed">): number[] {
  if (only === undefined || only.includes("varied"))
    return Array.from({ length: seedCount }, (_, index) => firstSeed + index);
  return only.map(seedOfVariedRun).filter((seed) => seed !== undefined);
}

/** The words of a command of svc-sandbox that shows a problem again, with the flags that its run needs. */
export function againCommand(
  { flags, certifyFlags }: Pick<CertifyPlan, "flags" | "certifyFlags">,
  by: "exec" | "certify",
  ...words: readonly string[]
): string[] {
  const again = [by, ...words, ...flags];
  if (by === "certify") again.push(...certifyFlags);
  return again;
}

/** The words of the command that shows this run again: `exec`, if it is enough. It has no limit of time, no wrong answers and no rejections. */
export function againCommandOfRun(
  { name, result }: Pick<ClientRun, "name" | "result">,
  plan: CertifyPlan,
): string[] {
  if (result === "timed_out") return againCommand(plan, "certify", "--only", name);
  if (name === "plain") return againCommand(plan, "exec");
  const seed = seedOfVariedRun(name);
  if (seed !== undefined) return againCommand(plan, "exec", "--profile", "varied", "--seed", String(seed));
  return againCommand(plan, "certify", "--only", name);
}

/** The seed of a varied run by its name, such as `varied.3`. */
export function seedOfVariedRun(name: string): number | undefined {
  const [, seed] = /^varied\.(\d{1,15})$/.exec(name) ?? [];
  return seed === undefined ? undefined : Number(seed);
}

/** Returns how long a run may take. `timeout`: of the call. `plainMs`: how long the plain run took. `wait`: how long the client may wait before its next request. */
export function timeoutsFor(timeout: number | undefined, plainMs: number | undefined, wait = 0): Timeouts {
  if (timeout !== undefined) return { total: timeout, silent: timeout };
  // The plain run itself.
  if (plainMs === undefined) return { total: minute, silent: minute };

  const total = Math.max(longestWait, 5 * plainMs) + wait;
  if (wait === 0) return { total, silent: total };
  return { total, silent: Math.max(longestWait, wait) + plainMs };
}

/** Returns why a plain run that passed covers too little; `undefined` if it covers enough. */
export function whyCoversTooLittle(report: Report): Reason | undefined {
  const { coverage, announced } = report;
  const missing = minOutcomes - coverage.covered - announced.covered;
  if (missing <= 0) return undefined;

  const promised = report.outcomes.filter((row) => row.promised);
  const misdirection = report.advice.find(({ id }) => misdirectionAdvice.includes(id));
  const sendsKey =
    misdirection !== undefined ||
    promised.some(({ covered, outcome }) => covered && outcome !== "401.missing");
  let why = `the client covers ${coverage.covered} of ${coverage.promised} promised outcomes, and certify needs ${minOutcomes}`;
  if (report.requests === 0) why = "the command sent no request";
  else if (!sendsKey) why = "the client sends no key in x-api-key";

  let whatToDo = `Send ${missing} or more of these keys, and check each response: ${keysToSend(promised)}`;
  if (misdirection !== undefined) whatToDo = `${misdirection.meaning} ${misdirection.whatToDo} ${whatToDo}`;
  return { why, whatToDo };
}

/** The variables of keys that cover what the client does not: first those of its scenario, then others, each with its scenario. */
function keysToSend(outcomes: Report["outcomes"]): string {
  const ownKeys: string[] = [];
  const keysByScenario = new Map<string, string[]>();
  for (const { covered, outcome, howToCover } of outcomes) {
    if (covered || !howToCover) continue;
    const { ref, scopes, scenario } = howToCover;
    if (ref === "none" || scopes !== undefined) continue;
    const keys = scenario ? (keysByScenario.get(scenario) ?? []) : ownKeys;
    keys.push(`${keyVariable(ref)} (${outcome})`);
    if (scenario) keysByScenario.set(scenario, keys);
  }

  const groups: string[] = [];
  if (ownKeys.length > 0) groups.push(ownKeys.join(", "));
  for (const [scenario, keys] of keysByScenario)
    groups.push(`with the scenario ${scenario}: ${keys.join(", ")}`);
  return groups.join("; ");
}

/** Returns why a name of `--only` shows nothing: no check of this name is judged; `undefined` if each name shows something. */
export function whyOnlyShowsNothing(
  { only = [] }: Pick<CertifyPlan, "only">,
  checks: readonly Check[],
  report: Report,
): Reason | undefined {
  for (const name of only) {
    if (name === "plain") continue;
    const checksOfName = checks.filter((check) => isWanted({ only: [name] }, check.name));
    if (checksOfName.every(({ result }) => result.kind === "not_judged"))
      return whyNameShowsNothing(name, checksOfName[0], report);
  }
  return undefined;
}

/** `check`: the first one of this name, if there is one. */
function whyNameShowsNothing(name: string, check: Check | undefined, report: Report): Reason {
  if (check?.result.kind === "not_judged") {
    const { reason } = check.result;
    return { why: `${name}: ${reason.why}`, whatToDo: reason.whatToDo };
  }

  // There is no check of this name: the client covers none of its outcomes, which `answer.401` starts and `resend.403.CODE` has the code of.
  const [, startOfOutcome] = /^answer\.(.+)/.exec(name) ?? [];
  const rows = report.outcomes.filter(({ outcome }) => {
    if (startOfOutcome !== undefined) return outcome.startsWith(startOfOutcome);
    return name.endsWith(`.${outcomeRow(outcome).code}`);
  });
  return {
    why: `the client covers no outcome of ${name}`,
    whatToDo: `Send a key that ends there, and check its response: ${keysToSend(rows)}`,
  };
}
