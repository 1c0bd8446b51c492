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
  challenge: (response) => {
    const challenge = headerOf(response, "www-authenticate");
    return challenge === undefined ? undefined : quoted(challenge);
  },
  details: (response) => detailsIn(memberIn(response, ["error", "details"])),
};

function limitIn(response: RedactedResponse, path: readonly string[]): string | undefined {
  return typeof memberIn(response, path) === "number" ? numberText(response, path) : undefined;
}

function scopesIn(scopes: unknown): string | undefined {
  return Array.isArray(scopes) ? shownText(scopes.map(String).sort().join(", ")) : undefined;
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
  const key = [...writtenKeys(bundledScenarios["key-states"])].find((one) => one.ref === ref);
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
  const pairs = attempts
    .filter(({ response }) => response.status === 200 || response.status === 401)
    .map((attempt) => ({ attempt, ofKeyStates: responseOfKeyStates(attempt) }));
  const challengeOf = staysOfChallenges(attempts);
  const rows = Object.entries(readers).map(([name, reader]): [string, SeenValue[]] => {
    const readings = pairs.map(({ attempt, ofKeyStates }) => {
      const read = reader(attempt.response);
      const value = name === "challenge" && read !== undefined ? quoted(challengeOf(attempt)) : read;
      return { attempt, value: value === reader(ofKeyStates) ? undefined : value };
    });
    const values = [...new Set(readings.flatMap(({ value }) => value ?? []))];
    const same = (value: string) => readings.filter((reading) => reading.value === value);
    return [name, values.map((value) => ({ value, from: outcomeWords(same(value), readings) }))];
  });
  return Object.fromEntries(rows.filter(([, values]) => values.length > 0));
}
