import { challengeHeaders } from "../api/respond.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { isMapping } from "../rules/schema/shape.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { writtenKeys } from "../scenario/described-keys.js";
import { readSettings } from "../scenario/format/key-settings.js";
import { type Observation, outcomesIn } from "./assumptions.js";
import { describeValue, headerOf, memberIn, numberText, quoted, shownText } from "./response.js";

// What the sandbox of a written scenario does in another way, because no assumption sets it.

/** What the responses show, and those of `key-states` do not: each value with the outcomes that have it. */
export type Seen = Readonly<Record<string, readonly SeenValue[]>>;

interface SeenValue {
  readonly value: string;
  readonly from: readonly string[];
}

interface SeenRow {
  readonly status: number;
  /** Returns the value in a response; `undefined` if there is none. */
  readonly read: (response: Observation["response"]) => string | undefined;
  /** The value in the same response of `key-states`. */
  readonly usual: (outcome: string) => string | undefined;
}

const [, challenge = ""] = challengeHeaders;

const rows: Readonly<Record<string, SeenRow>> = {
  per_minute: {
    status: 200,
    read: (response) => readLimit(response, "per_minute"),
    usual: (outcome) => String(settingsFor(outcome).limits.perMinute),
  },
  per_day: {
    status: 200,
    read: (response) => readLimit(response, "per_day"),
    usual: (outcome) => String(settingsFor(outcome).limits.perDay),
  },
  scopes: {
    status: 200,
    read: (response) => readScopes(memberIn(response, ["data", "scopes"])),
    usual: (outcome) => readScopes(settingsFor(outcome).scopes),
  },
  challenge: {
    status: 401,
    read: readChallenge,
    usual: () => quoted(challenge),
  },
  details: {
    status: 401,
    read: (response) => readDetails(memberIn(response, ["error", "details"])),
    usual: () => undefined,
  },
};

/** The refs of the keys of `key-states` that show the outcomes. */
const refs: Partial<Readonly<Record<PromisedOutcomeId, string>>> = {
  "200.live": "live",
  "200.legacy": "legacy",
  "200.retiring": "retiring",
  "200.replacement": "replacement",
};

function settingsFor(outcome: string) {
  const ref = refs[outcome as PromisedOutcomeId] ?? "active";
  const key = [...writtenKeys(bundledScenarios["key-states"])].find((one) => one.ref === ref);
  return readSettings(key?.fields ?? {}, () => "");
}

function readLimit(response: Observation["response"], name: string): string | undefined {
  const path = ["data", "limits", name];
  return typeof memberIn(response, path) === "number" ? numberText(response, path) : undefined;
}

function readChallenge(response: Observation["response"]): string | undefined {
  const value = headerOf(response, "www-authenticate");
  return value === undefined ? undefined : quoted(value);
}

function readScopes(scopes: unknown): string | undefined {
  return Array.isArray(scopes) ? shownText(scopes.map(String).sort().join(", ")) : undefined;
}

/** Without the values of its members, which may be other ones each time. */
function readDetails(details: unknown): string | undefined {
  if (details === undefined) return undefined;
  return isMapping(details) ? shownText(Object.keys(details).join(", ")) : describeValue(details);
}

/** Returns what differs from `key-states`, without what an assumption sets. */
export function valuesBesides(observations: readonly Observation[]): Seen {
  const seen = Object.entries(rows).map(([name, { status, read, usual }]) => {
    const readings = observations
      .filter(({ response }) => response.status === status)
      .map(({ of, response }) => ({ of, status, value: read(response), usual: usual(of) }));
    const others = readings.filter((one) => one.value !== undefined && one.value !== one.usual);
    const values = [...new Set(others.flatMap(({ value }) => value ?? []))];
    const rowsOf = values.map((value) => {
      const same = others.filter((one) => one.value === value);
      return { value, from: outcomesIn(same, readings) };
    });
    return [name, rowsOf] as const;
  });
  return Object.fromEntries(seen.filter(([, values]) => values.length > 0));
}
