/** The text of a response to a cause at a place; `undefined` if the response does not have the place. */
interface TextOfCause {
  readonly cause: string;
  readonly text: string | undefined;
}

/**
 * What the texts at a place show, if they are not all the same:
 * - `agrees`: they are the same without the words that are new in each response, such as ids
 * - `differs`: some causes always have another text than the baseline
 * - `unjudged`: nobody can tell, since texts of one cause differ in other words, too: nodes, times or chance
 */
export type TextComparison =
  | { readonly kind: "agrees" | "unjudged" }
  | {
      readonly kind: "differs";
      readonly baseline: string;
      /** The text of each cause, with `…` for words that are new in each response. */
      readonly textsByCause: ReadonlyMap<string, string | undefined>;
    };

/** The causes to compare with, the best one first: unknown keys are other ones each time, so they meet all nodes. */
const baselineCauses: readonly string[] = ["401.unknown", "401.malformed", "401.missing"];

/** A run of spaces, or what is between spaces and signs of JSON, with the sign after it. */
const wordPattern = /\s+|[^\s,:{[]*[,:{[]|[^\s,:{[]+/g;

/** A text with a time: `09:00:05`, or since 1970 in seconds or in milliseconds, `1772442000` and `1772442000123`. */
const textWithTime = /\d:\d\d:\d\d|\b(?:\d{10}|\d{13})\b/;

/** Compares the texts at a place, which are in the order of their requests. */
export function compareTexts(texts: readonly TextOfCause[]): TextComparison {
  const newWords = findNewWords(texts);
  const forms = compareForms(texts, newWords);
  if (forms === "unjudged") return { kind: "unjudged" };
  const textsByCause = new Map<string, string | undefined>();
  for (const { cause, text } of texts) {
    const constant = text === undefined ? undefined : constantPart(text, cause, newWords, forms);
    if (textsByCause.has(cause) && textsByCause.get(cause) !== constant) return { kind: "unjudged" };
    textsByCause.set(cause, constant);
  }

  const constants = new Set(textsByCause.values());
  if (constants.size === 1) return { kind: "agrees" };
  // Where there is nothing but new words, a server may choose the text by the key, and not by the cause.
  for (const constant of constants) if (/^\s*…[…\s]*$/.test(constant ?? "")) return { kind: "unjudged" };
  return { kind: "differs", baseline: chooseBaseline(textsByCause), textsByCause };
}

/** Splits a text in its words: `No key` has the words `No`, ` ` and `key`; an empty text has one empty word. */
function splitWords(text: string): readonly string[] {
  return text.match(wordPattern) ?? [""];
}

/** `word 3 of 3` for `key` in `No key`: words of texts of different lengths are never compared. */
function positionOf(index: number, { length }: readonly string[]): string {
  return `word ${index + 1} of ${length}`;
}

/**
 * Finds the positions whose word is another one in each response. A time is the same in two responses in one second: in a text
 * with a time, a word may be that of the response before, but no earlier one comes again.
 */
function findNewWords(texts: readonly TextOfCause[]): ReadonlySet<string> {
  const earlierByPosition = new Map<string, string[]>();
  const repeated = new Set<string>();
  for (const { text } of texts) {
    if (text === undefined) continue;
    const words = splitWords(text);
    const mayRepeatLatest = textWithTime.test(text);
    for (const [index, word] of words.entries()) {
      const position = positionOf(index, words);
      const earlier = earlierByPosition.get(position) ?? [];
      earlierByPosition.set(position, earlier);
      if (mayRepeatLatest && earlier.at(-1) === word) continue;
      if (earlier.includes(word)) repeated.add(position);
      earlier.push(word);
    }
  }

  const newWords = new Set<string>();
  for (const [position, words] of earlierByPosition) {
    // One word for all is no new one.
    if (words.length > 1 && !repeated.has(position)) newWords.add(position);
  }
  return newWords;
}

/** Returns a text with `…`, or the form of the cause, for each new word. */
function constantPart(
  text: string,
  cause: string,
  newWords: ReadonlySet<string>,
  forms: ReadonlyMap<string, string>,
): string {
  const words = splitWords(text);
  const constant: string[] = [];
  for (const [index, word] of words.entries()) {
    const position = positionOf(index, words);
    constant.push(newWords.has(position) ? (forms.get(`${position}, ${cause}`) ?? "…") : word);
  }
  return constant.join("");
}

/** What the new words of a cause at a position have in common: `revoked-7f3a` and `revoked-91c2` have the start `revoked-`. */
interface WordForm {
  readonly words: readonly string[];
  readonly start: string;
  readonly end: string;
  readonly kinds: ReadonlySet<string>;
  readonly lengths: readonly number[];
}

/**
 * Compares the forms of the new words. Returns the form of each position and cause, where they are not one form for all: a form
 * differs from another one if no word of the one has the other. It is unjudged if some words have both, and their starts differ.
 */
function compareForms(
  texts: readonly TextOfCause[],
  newWords: ReadonlySet<string>,
): ReadonlyMap<string, string> | "unjudged" {
  const textByPlace = new Map<string, string>();
  for (const [position, wordsByCause] of wordsByPosition(texts, newWords)) {
    const formByCause = groupForms(wordsByCause);
    if (formByCause === "unjudged") return "unjudged";
    if (new Set(formByCause.values()).size < 2) continue;
    for (const [cause, form] of formByCause) textByPlace.set(`${position}, ${cause}`, describeForm(form));
  }
  return textByPlace;
}

/** Returns the form of each cause's words: that of an earlier cause, unless the two are apart for sure. */
function groupForms(
  wordsByCause: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, WordForm> | "unjudged" {
  const groups: WordForm[] = [];
  const groupByCause = new Map<string, WordForm>();
  const forms = new Set<string>();
  for (const cause of new Set([...baselineCauses, ...wordsByCause.keys()])) {
    const words = wordsByCause.get(cause);
    if (words === undefined) continue;
    const form = readForm(words);
    const group = groups.find((other) => !areApart(form, other)) ?? form;
    if (group === form) groups.push(form);
    groupByCause.set(cause, group);
    // One word does not show what it has in common with others.
    if (words.length > 1) forms.add(`${namedPart(form.start)}…${namedPart(reversed(form.end))}`);
  }
  const mayBeNodes = groups.length === 1 ? forms.size > 1 : groups.some(isOfSeveralNames);
  return mayBeNodes ? "unjudged" : groupByCause;
}

/** Collects the new words at each position, by their causes. */
function wordsByPosition(texts: readonly TextOfCause[], newWords: ReadonlySet<string>) {
  const byPosition = new Map<string, Map<string, string[]>>();
  for (const { cause, text } of texts) {
    const words = text === undefined ? [] : splitWords(text);
    for (const [index, word] of words.entries()) {
      const position = positionOf(index, words);
      if (!newWords.has(position)) continue;
      const byCause = byPosition.get(position) ?? new Map<string, string[]>();
      byPosition.set(position, byCause.set(cause, [...(byCause.get(cause) ?? []), word]));
    }
  }
  return byPosition;
}

function readForm(words: readonly string[]): WordForm {
  const start = commonStart(words);
  const end = reversed(commonStart(words.map((word) => reversed(word.slice(start.length)))));
  const lengths = words.map(({ length }) => length);
  const kinds = new Set(words.map((word) => kindOf(word, start, end)));
  // Of hexadecimal ids of one length, some have only digits by chance.
  if (kinds.has("hexadecimal") && new Set(lengths).size === 1) kinds.delete("digits");
  return { words, start, end, kinds, lengths: [Math.min(...lengths), Math.max(...lengths)] };
}

/** The common start of words that is no chance: it ends at a sign, or before digits, or has at least four characters. */
function commonStart(words: readonly string[]): string {
  const [first = "", ...others] = words;
  if (others.length === 0) return "";
  let length = 0;
  while (length < first.length && others.every((word) => word[length] === first[length])) length += 1;
  const start = withoutEnd(first.slice(0, length), /\d/);
  const isBeforeDigits = words.every((word) => /^\d+["'.,;)]*$/.test(word.slice(start.length)));
  if (start.length >= 4 || isBeforeDigits) return /[a-z]/i.test(start) ? start : "";
  const untilSign = /^.*[^a-z\d]/i.exec(start)?.[0] ?? "";
  return /[a-z]/i.test(untilSign) ? untilSign : "";
}

/** The start up to its last sign, or all of it if it has letters only: ids that begin with a time share any number of characters. */
function namedPart(start: string): string {
  if (/^["']?[a-z]+$/i.test(start)) return start;
  return /^.*[^a-z\d]/i.exec(start)?.[0] ?? "";
}

/** Whether words of one cause begin with several names, such as those of nodes: another name may be one more of them. */
function isOfSeveralNames({ words, kinds }: WordForm): boolean {
  const names = new Set(words.map((word) => namedPart(word)));
  return kinds.has("other characters") && names.size > 1 && !names.has("");
}

/** Not with a pattern such as `\d+$`, which takes quadratic time: a server can send a long text. */
function withoutEnd(text: string, character: RegExp): string {
  let { length } = text;
  while (length > 0 && character.test(text.charAt(length - 1))) length -= 1;
  return text.slice(0, length);
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}

const kindsOfIds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["digits", /^\d+$/],
  ["hexadecimal", /^[\da-f]+$/i],
  ["UUID", /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i],
];

function kindOf(word: string, start: string, end: string): string {
  // A body can write `12/` as `12\/`, which no member shows.
  if (word.includes("\\")) return "escapes";
  const middle = word.slice(start.length, word.length - end.length);
  const rest = withoutEnd(middle.replace(/^[^a-z\d]+/i, ""), /[^a-z\d]/i);
  return kindsOfIds.find(([, pattern]) => pattern.test(rest))?.[0] ?? "other characters";
}

function areApart(left: WordForm, right: WordForm): boolean {
  return !left.words.some((word) => hasForm(word, right)) || !right.words.some((word) => hasForm(word, left));
}

function hasForm(word: string, { start, end, kinds, lengths: [least = 0, most = 0] }: WordForm): boolean {
  if (!word.startsWith(start) || !word.endsWith(end)) return false;
  // Numbers, and what counts or draws letters, have one or two characters less by chance.
  const slack = kinds.has("hexadecimal") || kinds.has("UUID") ? 0 : 2;
  const isAsLong = word.length >= least - slack && word.length <= most + slack;
  return isAsLong && kinds.has(kindOf(word, start, end));
}

/** `revoked-…`, or `… (hexadecimal, 8 characters)` for words without a common part. */
function describeForm({ start, end, kinds, lengths }: WordForm): string {
  const length = [...new Set(lengths)].join(" to ");
  return `${start}…${end} (${[...kinds].join(" or ")}, ${length} characters)`;
}

/** An unknown key that is a given one after the other prefix (R15). */
export const ofOtherPrefix = "401.unknown after the other prefix";

/** Chooses the first of the baselines, or the second one if all others have one text, and the first another one. */
function chooseBaseline(textsByCause: ReadonlyMap<string, string | undefined>): string {
  const inOrder = new Set([...baselineCauses, ...textsByCause.keys()]);
  const [first = "401.unknown", second = first, ...later] = [...inOrder].filter((cause) => {
    return textsByCause.has(cause) && cause !== ofOtherPrefix;
  });
  // Of two causes, nobody knows which is the odd one.
  if (later.length === 0) return first;
  const textsOfOthers = new Set([second, ...later].map((cause) => textsByCause.get(cause)));
  return textsOfOthers.size === 1 && !textsOfOthers.has(textsByCause.get(first)) ? second : first;
}
