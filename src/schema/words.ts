import { isMapping, isPlainObject, typeTag } from "./type-tag.js";

/**
 * A pattern with properties of Unicode, made when first used: for a literal, V8 loads their tables at each start. Its source
 * is an argument, since the minifier turns `new RegExp` with a constant into a literal.
 */
export function unicodePattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}

/** A text of more than 60 characters, which is cut behind them in a message. With `u`, an emoji is one character. */
const longText = /^(.{60}).+/su;

/** A value for a message; a long text is truncated. */
export function quote(value: unknown): string {
  if (typeof value === "string") return showInvisible(JSON.stringify(value.replace(longText, "$1…")));
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isPlainObject(value)) return "a mapping";
  if (isMapping(value)) return "an instance of a class";
  if (typeof value === "object" || typeof value === "function") return `a ${typeTag(value)}`;
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return value.toExponential();
  return String(value);
}

/** The name of a file for a message, whole, and with single backslashes. */
export function quoteFile(name: string): string {
  return showInvisible(JSON.stringify(name).replaceAll("\\\\", "\\"));
}

/** Only the control characters that JSON escapes are shown as JSON has them, such as `\n`. */
const invisible = unicodePattern("(?! )[\\p{Cc}\\p{Cf}\\p{Z}]", "gu");

/** Shows by its code point what nobody can see. */
export function showInvisible(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  // `\u{430}`
  return text.replace(invisible(), (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Names in a sentence: `test or live`. */
export function listed(names: readonly string[], word: "and" | "or"): string {
  if (names.length < 2) return names.join();
  return `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}

/** Longer names are not typing errors, and comparing them would be slow. */
const longestComparedName = 100;

/** The candidate that is meant, without regard to case; `-` and a space count as `_`. `undefined` if none is close. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > longestComparedName) return undefined;
  // Without the differences that do not count.
  const comparable = (text: string) => text.toLowerCase().replace(/[\s-]/g, "_");
  const typed = comparable(name);
  // At most three steps, and fewer for a short name.
  const mostSteps = Math.min(3, Math.round(typed.length * 0.4));
  const lettersOf = (word: string) => [...word].sort().join("");

  let best: string | undefined;
  let fewestSteps = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = comparable(candidate);
    const steps = stepsBetween(typed, other, mostSteps);
    if (steps >= fewestSteps) continue;
    // Two other letters make another short word: `cors` is not `port`. Two that are swapped do not, as in `prot`.
    const isOtherWord = steps > 1 && typed.length < 6 && lettersOf(typed) !== lettersOf(other);
    if (isOtherWord) continue;
    best = candidate;
    fewestSteps = steps;
  }
  return best;
}

/**
 * How many letters are added, left out or replaced on the shortest way from one word to another (Levenshtein); infinite for more
 * steps than `most`, of which there are few, since each triples the ways.
 */
function stepsBetween(one: string, other: string, most: number): number {
  // Each letter more or less is a step.
  if (Math.abs(one.length - other.length) > most) return Number.POSITIVE_INFINITY;
  let same = 0;
  while (same < one.length && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  const rest = one.slice(same);
  const otherRest = other.slice(same);
  if (rest === "" || otherRest === "") return rest.length + otherRest.length;
  if (most === 0) return Number.POSITIVE_INFINITY;

  const replaced = stepsBetween(rest.slice(1), otherRest.slice(1), most - 1);
  const leftOut = stepsBetween(rest.slice(1), otherRest, most - 1);
  const added = stepsBetween(rest, otherRest.slice(1), most - 1);
  return 1 + Math.min(replaced, leftOut, added);
}

/** ` Did you mean "x"?` for the nearest candidate, to append to a sentence; empty if none is close. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const meant = nearest(name, candidates);
  return meant === undefined ? "" : ` Did you mean ${quote(meant)}?`;
}
