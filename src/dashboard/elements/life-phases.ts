import type { ListedKey, UpcomingEvent } from "../control/responses.js";
import { faultsInWords } from "./faults-of-key.js";
import { isOver, keyEnd } from "./key-life.js";
import type { LifelineData } from "./lifeline-data.js";

// Instants are in epoch milliseconds.

/** The beginning of a part of a life, which lasts until the next one begins. */
interface PhaseStart {
  readonly from: number;
  /** `rejected`: but not for good. `unknown`: nobody knows what a request gets. */
  readonly kind: "past" | "works" | "retiring" | "limited" | "rejected" | "unknown" | "ended";
  /** What is written on it. */
  readonly words: string;
}

interface Phase extends PhaseStart {
  readonly to: number;
}

/** How long a key has been there, and what it gets from now on if nobody changes anything. */
export function lifePhases(key: ListedKey, data: LifelineData): readonly Phase[] {
  const last = data.axis.stations.at(-1) as number;
  const starts = phaseStarts(key, data, last);
  const phases: Phase[] = [];
  for (const [index, start] of starts.entries()) {
    const to = starts[index + 1]?.from ?? last;
    // A phase without a length is none: a key that never ends has no `ended`.
    if (start.from < to) phases.push({ ...start, to });
  }
  return phases;
}

/** The phases in their order. Of several that begin at once, the last one counts: the others have no length. */
function phaseStarts(key: ListedKey, data: LifelineData, last: number): readonly PhaseStart[] {
  const { now, axis } = data;
  // Nothing is known of how long a key of the scenario was there.
  const created = toInstant(key.created_at) ?? (axis.stations[0] as number);
  const endOrLast = toInstant(keyEnd(key)) ?? last;
  if (isOver[key.state]) {
    return [
      { from: created, kind: "past", words: "" },
      { from: endOrLast, kind: "ended", words: "" },
      { from: now, kind: "ended", words: key.state },
    ];
  }
  const nextChangeAt = nextChange(key, data.events) ?? endOrLast;
  const knownUntil = Math.min(nextChangeAt, endOrLast);
  return [
    { from: created, kind: "past", words: "" },
    ...nextPhases(key, data, knownUntil),
    { from: knownUntil, kind: "unknown", words: "" },
    { from: endOrLast, kind: "ended", words: "" },
  ];
}

/** What a key that is not over gets from now until something may change it. */
function nextPhases(key: ListedKey, data: LifelineData, knownUntil: number): readonly PhaseStart[] {
  const from = data.now;
  const { state, next_request: next } = key;
  const words = resultWords(next);
  const faultWords = faultsInWords(key, data.faults, data.now);
  if (faultWords !== undefined) {
    // The faults are in one line with the result, or not shown.
    const bothWords = `${unbroken(words)} (${unbroken(faultWords)})`;
    return [{ from, kind: "unknown", words: bothWords }];
  }

  const working = state === "retiring" ? "retiring" : "works";
  if (next.status === 200) {
    const workingWords = state === "active" ? "works" : `works (${state})`;
    return [{ from, kind: working, words: workingWords }];
  }
  if (next.status === 429) {
    const resetsAt = toInstant(next.until) ?? knownUntil;
    return [
      { from, kind: "limited", words },
      { from: Math.min(resetsAt, knownUntil), kind: working, words: "" },
    ];
  }
  return [{ from, kind: "rejected", words }];
}

const unbroken = (words: string) => words.replaceAll(" ", "\u00A0");

/** The result of a request in as few words as a bar has room for: `403 access_denied`, `429`. */
function resultWords({ status, code, until }: ListedKey["next_request"]): string {
  if (status === 403) return `403 ${code}`;
  if (status === 429 && until === null) return "429 always";
  return `${status}`;
}

/** When the timeline next changes a key or its organization, or a fault that may hit the key begins or ends; `undefined` for never. */
function nextChange(key: ListedKey, events: readonly UpcomingEvent[]): number | undefined {
  return toInstant(events.find((event) => mayChange(key, event))?.at);
}

function mayChange({ ref, organization }: ListedKey, event: UpcomingEvent): boolean {
  const isStep = event.kind === "timeline_step";
  const isFault = event.kind === "fault_begins" || event.kind === "fault_ends";
  if (!isStep && !isFault) return false;
  if (event.key !== null) return event.key === ref;
  if (event.organization !== null) return event.organization === organization;
  // A fault without a key and an organization hits every key; such a step changes none.
  return isFault;
}

/** A time as an instant; `undefined` if there is none. */
function toInstant(at: string | null | undefined): number | undefined {
  return at === null || at === undefined ? undefined : Date.parse(at);
}
