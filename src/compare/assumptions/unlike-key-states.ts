import { challengeHeaders } from "../../api/respond.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { defaultScopes, listedKeys, readLimits } from "../../scenario/keys.js";
import { isMapping } from "../../schema/type-tag.js";
import type { PromisedOutcomeId } from "../contract/findings.js";
import { describeValue } from "../response/describe.js";
import { headerOf, memberIn, numberText, perDayPath, perMinutePath } from "../response/parts.js";
import { quoted, type RedactedResponse, shownText } from "../response/response.js";
import { type Attempt, type CompletedAttempt, reachedItsOutcome } from "../sending/attempt.js";
import { listOutcomes, stableChallenges } from "./assumptions.js";

/**
 * What a service does in another way than the scenario `key-states`, although no assumption sets it: the values by their
 * names, such as `per_minute`, each with the outcomes that have it.
 */
export type ValuesUnlikeKeyStates = Readonly<
  Record<string, readonly { readonly value: string; readonly from: readonly string[] }[]>
>;

const valueNames = ["per_minute", "per_day", "scopes", "challenge", "details"] as const;

/** The values of a 200 or a 401 in words, without those that it does not have. */
type ResponseValues = Readonly<Partial<Record<(typeof valueNames)[number], string | undefined>>>;

/** Returns what the 200s and 401s show, and those of `key-states` do not. */
export function valuesUnlikeKeyStates(allAttempts: readonly Attempt[]): ValuesUnlikeKeyStates {
  const attempts = allAttempts.filter(reachedItsOutcome);
  const challenges = stableChallenges(attempts);
  const read = attempts.filter(({ response }) => response.status === 200 || response.status === 401);
  const valuesByName: Record<string, ValuesUnlikeKeyStates[string]> = {};
  for (const name of valueNames) {
    const attemptsByValue = new Map<string, CompletedAttempt[]>();
    for (const attempt of read) {
      const value = readValues(attempt.response, challenges.get(attempt) ?? "")[name];
      if (value === undefined || value === valuesInKeyStates(attempt)[name]) continue;
      attemptsByValue.set(value, [...(attemptsByValue.get(value) ?? []), attempt]);
    }
    if (attemptsByValue.size === 0) continue;
    valuesByName[name] = [...attemptsByValue].map(([value, some]) => ({
      value,
      from: listOutcomes(some, read),
    }));
  }
  return valuesByName;
}

/** The refs of the keys in `key-states` that show the outcomes; `active` shows the other 200s. */
const refsInKeyStates: Partial<Readonly<Record<PromisedOutcomeId, string>>> = {
  "200.live": "live",
  "200.legacy": "legacy",
  "200.retiring": "retiring",
  "200.replacement": "replacement",
};

const [_challengeName, challengeOfSandbox = ""] = challengeHeaders;

/** Returns the values that `key-states` has for the outcome of an attempt. */
function valuesInKeyStates({ outcome, response }: CompletedAttempt): ResponseValues {
  if (response.status === 401) return { challenge: quoted(challengeOfSandbox) };
  const ref = refsInKeyStates[outcome] ?? "active";
  const keys = [...listedKeys(bundledScenarios["key-states"])];
  const key = keys.find((written) => written.ref === ref);
  const { scopes = defaultScopes, limits } = key?.fields ?? {};
  const { perMinute, perDay } = readLimits(limits);
  return { per_minute: String(perMinute), per_day: String(perDay), scopes: describeScopes(scopes) };
}

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
