import { challengeHeaders } from "../../api/respond.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { defaultScopes, listedKeys, readLimits } from "../../scenario/keys.js";
import { isMapping } from "../../schema/type-tag.js";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { describeValue, quoted, shownText } from "../response/describe.js";
import { headerOf } from "../response/headers.js";
import { memberIn, numberText, perDayPath, perMinutePath } from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import { stableChallenges } from "./challenges.js";
import { listOutcomes } from "./list-outcomes.js";

/**
 * What a service does in another way than the scenario `key-states`, although no assumption sets it: the values by their
 * names, such as `per_minute`, each with the outcomes that have it.
 */
export type ValuesUnlikeKeyStates = Readonly<Record<string, readonly ValueWithOutcomes[]>>;

interface ValueWithOutcomes {
  readonly value: string;
  readonly from: readonly string[];
}

const valueNames = ["per_minute", "per_day", "scopes", "challenge", "details"] as const;

/** The values of a 200 or a 401 in words, without those that it does not have. */
type ResponseValues = Readonly<Partial<Record<(typeof valueNames)[number], string | undefined>>>;

/** The values of a response, and those that `key-states` has for its outcome. */
interface ComparedValues {
  readonly attempt: CompletedAttempt;
  readonly valuesOfService: ResponseValues;
  readonly valuesInKeyStates: ResponseValues;
}

/** Returns what the 200s and 401s show, and those of `key-states` do not. */
export function valuesUnlikeKeyStates(attempts: readonly CompletedAttempt[]): ValuesUnlikeKeyStates {
  const challenges = stableChallenges(attempts);
  const compared: ComparedValues[] = [];
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (response.status !== 200 && response.status !== 401) continue;
    const valuesOfService = readValues(response, challenges.get(attempt) ?? "");
    compared.push({
      attempt,
      valuesOfService,
      valuesInKeyStates: response.status === 200 ? settingsInKeyStates(outcome) : rejectionInKeyStates,
    });
  }

  const valuesByName: Record<string, readonly ValueWithOutcomes[]> = {};
  for (const name of valueNames) {
    const values = collectUnlike(name, compared);
    if (values.length > 0) valuesByName[name] = values;
  }
  return valuesByName;
}

/** Returns the values with a name that `key-states` does not have. */
function collectUnlike(
  name: (typeof valueNames)[number],
  compared: readonly ComparedValues[],
): ValueWithOutcomes[] {
  const attemptsByValue = new Map<string, CompletedAttempt[]>();
  for (const { attempt, valuesOfService, valuesInKeyStates } of compared) {
    const value = valuesOfService[name];
    if (value === undefined || value === valuesInKeyStates[name]) continue;
    const attemptsWithValue = attemptsByValue.get(value) ?? [];
    attemptsWithValue.push(attempt);
    attemptsByValue.set(value, attemptsWithValue);
  }

  const attemptsRead = compared.map(({ attempt }) => attempt);
  const values: ValueWithOutcomes[] = [];
  for (const [value, attemptsWithValue] of attemptsByValue) {
    values.push({ value, from: listOutcomes(attemptsWithValue, attemptsRead) });
  }
  return values;
}

/** The refs of the keys in `key-states` that show the outcomes; `active` shows the other 200s. */
const refsInKeyStates: Partial<Readonly<Record<PromisedOutcomeId, string>>> = {
  "200.live": "live",
  "200.legacy": "legacy",
  "200.retiring": "retiring",
  "200.replacement": "replacement",
};

/** Returns the settings of the key in `key-states` that shows an outcome. */
function settingsInKeyStates(outcome: PromisedOutcomeId): ResponseValues {
  const ref = refsInKeyStates[outcome] ?? "active";
  const keys = [...listedKeys(bundledScenarios["key-states"])];
  const key = keys.find((written) => written.ref === ref);
  const { scopes = defaultScopes, limits } = key?.fields ?? {};
  const { perMinute, perDay } = readLimits(limits);
  return { per_minute: String(perMinute), per_day: String(perDay), scopes: describeScopes(scopes) };
}

const [_challengeName, challengeOfSandbox = ""] = challengeHeaders;

/** What the 401s of `key-states` have. */
const rejectionInKeyStates: ResponseValues = { challenge: quoted(challengeOfSandbox) };

/** Reads the values of a response; `challenge` is its challenge without the words that vary. */
function readValues(response: RedactedResponse, challenge: string): ResponseValues {
  const scopes = memberIn(response, ["data", "scopes"]);
  const hasChallenge = headerOf(response, "www-authenticate") !== undefined;
  return {
    per_minute: readKeyLimit(response, perMinutePath),
    per_day: readKeyLimit(response, perDayPath),
    scopes: Array.isArray(scopes) ? describeScopes(scopes) : undefined,
    challenge: hasChallenge ? quoted(challenge) : undefined,
    details: readDetailNames(response),
  };
}

function readKeyLimit(response: RedactedResponse, path: readonly string[]): string | undefined {
  const limit = memberIn(response, path);
  return typeof limit === "number" ? numberText(response, path, limit) : undefined;
}

function describeScopes(scopes: readonly unknown[]): string {
  const texts = scopes.map((scope) => (typeof scope === "string" ? scope : describeValue(scope)));
  return shownText(texts.sort().join(", "));
}

/** The names of the details without their values, which may be other ones each time. */
function readDetailNames(response: RedactedResponse): string | undefined {
  const details = memberIn(response, ["error", "details"]);
  if (details === undefined) return undefined;
  return isMapping(details) ? shownText(Object.keys(details).join(", ")) : describeValue(details);
}
