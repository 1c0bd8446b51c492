import type { Model } from "../../test/model/specification-model.js";
import { firstState, type Operation, step, textOf } from "./model.js";

/** An operation as its client saw it; times come from one monotonic clock. */
export interface Seen {
  readonly client: string;
  readonly server: number;
  readonly operation: Operation;
  readonly sent: number;
  /** `Infinity` if the outcome is unknown: the operation may have happened since, for a while, or never. */
  readonly responded: number;
  readonly outcome: string | undefined;
  readonly reason?: string;
}

/** Milliseconds after which an operation with an unknown outcome no longer happens. */
const maxDelay = 20_000;
const maxSituations = 100_000;
export const undecided = "it is undecided";

/**
 * Returns `undefined` if one order explains what the clients saw, otherwise how far an order goes. In it, each operation has its
 * outcome, and comes after those that got their responses before it was sent (Wing and Gong's search, with Lowe's memory).
 */
export function explain(history: readonly Seen[]): string | undefined {
  // An unknown read explains nothing. Operations with the earliest responses are tried first.
  const all = history
    .filter(({ outcome, operation }) => outcome !== undefined || operation.do !== "list")
    .sort((a, b) => a.responded - b.responded || a.sent - b.sent);
  const contents = all.map(({ operation }) => JSON.stringify(operation));
  const situations = new Set<string>();
  const isDone = all.map(() => false);
  const order: Seen[] = [];
  let longest: readonly Seen[] = [];
  let stuck: readonly string[] = [];

  // Continues with one of them as the next.
  const tryNext = (index: number, state: Model, left: number, rejected: string[]): boolean => {
    const seen = all[index] as Seen;
    const isKnown = seen.outcome !== undefined;
    const { outcome, state: next } = step(state, seen.operation);
    if (isKnown && outcome !== seen.outcome) {
      rejected.push(`${line(seen)}; in this order it gets ${outcome}`);
      return false;
    }
    // An unknown operation without an effect may as well never have happened.
    if (!isKnown && textOf(next) === textOf(state)) return false;
    isDone[index] = true;
    order.push(seen);
    if (search(next, isKnown ? left - 1 : left)) return true;
    order.pop();
    isDone[index] = false;
    return false;
  };
  const search = (state: Model, left: number): boolean => {
    if (left === 0) return true;
    const situation = `${isDone.map(Number).join("")} ${textOf(state)}`;
    if (situations.size === maxSituations || situations.has(situation)) return false;
    situations.add(situation);
    const rejected: string[] = [];
    const latest = order.reduce((max, { sent }) => Math.max(max, sent), 0);
    if (candidates(all, isDone, contents, latest).some((index) => tryNext(index, state, left, rejected)))
      return true;
    if (order.length > longest.length || stuck.length === 0) {
      longest = [...order];
      stuck = rejected;
    }
    return false;
  };
  const known = all.filter(({ outcome }) => outcome !== undefined);
  if (search(firstState(), known.length)) return undefined;
  if (situations.size === maxSituations) return undecided;
  return [
    "no order explains it",
    "what the clients saw:",
    ...history.toSorted((a, b) => a.sent - b.sent).map(line),
    "the longest order that explains a part:",
    ...longest.map(line),
    "none of these can follow:",
    ...stuck,
  ].join("\n    ");
}

// The operations that may come next: sent before the first response of the others, and not too late. `all` is in the order of the
// responses. Of equal operations with an unknown outcome, the first will do: it may come at any place of the others.
function candidates(all: readonly Seen[], isDone: boolean[], contents: string[], latest: number): number[] {
  const first = all.find((_, index) => !isDone[index])?.responded ?? Number.POSITIVE_INFINITY;
  const unknown = new Set<string>();
  return all.flatMap(({ sent, outcome }, index) => {
    if (isDone[index] || sent > first) return [];
    if (outcome !== undefined) return [index];
    const content = contents[index] as string;
    if (unknown.has(content) || latest > sent + maxDelay) return [];
    unknown.add(content);
    return [index];
  });
}

function line({ client, server, operation, sent, responded, outcome, reason }: Seen): string {
  const { do: what, ...of } = operation;
  const times = `${sent.toFixed(1)}–${Number.isFinite(responded) ? responded.toFixed(1) : "?"}`;
  return `${times} ${client} on ${server}: ${what} ${Object.values(of).join(" ")} → ${outcome ?? `unknown (${reason})`}`;
}
