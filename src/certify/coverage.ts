import { pluralize } from "../report/plain-text.js";
import type { Report } from "../report/report-shape.js";
import { keyVariable } from "../rules/key-text.js";
import { asksFor, asksForOutcome, readPattern } from "./checks/check.js";
import { type JudgedCheck, notJudged, type Reason, type RunEvidence, sufficient } from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";

/** How many promised outcomes and announced endpoints a client must cover: fewer show too little. */
export const minOutcomes = 5;

/** The advice on requests that reach no endpoint, or no key: a client that sends them covers little. */
const misdirectionAdvice = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

/** Whether a plain run that passed covers enough. */
export function coverageEvidence(report: Report): RunEvidence {
  const { coverage, announced } = report;
  const missing = minOutcomes - coverage.covered - announced.covered;
  if (missing <= 0) return sufficient;

  const promised = report.outcomes.filter((row) => row.promised);
  const misdirection = report.advice.find(({ id }) => misdirectionAdvice.includes(id));
  const sendsKey =
    misdirection !== undefined ||
    promised.some(({ covered, outcome }) => covered && outcome !== "401.missing");
  let covers = `${coverage.covered} of ${coverage.promised} promised outcomes`;
  if (announced.covered > 0) covers += ` and ${pluralize(announced.covered, "announced endpoint")}`;
  let why = `the client covers ${covers}, and certify needs ${minOutcomes}`;
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
  return sufficient;
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
