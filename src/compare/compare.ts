import { outcomeOf, type PromisedOutcomeId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { learnAssumptions } from "./assumptions.js";
import { type Attempt, type CompletedAttempt, completedWith } from "./attempt.js";
import { compareRejections } from "./causes-of-401.js";
import { judgeAttempt, undocumentedIn } from "./judge.js";
import {
  type ContractDifference,
  contractOutcomes,
  isLimit,
  keysInVariables,
  unusedVariables,
  type Variables,
} from "./keys-of-outcomes.js";
import { tryLimits, waitForMinute } from "./limits.js";
import { type Comparison, comparedOutcome } from "./result.js";
import { valuesBesides } from "./seen.js";
import { type CompareOptions, type NotTheApi, type Send, Session } from "./session.js";
import { compareSuccesses } from "./successes.js";

/** Requests without a key come first: a host gets a key only if its responses could be the API's. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  const session = new Session(send, options);
  const { attempts, untried } = session;
  const rows = contractOutcomes.filter((row) => !isLimit(row));
  for (const { outcome } of rows.filter(({ variables }) => variables.length === 0))
    await session.attempt({ outcome });
  session.requireApi();
  for (const row of rows.filter(({ variables }) => variables.length > 0))
    await waitForMinute(session, await session.tryOutcome(row));
  // The second response to the same key shows whether requests are counted.
  const [working] = completedWith(attempts, 200);
  if (working !== undefined) await session.again(working);
  const rejections = await compareRejections(session);
  const limits = await tryLimits(session);
  if (session.ended?.kind === "not_compared") return notCompared(session, session.ended);
  const differences = distinct([
    ...attempts.flatMap(judgeAttempt),
    ...limits,
    ...rejections.differences,
    ...compareSuccesses(attempts),
  ]);
  const { requests, maxRequests, ended } = session;
  const counted = countedAttempts(attempts);
  const learned = learnAssumptions(counted);
  const { uncompared, unjudged } = rejections;
  const findings = { attempts, differences, untried, uncompared, unjudged };
  const outcomes = contractOutcomes.map(({ outcome }) => comparedOutcome(outcome, findings));
  return {
    url: options.url,
    requests,
    maxRequests,
    whyNotCompared: undefined,
    endedBy: ended?.kind === "response" ? ended.by : undefined,
    notes: [
      ...(ended?.kind === "response" ? [ended.note] : []),
      ...notesOnNames(attempts),
      ...rejections.notes,
      ...learned.notes,
      ...notesOnVariables(attempts, options.env),
    ],
    verdict: verdictOn(session, outcomes),
    outcomes,
    uncompared: [...uncompared.keys()],
    unjudged,
    assumptions: learned.assumptions,
    unseen: learned.unseen,
    seen: valuesBesides(counted),
    differences,
  };
}

/** The first responses are not the API's: nothing that they do differs from the contract. */
function notCompared({ options, requests, maxRequests, untried }: Session, { why, message }: NotTheApi) {
  const { assumptions, unseen } = learnAssumptions([]);
  const reasons = new Map(contractOutcomes.map(({ outcome }) => [outcome, untried.get(outcome) ?? why]));
  const nothing = {
    attempts: [],
    differences: [],
    untried: reasons,
    uncompared: new Map<PromisedOutcomeId, string>(),
    unjudged: [],
  };
  return {
    url: options.url,
    requests,
    maxRequests,
    whyNotCompared: message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: contractOutcomes.map(({ outcome }) => comparedOutcome(outcome, nothing)),
    uncompared: [],
    unjudged: [],
    assumptions,
    unseen,
    seen: {},
    differences: [],
  } satisfies Comparison;
}

function verdictOn({ ended }: Session, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  const results = outcomes.map(({ result }) => result);
  if (results.includes("differs")) return "differs";
  if (ended !== undefined) return "stopped";
  return results.includes("agrees_in_part") ? "agrees_in_part" : "agrees";
}

/** Without those that an earlier request for the same outcome has, too. */
function distinct(differences: readonly ContractDifference[]): ContractDifference[] {
  const names = differences.map(({ request: _, requestId: __, ...one }) => JSON.stringify(one));
  return differences.filter((_, index) => names.indexOf(names[index] as string) === index);
}

/** Only a response with its outcome's status shows how the service does that. */
function countedAttempts(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts
    .filter((attempt): attempt is CompletedAttempt => attempt.response !== undefined)
    .filter(({ outcome, response }) => response.status === outcomeOf(outcome).status)
    .filter(({ uncounted }) => uncounted === undefined);
}

/** Notes on the names in responses that the contract does not have. */
function notesOnNames(attempts: readonly Attempt[]): string[] {
  const own = attempts.filter(({ uncounted }) => uncounted?.kind !== "outage");
  const names = own.flatMap(({ response }) => (response === undefined ? [] : undocumentedIn(response)));
  return [...new Set(names)].map((name) => `${name} is not in the contract.`);
}

function notesOnVariables(attempts: readonly Attempt[], env: Variables): string[] {
  const noKey =
    "No key is set. Set SVC_API_KEY to a working key, and SVC_KEY_<REF> for the other outcomes: each shows its variable. The unknown keys have the form of a sandbox's keys.";
  const { outcome } = attempts.find(({ variable }) => variable === "SVC_KEY_LEGACY") ?? {};
  const untried = `SVC_KEY_LEGACY_LIVE was not tried: ${outcome} was compared with SVC_KEY_LEGACY.`;
  return [
    ...(keysInVariables(env).length === 0 ? [noKey] : []),
    ...(outcome !== undefined && env.SVC_KEY_LEGACY_LIVE ? [untried] : []),
    ...notesOnSharedKeys(attempts),
    ...unusedVariables(env).map((name) => `${name} is not used: no outcome has this name.`),
  ];
}

/** Two outcomes cannot be of one key. */
function notesOnSharedKeys(attempts: readonly Attempt[]): string[] {
  const keys = new Set(attempts.flatMap(({ variable, apiKey }) => (variable === undefined ? [] : [apiKey])));
  return [...keys].flatMap((key) => {
    const withKey = attempts.filter(({ apiKey }) => apiKey === key);
    const variables = [...new Set(withKey.flatMap(({ variable }) => variable ?? []))];
    return variables.length < 2 ? [] : [`${listed(variables, "and")} have the same key.`];
  });
}
