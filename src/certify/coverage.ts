import { pluralize } from "../report/plain-text.js";
import type { Report } from "../report/report-shape.js";
import { keyVariable } from "../rules/keys/key-text.js";
import type { Reason } from "./checks/judgment.js";

/** How many promised outcomes and announced endpoints a client must cover: fewer show too little. */
export const minOutcomes = 5;

/** The advice on requests that reach no endpoint, or no key: a client that sends them covers little. */
const misdirectionAdvice = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

/** Why a plain run that passed covers too little. */
export function findDoubtOfCoverage(report: Report): Reason | undefined {
  const missing = minOutcomes - report.coverage.covered - report.announced.covered;
  if (missing <= 0) return undefined;

  const misdirection = report.advice.find(({ id }) => misdirectionAdvice.includes(id));
  let whatToDo = howToCoverMore(report, missing);
  if (misdirection !== undefined) whatToDo = `${misdirection.meaning} ${misdirection.whatToDo} ${whatToDo}`;
  if (report.requests === 0) return { why: "the command sent no request", whatToDo };
  // A client that sends its key to a wrong place is told that place: it has advice on it.
  if (sendsNoKey(report) && misdirection === undefined) {
    return { why: "the client sends no key in x-api-key", whatToDo };
  }
  const why = `the client covers ${coveredInWords(report)}, and certify needs ${minOutcomes}`;
  return { why, whatToDo };
}

/** `3 of 17 promised outcomes and 1 announced endpoint` */
function coveredInWords({ coverage, announced }: Report): string {
  let covers = `${coverage.covered} of ${coverage.promised} promised outcomes`;
  if (announced.covered > 0) covers += ` and ${pluralize(announced.covered, "announced endpoint")}`;
  return covers;
}

/** Whether the client covers nothing that needs a key: each announced endpoint does, and each promised outcome but `401.missing`. */
function sendsNoKey({ outcomes, announced }: Report): boolean {
  if (announced.covered > 0) return false;
  return !outcomes.some((row) => row.promised && row.covered && row.outcome !== "401.missing");
}

function howToCoverMore({ outcomes }: Report, missing: number): string {
  const promised = outcomes.filter((row) => row.promised);
  const keys = keysToSend(promised);
  if (keys === "") {
    return `Send requests that end on ${missing} or more other outcomes, and check each response.`;
  }
  const rowsOfKeys = promised.filter((row) => keyThatCovers(row) !== undefined);
  if (rowsOfKeys.length < missing) {
    return `Send these keys, and other requests, so that they end on ${missing} or more other outcomes, and check each response: ${keys}`;
  }
  return `Send ${missing} or more of these keys, and check each response: ${keys}`;
}

/** The key that covers an outcome which the client does not; `undefined` if it covers the outcome, or if no key does so by itself. */
function keyThatCovers({ covered, howToCover }: Report["outcomes"][number]) {
  if (covered || !howToCover) return undefined;
  if (howToCover.ref === "none") return undefined;
  return howToCover;
}

/**
 * The keys that cover what the client does not: first those of its scenario, then others, each with its scenario. As in "SVC_KEY_LIVE
 * (200.live), SVC_KEY_REVOKED (401.revoked); with the scenario rate-limits: SVC_KEY_DAILY (429.per_day)". Empty if there are none.
 */
export function keysToSend(outcomes: Report["outcomes"]): string {
  const ownScenario = "";
  const keysByScenario = new Map<string, string[]>([[ownScenario, []]]);
  for (const row of outcomes) {
    const key = keyThatCovers(row);
    if (key === undefined) continue;
    const scenario = key.scenario ?? ownScenario;
    const keys = keysByScenario.get(scenario) ?? [];
    keysByScenario.set(scenario, keys);
    keys.push(`${keyVariable(key.ref)} (${row.outcome})`);
  }

  const groups: string[] = [];
  for (const [scenario, keys] of keysByScenario) {
    if (keys.length === 0) continue;
    const words = keys.join(", ");
    groups.push(scenario === ownScenario ? words : `with the scenario ${scenario}: ${words}`);
  }
  return groups.join("; ");
}
