import { assumptionTable } from "../../rules/assumptions.js";
import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { isMapping } from "../../schema/shape.js";
import { contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
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
import { readLimitHeaders } from "./limit-headers.js";
import { listOutcomes } from "./list-outcomes.js";

/** A value that a response shows, or another form. */
type ShownWords = Exclude<ShownAssumption, { kind: "nothing" }>;

/** What one response shows. */
interface Reading {
  readonly attempt: CompletedAttempt;
  readonly shown: ShownWords;
}

/** What some responses show alike. */
interface DistinctReading {
  readonly shown: ShownWords;
  readonly statuses: readonly number[];
  readonly outcomes: readonly PromisedOutcomeId[];
  /** The outcomes in words. */
  readonly from: readonly string[];
}

type NotSeen = readonly (number | PromisedOutcomeId)[];

interface LearnedAssumption {
  readonly value: LearnedValue;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
  /** The statuses and limits that could show another value, and were not seen; left out if there is none. */
  readonly notSeen?: NotSeen;
}

export interface Learned {
  readonly assumptions: Readonly<Record<string, LearnedAssumption>>;
  /** What would show the others. */
  readonly unseen: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** What comes of reading an assumption in all responses. */
type AssumptionResult =
  | { readonly kind: "learned"; readonly assumption: LearnedAssumption }
  | { readonly kind: "not_seen"; readonly needs: string }
  /** The sandbox cannot do it in this way, or does it in one way only. */
  | { readonly kind: "only_noted"; readonly why: string; readonly readings: readonly DistinctReading[] };

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
      case "only_noted": {
        const values = result.readings.map(({ shown, from }) => `${shown.words} (${from.join(", ")})`);
        notes.push(`${name} is not learned, because ${result.why}: ${values.join("; ")}.`);
        break;
      }
    }
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
}

function learnAssumption(row: AssumptionRow, attempts: readonly CompletedAttempt[]): AssumptionResult {
  const readings = mergeReadings(readEach(row, attempts));
  const [first] = readings;
  if (first === undefined) return { kind: "not_seen", needs: row.needs };

  const hasValue = readings.some(({ shown }) => shown.kind === "value");
  if (!hasValue) return { kind: "only_noted", why: "the assumption does not have this value", readings };
  const { shown, from, statuses } = first;
  if (shown.kind === "another_form" || readings.length > 1) {
    return { kind: "only_noted", why: "it is seen in several ways", readings };
  }

  // All responses show one value: now it counts whether those that could show another one are among them.
  const { value, words } = shown;
  const required = row.required?.(value) ?? [];
  if (!required.every((status) => statuses.includes(status))) {
    return { kind: "not_seen", needs: `${row.needs}; ${from.join(", ")} shows ${words}` };
  }
  const notSeen = listNotSeen(row, first);
  return { kind: "learned", assumption: { value, from, ...(notSeen.length > 0 && { notSeen }) } };
}

/** A gateway can send the 429 of the minute, and the service that of the day: one shows nothing of the other. */
function listNotSeen(row: AssumptionRow, { statuses, outcomes }: DistinctReading): NotSeen {
  const notSeen: (number | PromisedOutcomeId)[] = [];
  for (const status of row.statuses) if (!statuses.includes(status)) notSeen.push(status);
  if (!statuses.includes(429)) return notSeen;
  for (const { outcome } of contractOutcomes) {
    if (isLimit(outcome) && !outcomes.includes(outcome)) notSeen.push(outcome);
  }
  return notSeen;
}

/** Reads an assumption in each response that shows it. */
function readEach(row: AssumptionRow, attempts: readonly CompletedAttempt[]): Reading[] {
  const challenges = stableChallenges(attempts);
  const limitHeaders = readLimitHeaders(attempts);
  const readings: Reading[] = [];
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (!row.statuses.includes(response.status)) continue;
    const challenge = challenges.get(attempt) ?? "";
    const headers = limitHeaders.get(attempt) ?? { kind: "none" };
    const reading = row.read({ response, outcome, challenge, limitHeaders: headers });
    if (reading.kind !== "nothing") readings.push({ attempt, shown: reading });
  }
  return readings;
}

/** Merges the readings that show the same. */
function mergeReadings(readings: readonly Reading[]): DistinctReading[] {
  const readingsByText = new Map<string, Reading[]>();
  for (const reading of readings) {
    const text = wholeText(reading.shown);
    const same = readingsByText.get(text) ?? [];
    same.push(reading);
    readingsByText.set(text, same);
  }

  const distinct: DistinctReading[] = [];
  for (const same of readingsByText.values()) {
    const [first] = same;
    if (first === undefined) continue;
    const statuses = new Set(same.map(({ attempt }) => attempt.response.status));
    const outcomes = new Set(same.map(({ attempt }) => attempt.outcome));
    distinct.push({
      shown: first.shown,
      statuses: [...statuses],
      outcomes: [...outcomes],
      from: listOutcomes(same, readings),
    });
  }
  return distinct;
}

/** What tells readings apart. The words of a long value are cut off, and two long values can begin alike. */
function wholeText(shown: ShownWords): string {
  return shown.kind === "value" ? String(shown.value) : shown.words;
}

/** The scope of the endpoint is an assumption that nothing sets: an error may name it. */
function notesOnScope(attempts: readonly CompletedAttempt[]): string[] {
  const rejected = attempts.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (rejected === undefined) return [];
  const details = memberIn(rejected.response, ["error", "details"]);
  if (!isMapping(details)) return [];

  const [, scope] = Object.entries(details).find(([name]) => /scope/i.test(name)) ?? [];
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
