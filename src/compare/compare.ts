import { outcomeRow, type PromisedOutcomeId } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { learnAssumptions } from "./assumptions.js";
import { type Attempt, type CompletedAttempt, completedWith } from "./attempt.js";
import { compareRejections } from "./causes-of-401.js";
import { judgeAttempt, undocumentedNames } from "./judge.js";
import {
  type ContractDifference,
  contractOutcomes,
  isLimit,
  keysInVariables,
  unusedVariables,
  type Variables,
} from "./keys-of-outcomes.js";
import { tryLimits, waitForMinute } from "./limits.js";
import { type Comparison, judgeOutcomes } from "./result.js";
import { valuesUnlikeKeyStates } from "./seen.js";
import { type CompareOptions, type NotTheApi, type Send, Session } from "./session.js";
import { compareSuccesses } from "./successes.js";

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // Send: the outcomes, the causes of 401 again, and last the limits, after which a key works no more.
  const session = new Session(send, options);
  await tryOutcomes(session);
  const rejections = await compareRejections(session);
  const ofLimits = await tryLimits(session);
  const { attempts, untried, requests, maxRequests, ended } = session;
  if (ended?.kind === "not_compared") return describeNotCompared(session, ended);

  // Judge each attempt alone, and some of them together.
  const differences = withoutRepetitions([
    ...attempts.flatMap(judgeAttempt),
    ...ofLimits,
    ...rejections.differences,
    ...compareSuccesses(attempts),
  ]);
  const { uncompared, unjudged } = rejections;
  const outcomes = judgeOutcomes({ attempts, differences, untried, uncompared, unjudged });

  // Read what the contract leaves open.
  const expected = attempts.filter(hasExpectedStatus);
  const learned = learnAssumptions(expected);

  const notes: string[] = [];
  if (ended?.kind === "response") notes.push(ended.note);
  notes.push(...notesOnNames(attempts), ...rejections.notes, ...learned.notes);
  notes.push(...notesOnVariables(attempts, options.env));
  return {
    url: options.url,
    requests,
    maxRequests,
    whyNotCompared: undefined,
    endedBy: ended?.kind === "response" ? ended.by : undefined,
    notes,
    verdict: chooseVerdict(session, outcomes),
    outcomes,
    uncompared: [...uncompared.keys()],
    unjudged,
    assumptions: learned.assumptions,
    unseen: learned.unseen,
    seen: valuesUnlikeKeyStates(expected),
    differences,
  };
}

/** Sends a request for each outcome that needs no limit to be reached, and a second one with a key that works. */
async function tryOutcomes(session: Session): Promise<void> {
  // Those without a key come first: a host gets a key only if its responses could be the API's.
  const rows = contractOutcomes.filter((row) => !isLimit(row));
  for (const { outcome, variables } of rows) if (variables.length === 0) await session.attempt({ outcome });
  session.requireApi();

  for (const row of rows) {
    if (row.variables.length === 0) continue;
    const attempt = await session.tryOutcome(row);
    await waitForMinute(session, attempt);
  }

  // The second response to the same key shows whether requests are counted.
  const [working] = completedWith(session.attempts, 200);
  if (working !== undefined) await session.repeat(working);
}

/** The first responses are not the API's: nothing that they do differs from the contract. */
function describeNotCompared(session: Session, ended: NotTheApi): Comparison {
  const { options, requests, maxRequests, untried } = session;
  const reasons = new Map<PromisedOutcomeId, string>();
  for (const { outcome } of contractOutcomes) reasons.set(outcome, untried.get(outcome) ?? ended.why);

  const uncompared = new Map<PromisedOutcomeId, string>();
  const findings = { attempts: [], differences: [], untried: reasons, uncompared, unjudged: [] };
  const { assumptions, unseen } = learnAssumptions([]);
  return {
    url: options.url,
    requests,
    maxRequests,
    whyNotCompared: ended.message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: judgeOutcomes(findings),
    uncompared: [],
    unjudged: [],
    assumptions,
    unseen,
    seen: {},
    differences: [],
  };
}

/** Leaves out what an earlier request for the same outcome has shown, too. */
function withoutRepetitions(differences: readonly ContractDifference[]): ContractDifference[] {
  const byContent = new Map<string, ContractDifference>();
  for (const difference of differences) {
    const { request: _, requestId: __, ...content } = difference;
    const text = JSON.stringify(content);
    if (!byContent.has(text)) byContent.set(text, difference);
  }
  return [...byContent.values()];
}

/** Only a response with its outcome's status shows how the service does that. */
function hasExpectedStatus(attempt: Attempt): attempt is CompletedAttempt {
  const { outcome, response, uncounted } = attempt;
  if (response === undefined || uncounted !== undefined) return false;
  return response.status === outcomeRow(outcome).status;
}

function chooseVerdict({ ended }: Session, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  const results = outcomes.map(({ result }) => result);
  if (results.includes("differs")) return "differs";
  if (ended !== undefined) return "stopped";
  return results.includes("agrees_in_part") ? "agrees_in_part" : "agrees";
}

/** Notes on the names in responses that the contract does not have. */
function notesOnNames(attempts: readonly Attempt[]): string[] {
  const names = new Set<string>();
  for (const { response, uncounted } of attempts) {
    if (response === undefined || uncounted?.kind === "outage") continue;
    for (const name of undocumentedNames(response)) names.add(name);
  }
  return [...names].map((name) => `${name} is not in the contract.`);
}

/** Notes on variables that are missing, were not tried, or should have had another key. */
function notesOnVariables(attempts: readonly Attempt[], env: Variables): string[] {
  const notes: string[] = [];
  if (keysInVariables(env).length === 0) {
    notes.push(
      "No key is set. Set SVC_API_KEY to a working key, and SVC_KEY_<REF> for the other outcomes: each shows its variable. The unknown keys have the form of a sandbox's keys.",
    );
  }

  const legacy = attempts.find(({ variable }) => variable === "SVC_KEY_LEGACY");
  if (legacy !== undefined && env.SVC_KEY_LEGACY_LIVE) {
    notes.push(`SVC_KEY_LEGACY_LIVE was not tried: ${legacy.outcome} was compared with SVC_KEY_LEGACY.`);
  }

  notes.push(...notesOnSharedKeys(attempts));
  for (const name of unusedVariables(env)) notes.push(`${name} is not used: no outcome has this name.`);
  return notes;
}

/** Notes on variables with the same key, which cannot end in two ways. */
function notesOnSharedKeys(attempts: readonly Attempt[]): string[] {
  const variablesByKey = new Map<string | undefined, Set<string>>();
  for (const { variable, apiKey } of attempts) {
    if (variable === undefined) continue;
    const variables = variablesByKey.get(apiKey) ?? new Set();
    variablesByKey.set(apiKey, variables.add(variable));
  }

  const notes: string[] = [];
  for (const variables of variablesByKey.values()) {
    if (variables.size > 1) notes.push(`${listed([...variables], "and")} have the same key.`);
  }
  return notes;
}
