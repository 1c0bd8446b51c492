import { challengeHeaders } from "../../api/respond.js";
import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { defaultScopes, readLimits } from "../../scenario/keys/key-settings.js";
import { listedKeys } from "../../scenario/keys/scenario-keys.js";
import { isMapping } from "../../schema/type-tag.js";
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
export type ValuesUnlikeKeyStates = Readonly<Record<string, readonly SeenValue[]>>;

interface SeenValue {
  readonly value: string;
  readonly from: readonly string[];
}

/** What the readers read of a response, or of the one that `key-states` has in its place. */
interface ReadResponse {
  readonly response: Pick<RedactedResponse, "headers" | "json" | "numbers">;
  /** The challenge of the response without the words that vary. */
  readonly challenge: string;
}

/** How each value is read from a 200 or a 401; `undefined` if the response does not have it. */
const readers: Readonly<Record<string, (read: ReadResponse) => string | undefined>> = {
  per_minute: ({ response }) => readKeyLimit(response, perMinutePath),
  per_day: ({ response }) => readKeyLimit(response, perDayPath),
  scopes: readScopeList,
  challenge: readChallengeText,
  details: readDetailNames,
};

/** The refs of the keys in `key-states` that show the outcomes; `active` shows all others. */
const refsInKeyStates: Partial<Readonly<Record<PromisedOutcomeId, string>>> = {
  "200.live": "live",
  "200.legacy": "legacy",
  "200.retiring": "retiring",
  "200.replacement": "replacement",
};

/** A response of the service, and the one that `key-states` has for its outcome. */
interface ComparedResponse {
  readonly attempt: CompletedAttempt;
  readonly ofService: ReadResponse;
  readonly ofKeyStates: ReadResponse;
}

/** Returns what the 200s and 401s show, and those of `key-states` do not. */
export function valuesUnlikeKeyStates(attempts: readonly CompletedAttempt[]): ValuesUnlikeKeyStates {
  const challenges = stableChallenges(attempts);
  const compared: ComparedResponse[] = [];
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (response.status !== 200 && response.status !== 401) continue;
    const ofService = { response, challenge: challenges.get(attempt) ?? "" };
    compared.push({ attempt, ofService, ofKeyStates: responseOfKeyStates(outcome) });
  }

  const valuesByName: Record<string, readonly SeenValue[]> = {};
  for (const [name, read] of Object.entries(readers)) {
    const values = readUnlike(compared, read);
    if (values.length > 0) valuesByName[name] = values;
  }
  return valuesByName;
}

/** Reads one value in each response, and returns those that `key-states` does not have. */
function readUnlike(
  compared: readonly ComparedResponse[],
  read: (response: ReadResponse) => string | undefined,
): SeenValue[] {
  const attemptsByValue = new Map<string, CompletedAttempt[]>();
  for (const { attempt, ofService, ofKeyStates } of compared) {
    const value = read(ofService);
    if (value === undefined || value === read(ofKeyStates)) continue;
    const ofValue = attemptsByValue.get(value) ?? [];
    ofValue.push(attempt);
    attemptsByValue.set(value, ofValue);
  }

  const allAttempts = compared.map(({ attempt }) => attempt);
  const values: SeenValue[] = [];
  for (const [value, ofValue] of attemptsByValue) {
    values.push({ value, from: listOutcomes(ofValue, allAttempts) });
  }
  return values;
}

/** Returns what the readers would read of the responses of `key-states`: the settings of its key, and the challenge of a 401. */
function responseOfKeyStates(outcome: PromisedOutcomeId): ReadResponse {
  const ref = refsInKeyStates[outcome] ?? "active";
  const keys = [...listedKeys(bundledScenarios["key-states"])];
  const key = keys.find((written) => written.ref === ref);
  const { scopes = defaultScopes, limits } = key?.fields ?? {};
  const { perMinute, perDay } = readLimits(limits);
  const json = { data: { scopes, limits: { per_minute: perMinute, per_day: perDay } } };

  const [name = "", challenge = ""] = challengeHeaders;
  return { response: { headers: [[name, challenge]], json, numbers: new Map() }, challenge };
}

function readKeyLimit(response: ReadResponse["response"], path: readonly string[]): string | undefined {
  const limit = memberIn(response, path);
  return typeof limit === "number" ? numberText(response, path, limit) : undefined;
}

function readScopeList({ response }: ReadResponse): string | undefined {
  const scopes = memberIn(response, ["data", "scopes"]);
  if (!Array.isArray(scopes)) return undefined;
  const texts = scopes.map((scope) => (typeof scope === "string" ? scope : describeValue(scope)));
  return shownText(texts.sort().join(", "));
}

function readChallengeText({ response, challenge }: ReadResponse): string | undefined {
  if (headerOf(response, "www-authenticate") === undefined) return undefined;
  return quoted(challenge);
}

/** The names of the details without their values, which may be other ones each time. */
function readDetailNames({ response }: ReadResponse): string | undefined {
  const details = memberIn(response, ["error", "details"]);
  if (details === undefined) return undefined;
  return isMapping(details) ? shownText(Object.keys(details).join(", ")) : describeValue(details);
}
