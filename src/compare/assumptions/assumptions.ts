import { assumptionTable } from "../../rules/assumptions.js";
import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { isMapping } from "../../schema/type-tag.js";
import { contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import { quoted } from "../response/describe.js";
import { memberIn } from "../response/members.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import {
  type AssumptionRow,
  assumptionRows,
  type LearnedValue,
  type ShownAssumption,
  type ShownValue,
} from "./assumption-rows.js";
import { stableChallenges } from "./challenges.js";
import { readLimitHeaders } from "./limit-headers-of-keys.js";
import { listOutcomes } from "./list-outcomes.js";

interface LearnedAssumption {
  readonly value: LearnedValue;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
  /** The statuses and limits that could show another value, and were not seen; left out if there is none. */
  readonly notSeen?: readonly (number | PromisedOutcomeId)[];
}

export interface Learned {
  readonly assumptions: Readonly<Record<string, LearnedAssumption>>;
  /** What would show the other assumptions. */
  readonly unseen: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** What comes of reading an assumption in all responses. */
type AssumptionResult =
  | { readonly kind: "learned"; readonly assumption: LearnedAssumption }
  | { readonly kind: "not_seen"; readonly needs: string }
  /** The sandbox cannot do it in this way, or does it in one way only. */
  | { readonly kind: "only_noted"; readonly note: string };

/** What one response shows. */
interface Reading {
  readonly attempt: CompletedAttempt;
  readonly shown: ShownAssumption;
}

/** Returns the assumptions that the responses of a service show. */
export function learnAssumptions(attempts: readonly CompletedAttempt[]): Learned {
  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const result = learnAssumption(row, attempts);
    switch (result.kind) {
      case "learned":
        assumptions[name] = result.assumption;
        break;
      case "not_seen":
        unseen[name] = result.needs;
        break;
      case "only_noted":
        notes.push(`${name} is not learned, because ${result.note}.`);
        break;
    }
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
}

function learnAssumption(row: AssumptionRow, attempts: readonly CompletedAttempt[]): AssumptionResult {
  const readings = readEach(row, attempts);
  const [first] = readings;
  if (first === undefined) return { kind: "not_seen", needs: row.needs };

  const { shown } = first;
  const isSeenOneWay = groupAlike(readings).length === 1;
  if (isSeenOneWay && shown.kind === "value") return learnValue(row, shown, readings);

  const isAnyValue = readings.some((reading) => reading.shown.kind === "value");
  const why = isAnyValue ? "it is seen in several ways" : "the assumption does not have this value";
  return { kind: "only_noted", note: `${why}: ${listWords(readings)}` };
}

/** Learns the value that all readings show, unless a response that is missing could show another one. */
function learnValue(
  row: AssumptionRow,
  { value, words }: ShownValue,
  readings: readonly Reading[],
): AssumptionResult {
  const seenAttempts = readings.map(({ attempt }) => attempt);
  const seenStatuses = new Set(seenAttempts.map(({ response }) => response.status));
  // All attempts that show the assumption show this value.
  const from = listOutcomes(seenAttempts, seenAttempts);
  const required = row.required?.(value) ?? [];
  if (!required.every((status) => seenStatuses.has(status))) {
    return { kind: "not_seen", needs: `${row.needs}; ${from.join(", ")} shows ${words}` };
  }
  const notSeen = listNotSeen(row, seenAttempts);
  return { kind: "learned", assumption: { value, from, ...(notSeen.length > 0 && { notSeen }) } };
}

/** Reads an assumption in each response that shows it. */
function readEach(row: AssumptionRow, attempts: readonly CompletedAttempt[]): Reading[] {
  const challenges = stableChallenges(attempts);
  const limitHeadersByAttempt = readLimitHeaders(attempts);
  const readings: Reading[] = [];
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (!row.statuses.includes(response.status)) continue;
    const challenge = challenges.get(attempt) ?? "";
    const limitHeaders = limitHeadersByAttempt.get(attempt) ?? { kind: "none" };
    const reading = row.read({ response, outcome, challenge, limitHeaders });
    if (reading !== undefined) readings.push({ attempt, shown: reading });
  }
  return readings;
}

/** Returns the readings that show the same, together. */
function groupAlike(readings: readonly Reading[]): Reading[][] {
  const groupsByText = new Map<string, Reading[]>();
  for (const reading of readings) {
    const { shown } = reading;
    // Not the words of a value: those of a long value are cut off, and two long values can begin alike.
    const text = shown.kind === "value" ? String(shown.value) : shown.words;
    const group = groupsByText.get(text) ?? [];
    group.push(reading);
    groupsByText.set(text, group);
  }
  return [...groupsByText.values()];
}

/** What the readings show in words, each with its outcomes: `"slow" (429.per_day); "fast" (429.per_minute)`. */
function listWords(readings: readonly Reading[]): string {
  const allAttempts = readings.map(({ attempt }) => attempt);
  const listed: string[] = [];
  for (const group of groupAlike(readings)) {
    const [first] = group;
    if (first === undefined) continue;
    const attemptsOfGroup = group.map(({ attempt }) => attempt);
    listed.push(`${first.shown.words} (${listOutcomes(attemptsOfGroup, allAttempts).join(", ")})`);
  }
  return listed.join("; ");
}

/** Returns the statuses that could show the assumption and were not seen and, if only one of the limits was seen, the other. */
function listNotSeen(
  row: AssumptionRow,
  seenAttempts: readonly CompletedAttempt[],
): (number | PromisedOutcomeId)[] {
  const seenStatuses = new Set(seenAttempts.map(({ response }) => response.status));
  const seenOutcomes = new Set(seenAttempts.map(({ outcome }) => outcome));
  const notSeen: (number | PromisedOutcomeId)[] = [];
  for (const status of row.statuses) if (!seenStatuses.has(status)) notSeen.push(status);
  if (!seenStatuses.has(429)) return notSeen;

  // A gateway can send the 429 of the minute, and the service that of the day: each shows nothing of the other.
  for (const { outcome } of contractOutcomes) {
    if (isLimit(outcome) && !seenOutcomes.has(outcome)) notSeen.push(outcome);
  }
  return notSeen;
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
export function whereSeen({ from, notSeen }: LearnedAssumption): string {
  const sources = from.join(", ");
  if (notSeen === undefined) return sources;
  return `${sources}; not seen: ${notSeen.join(", ")}`;
}
