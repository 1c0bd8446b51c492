import type { History, Seen } from "./linearize.js";
import { firstState, limitOfNew, type Operation, type State } from "./model.js";

type Doing<What extends Operation["do"]> = Seen & {
  readonly operation: Operation & { readonly do: What };
};

/**
 * What is promised in so many words, looked for without the model: returns each promise that a history breaks.
 *
 * It finds less than the search for an order, and says more.
 */
export function brokenPromises(history: History): readonly string[] {
  return [
    ...staleAfterRevoke(history),
    ...tooManyInAMinute(history),
    ...countedTwice(history),
    ...lostOrDoubledKeys(history),
  ];
}

const of = <What extends Operation["do"]>(history: History, what: What) =>
  history.filter((seen): seen is Doing<What> => seen.operation.do === what);
const isFine = ({ answer }: Seen) => answer?.startsWith("20") === true;

function staleAfterRevoke(history: History): readonly string[] {
  return of(history, "revoke")
    .filter(isFine)
    .flatMap(({ answered, operation: { key } }) =>
      of(history, "request")
        .filter(({ operation, sent }) => operation.key === key && sent > answered)
        .filter(({ answer }) => answer !== undefined && !answer.startsWith("401 "))
        .map(({ answer }) => `the key ${key} got ${answer} after it was revoked`),
    );
}

// Only what lies wholly between two moves of the clock is in one minute for certain.
function tooManyInAMinute(history: History): readonly string[] {
  const moves = of(history, "advance").sort((a, b) => a.sent - b.sent);
  const first: State["keys"] = firstState().keys;
  const refs = new Set(of(history, "request").map(({ operation }) => operation.key));
  const starts = [Number.NEGATIVE_INFINITY, ...moves.map(({ answered }) => answered)];
  return starts.flatMap((from) => {
    const to = moves.find(({ answered }) => answered > from)?.sent ?? Number.POSITIVE_INFINITY;
    const isWithin = ({ sent, answered }: Seen) => sent > from && answered < to;
    return [...refs].flatMap((ref) => {
      const most = first[ref]?.perMinute ?? limitOf(history, ref);
      const got = of(history, "request").filter(
        (seen) => seen.operation.key === ref && isFine(seen) && isWithin(seen),
      ).length;
      return got > most ? [`the key ${ref} got 200 ${got} times in a minute of ${most}`] : [];
    });
  });
}

// A replacement has the limits of the key that it replaces.
function limitOf(history: History, ref: string): number {
  const made = of(history, "rotate").find((seen) => seen.operation.as === ref && isFine(seen));
  if (made === undefined) return limitOfNew;
  const { key } = made.operation;
  return firstState().keys[key]?.perMinute ?? limitOf(history, key);
}

// All histories are of one day: `today` only grows, and each request that counts gets a number of its own.
function countedTwice(history: History): readonly string[] {
  const got = of(history, "request")
    .filter(isFine)
    .map(({ operation, answer }) => `${operation.key} ${answer}`);
  const twice = got.filter((one, index) => got.indexOf(one) !== index);
  return twice.map((one) => `two requests were the same one of the day: ${one}`);
}

function lostOrDoubledKeys(history: History): readonly string[] {
  const made = [...of(history, "create"), ...of(history, "rotate")].filter(isFine);
  const refOf = ({ operation }: (typeof made)[number]) =>
    operation.do === "create" ? operation.ref : operation.as;
  const refs = made.map(refOf);
  const madeTwice = refs
    .filter((ref, index) => refs.indexOf(ref) !== index)
    .map((ref) => `the key ${ref} was made twice`);
  const inLists = of(history, "list").flatMap(({ answer, sent }) => {
    if (answer === undefined) return [];
    const there = answer
      .slice(4)
      .split(", ")
      .map((key) => key.split(" ")[0]);
    const lost = made.filter((one) => one.answered < sent && !there.includes(refOf(one)));
    const doubled = there.filter((ref, index) => there.indexOf(ref) !== index);
    return [
      ...lost.map((one) => `the key ${refOf(one)} is lost`),
      ...doubled.map((ref) => `the key ${ref} is in a list twice`),
    ];
  });
  return [...madeTwice, ...inLists];
}
