import { type Answer, firstState, type Operation, type State, step, textOf } from "./model.js";

/** An operation as its client saw it; times are those of one monotonic clock. */
export interface Seen {
  readonly client: string;
  readonly replica: number;
  readonly operation: Operation;
  readonly sent: number;
  /** `Infinity`: it is not known what came of it. It may have happened at any time since, or never. */
  readonly answered: number;
  readonly answer: Answer | undefined;
  /** Why it is not known. */
  readonly reason?: string;
}

export type History = readonly Seen[];

/** `undecided`: the search was given up. */
export interface Verdict {
  readonly is: "linearizable" | "not linearizable" | "undecided";
  /** How many situations were looked at. */
  readonly looked: number;
  /** The longest order of operations that explains their answers, and what none of the next ones would have got. */
  readonly longest: readonly Seen[];
  readonly stuck: readonly string[];
}

const mostSituations = 500_000;

/**
 * Searches an order in which the operations, one after the other, give the answers that the clients saw, and in which none
 * comes before one that was answered before it was sent (Wing and Gong's search, with Lowe's memory of situations).
 */
export function linearize(history: History): Verdict {
  // What changes nothing and was not answered, says nothing. Those that were answered first are tried first.
  const all = history
    .filter(({ answer, operation }) => answer !== undefined || changes(operation))
    .sort((a, b) => a.answered - b.answered || a.sent - b.sent);
  const known = all.filter(({ answer }) => answer !== undefined).length;
  const contents = all.map(({ operation }) => JSON.stringify(operation));
  const met = new Set<string>();
  const isDone = all.map(() => false);
  const order: Seen[] = [];
  let longest: readonly Seen[] = [];
  let stuck: readonly string[] = [];
  let left = known;
  let isGivenUp = false;

  const keepLongest = (refused: readonly string[]) => {
    if (order.length <= longest.length && stuck.length > 0) return;
    longest = [...order];
    stuck = refused;
  };
  // Goes on with one of them as the next.
  const tryNext = (index: number, state: State, refused: string[]): boolean => {
    const seen = all[index] as Seen;
    const isKnown = seen.answer !== undefined;
    const { answer, state: next } = step(state, seen.operation);
    if (isKnown && answer !== seen.answer) {
      refused.push(`${line(seen)}; in this order it gets ${answer}`);
      return false;
    }
    // What is not known and would change nothing may as well never have happened.
    if (!isKnown && textOf(next) === textOf(state)) return false;
    isDone[index] = true;
    order.push(seen);
    left -= isKnown ? 1 : 0;
    if (search(next)) return true;
    left += isKnown ? 1 : 0;
    order.pop();
    isDone[index] = false;
    return false;
  };
  const search = (state: State): boolean => {
    if (left === 0) return true;
    const situation = `${isDone.map(Number).join("")} ${textOf(state)}`;
    isGivenUp ||= met.size === mostSituations;
    if (isGivenUp || met.has(situation)) return false;
    met.add(situation);
    const refused: string[] = [];
    if (candidates(all, isDone, contents).some((index) => tryNext(index, state, refused))) return true;
    keepLongest(refused);
    return false;
  };
  const isFound = search(firstState());
  if (isFound) return { is: "linearizable", looked: met.size, longest: order, stuck: [] };
  return { is: isGivenUp ? "undecided" : "not linearizable", looked: met.size, longest, stuck };
}

// Those that may come next: sent before the first of the others was answered. `all` is in the order of the answers. Of those
// not known that ask for the same, the first that was sent will do: it may come wherever the others may.
function candidates(
  all: History,
  isDone: readonly boolean[],
  contents: readonly string[],
): readonly number[] {
  const first = all.find((_, index) => !isDone[index])?.answered ?? Number.POSITIVE_INFINITY;
  const unknown = new Set<string>();
  return all.flatMap(({ sent, answer }, index) => {
    if (isDone[index] || sent > first) return [];
    const content = contents[index] as string;
    if (answer === undefined && unknown.has(content)) return [];
    if (answer === undefined) unknown.add(content);
    return [index];
  });
}

function changes({ do: what }: Operation): boolean {
  return what !== "list" && what !== "read";
}

/** One line about an operation. */
export function line({ client, replica, operation, sent, answered, answer, reason }: Seen): string {
  const { do: what, ...of } = operation;
  const times = `${sent.toFixed(1)}–${Number.isFinite(answered) ? answered.toFixed(1) : "?"}`;
  return `${times} ${client} on ${replica}: ${what} ${Object.values(of).join(" ")} → ${answer ?? `not known (${reason})`}`;
}
