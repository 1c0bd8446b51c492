import { assumptionTable } from "../../rules/assumptions.js";
import { isMapping } from "../../schema/type-tag.js";
import { contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { quoted } from "../response/describe.js";
import { memberIn } from "../response/members.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import {
  type AssumptionRow,
  assumptionRows,
  type LearnedValue,
  type ShownAssumption,
} from "./assumption-rows.js";
import { stableChallenges } from "./challenges.js";
import { readLimitHeaders } from "./limit-headers-of-keys.js";
import { listOutcomes } from "./list-outcomes.js";

interface LearnedAssumption {
  readonly value: LearnedValue;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
  /** The statuses and limits that could show another value, and no response had. */
  readonly missingResponses: readonly (number | PromisedOutcomeId)[];
}

export interface Learned {
  readonly assumptions: Readonly<Record<string, LearnedAssumption>>;
  /** What would show the assumptions that no response has shown. */
  readonly needsOfAssumptions: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** What comes of reading an assumption in all responses. */
type AssumptionResult =
  | { readonly kind: "learned"; readonly assumption: LearnedAssumption }
  /** Other responses must show it. */
  | { readonly kind: "needs_more"; readonly needs: string }
  /** The sandbox cannot do it in this way, or does it in one way only. */
  | { readonly kind: "only_noted"; readonly note: string };

/** What responses show of an assumption, and the attempts with these responses. */
interface Reading {
  readonly shown: ShownAssumption;
  readonly attempts: readonly CompletedAttempt[];
}

/** Returns the assumptions that the responses of a service show. */
export function learnAssumptions(attempts: readonly CompletedAttempt[]): Learned {
  const assumptions: Record<string, LearnedAssumption> = {};
  const needsOfAssumptions: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const result = learnAssumption(row, attempts);
    switch (result.kind) {
      case "learned":
        assumptions[name] = result.assumption;
        break;
      case "needs_more":
        needsOfAssumptions[name] = result.needs;
        break;
      case "only_noted":
        notes.push(`${name} is not learned, because ${result.note}.`);
        break;
    }
  }
  return { assumptions, needsOfAssumptions, notes: [...notes, ...notesOnScope(attempts)] };
}

/** Learns the value that all responses show, unless a response that is missing could show another one. */
function learnAssumption(row: AssumptionRow, attempts: readonly CompletedAttempt[]): AssumptionResult {
  const readings = readAlike(row, attempts);
  const [reading, ...otherReadings] = readings;
  if (reading === undefined) return { kind: "needs_more", needs: row.needs };

  const { shown } = reading;
  if (shown.kind !== "value" || otherReadings.length > 0) {
    return { kind: "only_noted", note: describeReadings(readings) };
  }

  const { value, words } = shown;
  const statuses = new Set(reading.attempts.map(({ response }) => response.status));
  const from = listOutcomes(reading.attempts, reading.attempts);
  const required = row.required?.(value) ?? [];
  if (!required.every((status) => statuses.has(status))) {
    return { kind: "needs_more", needs: `${row.needs}; ${from.join(", ")} shows ${words}` };
  }
  const missingResponses = listMissingResponses(row, reading.attempts);
  return { kind: "learned", assumption: { value, from, missingResponses } };
}

/** Reads an assumption in each response that shows it. Responses that show the same are one reading. */
function readAlike(row: AssumptionRow, attempts: readonly CompletedAttempt[]): Reading[] {
  const challenges = stableChallenges(attempts);
  const limitHeadersByAttempt = readLimitHeaders(attempts);
  const readingsByText = new Map<string, Reading>();
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (!row.statuses.includes(response.status)) continue;
    const challenge = challenges.get(attempt) ?? "";
    const limitHeaders = limitHeadersByAttempt.get(attempt) ?? { kind: "none" };
    const shown = row.read({ response, outcome, challenge, limitHeaders });
    if (shown === undefined) continue;

    // Not the words of a value: those of a long value are cut off, and two long values can begin alike.
    const text = shown.kind === "value" ? String(shown.value) : shown.words;
    const earlier = readingsByText.get(text) ?? { shown, attempts: [] };
    readingsByText.set(text, { shown: earlier.shown, attempts: [...earlier.attempts, attempt] });
  }
  return [...readingsByText.values()];
}

/** What is shown in several ways, or in another form: `it is seen in several ways: "slow" (429.per_day); "fast" (429.per_minute)`. */
function describeReadings(readings: readonly Reading[]): string {
  const attemptsRead = readings.flatMap(({ attempts }) => attempts);
  const listed: string[] = [];
  for (const { shown, attempts } of readings) {
    listed.push(`${shown.words} (${listOutcomes(attempts, attemptsRead).join(", ")})`);
  }
  const isAnyValue = readings.some(({ shown }) => shown.kind === "value");
  const why = isAnyValue ? "it is seen in several ways" : "the assumption does not have this value";
  return `${why}: ${listed.join("; ")}`;
}

/** Returns the statuses that could show the assumption and none of the attempts has and, of the two limits, the one that is missing. */
function listMissingResponses(
  row: AssumptionRow,
  attempts: readonly CompletedAttempt[],
): (number | PromisedOutcomeId)[] {
  const statuses = new Set(attempts.map(({ response }) => response.status));
  const outcomes = new Set(attempts.map(({ outcome }) => outcome));
  const missing: (number | PromisedOutcomeId)[] = [];
  for (const status of row.statuses) if (!statuses.has(status)) missing.push(status);
  if (!statuses.has(429)) return missing;

  // A gateway can send the 429 of the minute, and the service that of the day: each shows nothing of the other.
  for (const { outcome } of contractOutcomes) {
    if (isLimit(outcome) && !outcomes.has(outcome)) missing.push(outcome);
  }
  return missing;
}

/** The scope of the endpoint is an assumption that nothing sets: an error may name it. */
function notesOnScope(attempts: readonly CompletedAttempt[]): string[] {
  const rejected = attempts.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (rejected === undefined) return [];
  const details = memberIn(rejected.response, ["error", "details"]);
  if (!isMapping(details)) return [];

  const nameOfScope = Object.keys(details).find((name) => /scope/i.test(name));
  const scope = nameOfScope === undefined ? undefined : details[nameOfScope];
  if (typeof scope !== "string" || scope === assumptionTable.me_scope.minimal) return [];
  return [
    `403.insufficient_scope names the scope ${quoted(scope)}: set it with me_scope, and in the scopes of your scenario's keys.`,
  ];
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function whereSeen({ from, missingResponses }: LearnedAssumption): string {
  const sources = from.join(", ");
  if (missingResponses.length === 0) return sources;
  return `${sources}; not seen: ${missingResponses.join(", ")}`;
}
