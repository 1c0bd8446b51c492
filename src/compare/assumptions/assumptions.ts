import { assumptionTable } from "../../rules/assumptions.js";
import { isMapping } from "../../schema/type-tag.js";
import type { PromisedOutcomeId } from "../contract/contract-rules.js";
import { contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import { quoted } from "../response/describe.js";
import { memberIn } from "../response/members.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import {
  type AssumptionRow,
  assumptionRows,
  type ReadContext,
  type ShownAssumption,
  stableChallenges,
} from "./assumption-rows.js";
import { readLimitHeaders } from "./limit-headers.js";

interface LearnedAssumption {
  readonly value: string | boolean;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
  /** The statuses and limits that no response had, and whose responses could show another value. */
  readonly notSeen?: readonly (number | PromisedOutcomeId)[];
}

export interface Learned {
  readonly assumptions: Readonly<Record<string, LearnedAssumption>>;
  /** What would show the assumptions that no response has shown. */
  readonly unseen: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** What responses show of an assumption, and the attempts with these responses. */
interface Reading {
  readonly shown: ShownAssumption;
  readonly attempts: readonly CompletedAttempt[];
}

/** Returns the assumptions that the responses of a service show: each is learned, needs other responses, or is only noted. */
export function learnAssumptions(attempts: readonly CompletedAttempt[]): Learned {
  const challenges = stableChallenges(attempts);
  const limitHeaders = readLimitHeaders(attempts);
  const contexts = attempts.map((attempt): ReadContext => {
    const challenge = challenges.get(attempt) ?? "";
    return { attempt, challenge, limitHeaders: limitHeaders.get(attempt) ?? { kind: "none" } };
  });

  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const readings = groupByShownValue(row, contexts);
    const [reading, ...otherReadings] = readings;
    if (reading === undefined) {
      unseen[name] = describeStatuses(row.statuses.slice(-1));
    } else if (reading.shown.value === undefined || otherReadings.length > 0) {
      // The sandbox cannot do it in this way, or does it in one way only.
      notes.push(`${name} is not learned, because ${describeReadings(readings)}.`);
    } else {
      const needs = describeNeeds(row, reading);
      if (needs === undefined) assumptions[name] = learnValue(row, reading, reading.shown.value);
      else unseen[name] = needs;
    }
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
}

/** Returns the responses that could show another value, in words; `undefined` if the value is learned without them. */
function describeNeeds(row: AssumptionRow, { shown, attempts }: Reading): string | undefined {
  const seen = new Set(attempts.map(({ response }) => response.status));
  const needed = (row.learnedOnlyWith?.(shown.value) ?? []).filter((status) => !seen.has(status));
  if (needed.length === 0) return undefined;
  return `${describeStatuses(needed)}; ${listOutcomes(attempts).join(", ")} shows ${shown.words}`;
}

function learnValue(row: AssumptionRow, { attempts }: Reading, value: string | boolean): LearnedAssumption {
  const seen = new Set(attempts.map(({ response }) => response.status));
  const missingStatuses = row.statuses.filter((status) => !seen.has(status));
  const notSeen = [...missingStatuses, ...listMissingLimits(attempts)];
  return { value, from: listOutcomes(attempts), ...(notSeen.length > 0 && { notSeen }) };
}

/** Describes the responses that a reader has to get: `a 401 and a 429 (--probe-limits)`. */
function describeStatuses(statuses: readonly number[]): string {
  const words = statuses.map((status) => (status === 429 ? "a 429 (--probe-limits)" : `a ${status}`));
  return words.join(" and ");
}

/** Reads an assumption in each response that shows it. Responses that show the same value are one reading. */
function groupByShownValue(row: AssumptionRow, contexts: readonly ReadContext[]): Reading[] {
  const readingsByText = new Map<string, Reading>();
  for (const context of contexts) {
    const { attempt } = context;
    if (!row.statuses.includes(attempt.response.status)) continue;
    const shown = row.read(context);
    if (shown === undefined) continue;

    // Not the words of a value: those of a long value are cut off, and two long values can begin alike.
    const text = shown.value === undefined ? shown.words : String(shown.value);
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
  const isAnyValue = readings.some(({ shown }) => shown.value !== undefined);
  const why = isAnyValue ? "it is seen in several ways" : "the assumption does not have this value";
  return `${why}: ${listed.join("; ")}`;
}

/** Returns the limit whose 429 is missing, if the attempts have that of the other one. */
function listMissingLimits(attempts: readonly CompletedAttempt[]): PromisedOutcomeId[] {
  const limits = contractOutcomes.map(({ outcome }) => outcome).filter(isLimit);
  const outcomes = new Set(attempts.map(({ outcome }) => outcome));
  // A gateway can send the 429 of the minute, and the service that of the day: each shows nothing of the other.
  const missing = limits.filter((limit) => !outcomes.has(limit));
  return missing.length === limits.length ? [] : missing;
}

/** The scope of the endpoint is an assumption that nothing sets: an error may name it. */
function notesOnScope(attempts: readonly CompletedAttempt[]): string[] {
  const rejected = attempts.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (rejected === undefined) return [];
  const details = memberIn(rejected.response, ["error", "details"]);
  if (!isMapping(details)) return [];

  const named = Object.entries(details).find(
    ([name, value]) => /scope/i.test(name) && typeof value === "string",
  );
  const scope = named?.[1];
  if (typeof scope !== "string" || scope === assumptionTable.me_scope.minimal) return [];
  return [
    `403.insufficient_scope names the scope ${quoted(scope)}: set it with me_scope, and in the scopes of your scenario's keys.`,
  ];
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function whereSeen({ from, notSeen }: LearnedAssumption): string {
  const sources = from.join(", ");
  if (notSeen === undefined) return sources;
  return `${sources}; not seen: ${notSeen.join(", ")}`;
}

/**
 * Names the outcomes of the attempts that show one value: `each 401` in place of several, if all attempts with this status
 * that were read show it.
 */
export function listOutcomes(
  attempts: readonly CompletedAttempt[],
  attemptsRead: readonly CompletedAttempt[] = attempts,
): string[] {
  const words: string[] = [];
  for (const status of new Set(attempts.map(({ response }) => response.status))) {
    const attemptsOfStatus = attempts.filter(({ response }) => response.status === status);
    const allOfStatus = attemptsRead.filter(({ response }) => response.status === status);
    const outcomes = new Set(attemptsOfStatus.map(({ outcome }) => outcome));
    const isEach = attemptsOfStatus.length === allOfStatus.length;
    if (isEach && outcomes.size > 1) words.push(`each ${status}`);
    else words.push(...outcomes);
  }
  return words;
}
