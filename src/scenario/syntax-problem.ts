import { quote } from "../schema/words.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. Each repair below
// is a guess at the mistake: a small change of the text. It is named only if the changed text is YAML; so it does not matter
// that a guess also fits a comment or a quoted text.

/** The first error of a text. */
export interface ParseError {
  readonly code: string;
  readonly message: string;
  readonly offset: number;
}

interface SyntaxProblem {
  readonly offset: number;
  /** What is wrong: the end of the sentence `not valid YAML: …`. */
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** A change of a text that may be what its author meant, with the problem that it solves: from `start` to `end`, the text becomes `text`. */
interface Repair extends SyntaxProblem {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A part of a text that is probably a mistake, and what it becomes. */
interface Correction {
  readonly wrong: RegExp;
  readonly corrected: (wrong: string) => string;
  readonly reason: string;
  /** Default: `write` and what it becomes. */
  readonly hint?: string;
}

const needsQuotes = { corrected: JSON.stringify, reason: "this text needs double quotes" };

const corrections: readonly Correction[] = [
  // name: "Village Bank
  {
    wrong: /(?<=^|[\s[{(,:-])(?:"[^"\n]*?|'[^'\n]*?)(?=[ ,}\]]*$)/gm,
    corrected: (text) => text + text.charAt(0),
    reason: "this quote is not closed on its line",
    hint: "close it",
  },
  // version:1
  {
    wrong: /(?<=^[ -]*)[\w-]+:[^\S \n]*[^\s:].*$/gm,
    corrected: (field) => field.replace(/:\s*/, ": "),
    reason: "there is no ordinary space after the colon",
  },
  // name: Banks: two
  { wrong: /(?<=^[ -]*[\w-]+: +)[^\s"'{[|>#].*?: .*?(?= #|$)/gm, ...needsQuotes },
  // environment: {{ env }}
  { wrong: /(?<=: +)(?:\$\{[^{}]*\}|\{\{[^{}]*\}\})/g, ...needsQuotes },
  // { path: /loans/{id} }
  { wrong: /(?<=\{.*: +)\/[^\s,"'{}]*(?:\{[\w-]+\}[^\s,"'{}]*)+/g, ...needsQuotes },
];

/** How to mend an error that no repair explains, by the parser's message, and what is wrong if its words do not say it. */
const explanations: readonly { message: RegExp; reason?: string; hint: string }[] = [
  { message: /^Tabs are/, hint: "indent with spaces; YAML does not allow tabs" },
  {
    message: /^All |^A block|^Sequence item/,
    hint: "indent what belongs together by the same number of spaces",
  },
  { message: /^Unexpected scalar/, hint: "check the quotes of this text, and the indent of the lines above" },
  { message: /^Nested/, hint: "check the brackets and indents above, and quote a text with a colon" },
  { message: /^Flow |-end token/, reason: "the brackets do not match", hint: "close each { and [ once" },
  { message: /^Missing , |^Block/, hint: "write a colon after a name, and separate the fields with commas" },
  { message: /^Implicit /, reason: "this is not a field", hint: "write it as name: value, or remove it" },
  { message: /^With stringKeys/, reason: "a name must be a text", hint: "write a plain name" },
  { message: /^Unresolved tag/, hint: "remove the tag" },
];

/** What a line on another level causes. An indent that mends any other error only hides it, in a block of text. */
const errorOfIndent = /^(?:All|A block|Implicit|Nested|Sequence item|Unexpected scalar) /;

/** Each repair is parsed; for a longer text, that would take long. */
const longestRepaired = 20_000;
const maxRepairs = 40;

/** What is wrong with a text that is not YAML, and how to fix it. `firstErrorOf` parses a repaired text. */
export function syntaxProblem(
  error: ParseError,
  text: string,
  firstErrorOf: (text: string) => ParseError | undefined,
): SyntaxProblem {
  const field = afterComments(text, text.lastIndexOf("\n", error.offset - 1) + 1);
  const nextField = afterComments(text, text.indexOf("\n", field) + 1);
  const explained = inParsersWords(error, Math.max(error.offset, field));
  if (text.length > longestRepaired) return explained;

  const repairs = correctionsOf(text);
  if (errorOfIndent.test(error.message)) {
    repairs.push(...otherIndents(text, field), ...otherIndents(text, nextField));
  }
  for (const { start, end, text: changed, ...problem } of repairs.slice(0, maxRepairs)) {
    const repaired = text.slice(0, start) + changed + text.slice(end);
    if (firstErrorOf(repaired) === undefined) return problem;
  }
  return explained;
}

/** The start of the line at an offset, or of the next one that is neither empty nor a comment. */
function afterComments(text: string, lineStart: number): number {
  const comments = /(?:[^\S\n]*(?:#.*)?\n)*/y;
  comments.lastIndex = lineStart;
  comments.test(text);
  return comments.lastIndex;
}

function inParsersWords({ message }: ParseError, offset: number): SyntaxProblem {
  const explanation = explanations.find((one) => one.message.test(message));
  const reason = explanation?.reason ?? message.slice(0, 1).toLowerCase() + message.slice(1);
  return { offset, reason, hint: explanation?.hint };
}

function correctionsOf(text: string): Repair[] {
  const repairs: Repair[] = [];
  for (const { wrong, corrected, reason, hint } of corrections) {
    for (const { 0: found, index: offset } of text.matchAll(wrong)) {
      const becomes = corrected(found);
      const change = { start: offset, end: offset + found.length, text: becomes };
      repairs.push({ offset, ...change, reason, hint: hint ?? `write ${becomes}` });
    }
  }
  return repairs;
}

/** A line, and those after it that are indented more. */
const lineWithInner = /( *)([^\s:]+).*(?:\n(?:\1 .*|[^\S\n]*)$)*/my;

/** A line gets the indent of a line above, together with the lines inside it. */
function otherIndents(text: string, start: number): Repair[] {
  lineWithInner.lastIndex = start;
  const [lines = "", indent = "", name = ""] = lineWithInner.exec(text) ?? [];
  const change = { start, end: start + lines.length, offset: start + indent.length };
  const reason = `${quote(name)} is not indented like its neighbors`;

  // A line with a dash has the indent of its item, and that of the dash.
  const firstSign = name === "-" ? /[^ ]/ : /[^ -]/;
  const repairs: Repair[] = [];
  const tried = new Set([indent.length]);
  for (const above of text.slice(0, start).split("\n").reverse()) {
    const column = above.search(firstSign);
    if (!/^ *[^\s#]/.test(above) || tried.has(column)) continue;
    tried.add(column);
    const moved = lines.replaceAll(new RegExp(`^${indent}`, "gm"), " ".repeat(column));
    const hint = `indent it to column ${column + 1}, like ${quote(above.trim())}`;
    repairs.push({ ...change, text: moved, reason, hint });
  }
  return repairs;
}
