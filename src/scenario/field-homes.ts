import { stepKinds } from "../domain/steps.js";
import { type Level, levels } from "./format-lookup.js";
import { quote } from "./quote.js";

// Where a field that stands in the wrong place belongs.

/**
 * The level that has such a field and that somebody who wrote it at `level` can have meant: one above it, below it, or
 * beside it; of several the one that shares most of the way, of equals the outermost.
 */
export function homeOf(name: string, level: readonly string[]): Level | undefined {
  let best: Level | undefined;
  let bestShared = -1;
  for (const candidate of levels()) {
    if (!candidate.fields.includes(name) || !isPlausible(candidate.path, level)) continue;
    const shared = sharedSteps(candidate.path, level);
    if (shared > bestShared) [best, bestShared] = [candidate, shared];
  }
  return best;
}

// What stands in a list is not looked for from outside of it: it would not be said in which item the field belongs.
// Nor is what stands around a list looked for from inside.
function isPlausible(home: readonly string[], level: readonly string[]): boolean {
  const shared = sharedSteps(home, level);
  if (home.length === level.length && shared === level.length) return false;
  if (shared === level.length) return !home.slice(shared).includes("<item>");
  if (shared === home.length) return !level.slice(shared).includes("<item>");
  if (isStep(home) && isStep(level)) return true;
  const isBeside = home.length === level.length && shared === level.length - 1;
  return isBeside && !(isKindOfStep(home) && isKindOfStep(level));
}

// The timeline and the story are beside each other, and so are their steps.
function isStep(path: readonly string[]): boolean {
  return path.length === 2 && (path[0] === "timeline" || path[0] === "story");
}

// A step does one thing: what another one could do is not beside it.
function isKindOfStep(path: readonly string[]): boolean {
  return path.length === 3 && isStep(path.slice(0, 2)) && stepKinds.some((kind) => kind === path[2]);
}

function sharedSteps(one: readonly string[], other: readonly string[]): number {
  const index = one.findIndex((step, position) => step !== other[position]);
  return index === -1 ? one.length : index;
}

/** Where a level is, said to somebody who is at another one. */
export function whereIs({ path }: Level, from: readonly string[]): string {
  if (path.length === 0) return "at the top level";
  const shared = sharedSteps(path, from);
  const left = from.at(-1);
  if (
    shared === path.length &&
    from.length === path.length + 1 &&
    left !== undefined &&
    !left.startsWith("<")
  )
    return `one level up, beside ${quote(left)}`;
  const inside = shared === from.length;
  // Of a list it is said in which, and that its items are meant goes without saying.
  const named = path.at(-1) === "<item>" ? path.slice(0, -1) : path;
  const isBeside = path.length === from.length && shared === from.length - 1;
  const shown = inside
    ? named.slice(from.length)
    : isBeside && path.includes("<item>")
      ? named.slice(-1)
      : named;
  return `in ${quote(shown.join("."))}`;
}
