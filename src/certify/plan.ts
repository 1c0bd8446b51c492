import type { Report } from "../report/report-shape.js";
import { keyVariable } from "../rules/api-key.js";
import { minute } from "../rules/time.js";
import { asksFor, asksForOutcome, type Check, nameOf, readPattern, seedIn } from "./check.js";
import type { ClientRun, Timeouts } from "./client-run.js";
import { countingEvidence, type JudgedCheck, notJudged, type Reason, type RunEvidence } from "./judgment.js";

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

/** How long a client may wait for a response, in milliseconds: longer than the usual timeouts. */
export const longestWait = 30_000;

/** The advice on requests that reach no endpoint, or no key: a client that sends them covers little. */
const misdirectionAdvice = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

/** Whether `--only` asks for a check: by its name or the start of it. */
export function isWanted({ only }: Pick<CertifyPlan, "only">, check: Check): boolean {
  return only === undefined || only.some((name) => asksFor(name, check));
}

/** The seeds of the varied runs, each once. */
export function variedSeeds({ only, firstSeed }: Pick<CertifyPlan, "only" | "firstSeed">): number[] {
  const seeds = new Set<number>();
  if (only === undefined || only.includes("varied")) {
    for (let seed = firstSeed; seed < firstSeed + seedCount; seed++) seeds.add(seed);
    return [...seeds];
  }

  for (const name of only) {
    const seed = seedIn(readPattern(name));
    if (seed !== undefined) seeds.add(seed);
  }
  return [...seeds];
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
  { purpose, result }: Pick<ClientRun, "purpose" | "result">,
  plan: CertifyPlan,
): string[] {
  const isEnding = result !== "timed_out";
  if (isEnding && purpose.kind === "plain") return againCommand(plan, "exec");
  if (isEnding && purpose.kind === "varied" && purpose.seed !== "mixed") {
    return againCommand(plan, "exec", "--profile", "varied", "--seed", String(purpose.seed));
  }
  return againCommand(plan, "certify", "--only", nameOf(purpose));
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

/** Whether a plain run that passed covers enough. */
export function coverageEvidence(report: Report): RunEvidence {
  const { coverage, announced } = report;
  const missing = minOutcomes - coverage.covered - announced.covered;
  if (missing <= 0) return countingEvidence;

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
  return notJudged({ why, whatToDo });
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
  for (const [scenario, keys] of keysByScenario) {
    groups.push(`with the scenario ${scenario}: ${keys.join(", ")}`);
  }
  return groups.join("; ");
}

/** Whether each name of `--only` shows something: one of its checks is judged. */
export function onlyEvidence(
  { only = [] }: Pick<CertifyPlan, "only">,
  checks: readonly JudgedCheck[],
  report: Report,
): RunEvidence {
  for (const name of only) {
    if (name === "plain") continue;
    const ofName = checks.filter(({ check }) => asksFor(name, check));
    const [first] = ofName;
    if (first === undefined) return notJudged(coversNoOutcome(name, report));

    const areOpen = ofName.every(({ result }) => result.kind === "not_judged");
    if (!areOpen || first.result.kind !== "not_judged") continue;
    const { why, whatToDo } = first.result.reason;
    return notJudged({ why: `${name}: ${why}`, whatToDo });
  }
  return countingEvidence;
}

/** Why there is no check of this name: the client covers none of the outcomes that it begins with, such as `answer.401`. */
function coversNoOutcome(name: string, report: Report): Reason {
  const pattern = readPattern(name);
  const keys = keysToSend(report.outcomes.filter(({ outcome }) => asksForOutcome(pattern, outcome)));

  // Some outcomes need no key of the scenario, such as `401.missing`.
  let whatToDo = "Send a request that ends there, and check its response.";
  if (keys !== "") whatToDo = `Send a key that ends there, and check its response: ${keys}`;
  return { why: `the client covers no outcome of ${name}`, whatToDo };
}
