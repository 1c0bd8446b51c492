import { challengeHeaders } from "../api/respond.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { isMapping } from "../rules/schema/shape.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { writtenKeys } from "../scenario/described-keys.js";
import { readSettings } from "../scenario/format/key-settings.js";
import { type CompletedAttempt, outcomeWords } from "./attempt.js";
import { staysOfChallenges } from "./challenges.js";
import {
  describeValue,
  headerOf,
  memberIn,
  numberText,
  perDayPath,
  perMinutePath,
  quoted,
  type RedactedResponse,
  shownText,
} from "./response.js";

// What the sandbox of a written scenario does in another way, because no assumption sets it.

/** What the responses show, and those of `key-states` do not: each value with the outcomes that have it. */
export type Seen = Readonly<Record<string, readonly SeenValue[]>>;

interface SeenValue {
  readonly value: string;
  readonly from: readonly string[];
}

/** Each returns the value in a 200 or a 401; `undefined` if there is none. */
const readers: Readonly<Record<string, (response: RedactedResponse) => string | undefined>> = {
  per_minute: (response) => limitIn(response, perMinutePath),
  per_day: (response) => limitIn(response, perDayPath),
  scopes: (response) => scopesIn(memberIn(response, ["data", "scopes"])),
  challenge: challengeIn,
  details: (response) => detailsIn(memberIn(response, ["error", "details"])),
};

function limitIn(response: RedactedResponse, path: readonly string[]): string | undefined {
  return typeof memberIn(response, path) === "number" ? numberText(response, path) : undefined;
}

function scopesIn(scopes: unknown): string | undefined {
  if (!Array.isArray(scopes)) return undefined;
  const sorted = scopes.map(String).sort();
  return shownText(sorted.join(", "));
}

function challengeIn(response: RedactedResponse): string | undefined {
  const challenge = headerOf(response, "www-authenticate");
  return challenge === undefined ? undefined : quoted(challenge);
}

/** Without the values of its members, which may be other ones each time. */
function detailsIn(details: unknown): string | undefined {
  if (details === undefined) return undefined;
  return isMapping(details) ? shownText(Object.keys(details).join(", ")) : describeValue(details);
}

/** The refs of the keys of `key-states` that show the outcomes. */
const refs: Partial<Readonly<Record<PromisedOutcomeId, string>>> = {
  "200.live": "live",
  "200.legacy": "legacy",
  "200.retiring": "retiring",
  "200.replacement": "replacement",
};

/** The same response of `key-states`, as far as it is read here. */
function responseOfKeyStates({ outcome, response }: CompletedAttempt): RedactedResponse {
  const ref = refs[outcome] ?? "active";
  const keys = [...writtenKeys(bundledScenarios["key-states"])];
  const key = keys.find((written) => written.ref === ref);
  const { scopes, limits } = readSettings(key?.fields ?? {}, () => "");

  const [name = "", challenge = ""] = challengeHeaders;
  return {
    ...response,
    headers: [[name, challenge]],
    json: { data: { scopes, limits: { per_minute: limits.perMinute, per_day: limits.perDay } } },
    numbers: new Map(),
  };
}

/** Returns what differs from `key-states`, without what an assumption sets. */
export function valuesBesides(attempts: readonly CompletedAttempt[]): Seen {
  const read = attempts.filter(({ response }) => response.status === 200 || response.status === 401);
  const pairs = read.map((attempt) => ({ attempt, ofKeyStates: responseOfKeyStates(attempt) }));
  const challengeOf = staysOfChallenges(attempts);

  const seen: Record<string, readonly SeenValue[]> = {};
  for (const [name, reader] of Object.entries(readers)) {
    const readings = pairs.map(({ attempt, ofKeyStates }) => {
      let value = reader(attempt.response);
      if (name === "challenge" && value !== undefined) value = quoted(challengeOf(attempt));
      const isUsual = value === reader(ofKeyStates);
      return { attempt, value: isUsual ? undefined : value };
    });
    const values = distinctValues(readings);
    if (values.length > 0) seen[name] = values;
  }
  return seen;
}

interface ValueOfAttempt {
  readonly attempt: CompletedAttempt;
  /** `undefined` if it is the one of `key-states`, or none. */
  readonly value: string | undefined;
}

function distinctValues(readings: readonly ValueOfAttempt[]): SeenValue[] {
  const values: SeenValue[] = [];
  for (const value of new Set(readings.map((reading) => reading.value))) {
    if (value === undefined) continue;
    const same = readings.filter((reading) => reading.value === value);
    values.push({ value, from: outcomeWords(same, readings) });
  }
  return values;
}
