import { pluralize } from "../report/plain-text.js";
import type { Report } from "../report/report-shape.js";
import type { Profile } from "../rules/assumptions.js";
import { keyVariable } from "../rules/keys/key-text.js";
import { outcomeRow } from "../rules/outcomes.js";
import { fixHiddenDependency, type Reason, shownOr } from "./checks/judgment.js";
import { exitWords, plainRunRequest } from "./client-runs/client-run.js";
import type { Runs } from "./client-runs/runs.js";

/** Why the plain run shows too little for any check. A plain run that failed is made again first, to tell why. */
export async function findDoubtOfPlainRun(runs: Runs): Promise<Reason | undefined> {
  const { result, report } = runs.plain;
  if (result === "passed") return findDoubtOfCoverage(report);
  if (result === "timed_out") return whyEndless(report);

  const why = `the command fails in the plain run with ${exitWords(runs.plain)}`;
  // Without all of these runs, nobody knows whether the command always fails.
  return shownOr(whyPlainFails(why, runs), ({ whatToDo }) => ({ why, whatToDo }));
}

/** How many resends after one rejection show a client that never ends. */
const manyResends = 100;

/** Why a plain run that did not end shows nothing. A client that resends without an end is named. */
function whyEndless({ resends }: Report): Reason {
  const why = "the command does not end in time in the plain run";
  const whatToDo =
    "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.";
  const [mostOften] = resends.toSorted((left, right) => right.count - left.count);
  if (mostOften === undefined || mostOften.count <= manyResends) return { why, whatToDo };

  const key = mostOften.key ?? mostOften.fingerprint;
  const { status } = outcomeRow(mostOften.outcome);
  return { why: `${why}. It still resends \`${key}\` after ${status} (${mostOften.count} times)`, whatToDo };
}

/** So many pairs in a row, in which `minimal` fails and `typical` passes, show that the plain run fails because of its profile. */
const surePairs = 4;

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  const passesWith = async (profile: Profile) => {
    const { result } = await runs.makeAnother({ ...plainRunRequest, conditions: { profile } });
    return result === "passed";
  };
  for (let pair = 1; pair <= surePairs; pair++) {
    if (await passesWith("minimal")) {
      return { why: `${why}, and passes when it runs again`, whatToDo: fixHiddenDependency };
    }
    if (await passesWith("typical")) continue;

    // In the pairs before this one, if any, `typical` passed.
    if (pair > 1) {
      return {
        why: `${why}, and passes and fails with \`--profile typical\``,
        whatToDo: fixHiddenDependency,
      };
    }
    return {
      why,
      whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
    };
  }
  return {
    why: `${why}, and passes with \`--profile typical\``,
    whatToDo:
      "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
  };
}

/** How many promised outcomes and announced endpoints a client must cover: fewer show too little. */
export const minOutcomes = 5;

/** The advice on requests that reach no endpoint, or no key: a client that sends them covers little. */
const misdirectionAdvice = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

function findDoubtOfCoverage(report: Report): Reason | undefined {
  const missing = minOutcomes - report.coverage.covered - report.announced.covered;
  if (missing <= 0) return undefined;
  const { coverage, announced, outcomes, advice, requests } = report;
  let whatToDo = howToCoverMore(outcomes, missing);
  const misdirection = advice.find(({ id }) => misdirectionAdvice.includes(id));
  if (misdirection !== undefined) whatToDo = `${misdirection.meaning} ${misdirection.whatToDo} ${whatToDo}`;
  if (requests === 0) return { why: "the command sent no request", whatToDo };

  // Each announced endpoint needs a key, and each promised outcome but one.
  const isKeyNeeded = outcomes.some((row) => row.promised && row.covered && row.outcome !== "401.missing");
  const sendsKey = isKeyNeeded || announced.covered > 0;
  // A client that sends its key to a wrong place is told that place: it has advice on it.
  if (!sendsKey && misdirection === undefined) {
    return { why: "the client sends no key in x-api-key", whatToDo };
  }
  let covers = `${coverage.covered} of ${coverage.promised} promised outcomes`;
  if (announced.covered > 0) covers += ` and ${pluralize(announced.covered, "announced endpoint")}`;
  return { why: `the client covers ${covers}, and certify needs ${minOutcomes}`, whatToDo };
}

function howToCoverMore(outcomes: Report["outcomes"], missing: number): string {
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
  return covered || !howToCover || howToCover.ref === "none" ? undefined : howToCover;
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
