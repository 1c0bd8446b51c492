import { indentOf, isEmptyOrComment } from "./lines.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. Each repair below
// is a guess at the mistake: one or several lines, changed. It is named only if the parser finds no error in the changed text;
// so it does not matter that a guess also fits a comment or a quoted text.

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

/** Lines that may be what their author meant, and what was wrong then. Lines and columns count from 0. */
interface Repair {
  /** The first of the lines that change. */
  readonly line: number;
  /** What they become; as many lines. */
  readonly repaired: readonly string[];
  /** Where the first of them is wrong. */
  readonly column: number;
  readonly reason: string;
  readonly hint: string;
  /** The hint if the line has a part of a secret. Default: the same one. */
  readonly hintForSecret?: string | undefined;
}

/** A mistake inside a line. */
interface Correction {
  /** Its groups are what is before the mistake, and the mistake. */
  readonly pattern: RegExp;
  readonly corrected: (wrong: string) => string;
  readonly reason: string;
  /** Default: `write` and what the mistake becomes. */
  readonly hint?: string;
  /** The hint in a line that may have a secret. Default: the same hint, which shows none. */
  readonly hintForSecret?: string | undefined;
}

const needsQuotes = {
  corrected: JSON.stringify,
  reason: "this text needs double quotes",
  hintForSecret: "put double quotes around it",
};

const corrections: readonly Correction[] = [
  // `"Village Bank` in `name: "Village Bank`
  {
    pattern: /^(|.*?[\s[{(,:-])("[^"]*?|'[^']*?)[ ,}\]]*$/gm,
    corrected: (text) => text + text.charAt(0),
    reason: "this quote is not closed on its line",
    hint: "close it",
  },
  // `version:1`
  {
    pattern: /^([ -]*?)([\w-]+:[^\S ]*[^\s:].*)$/gm,
    corrected: (field) => field.replace(/:\s*/, ": "),
    reason: "there is no ordinary space after the colon",
    hintForSecret: "put an ordinary space after it",
  },
  // `Banks: two` in `name: Banks: two # a comment`
  { pattern: /^([ -]*[\w-]+: +)([^\s"'{[|>#].*?: .*?)(?: #.*)?$/gm, ...needsQuotes },
  // `{{ env }}` in `environment: {{ env }}`, and `${ENV}`: the name of a variable is no secret
  { pattern: /(: +)(\$\{\w+\}|\{\{ *[\w.]+ *\}\})/g, ...needsQuotes, hintForSecret: undefined },
  // `${ENV:-default}`
  { pattern: /(: +)(\$\{[^{}]*\}|\{\{[^{}]*\}\})/g, ...needsQuotes },
  // `/loans/{id}` in `{ path: /loans/{id} }`
  { pattern: /(\{.*?: +)(\/[^\s,"'{}]*(?:\{[\w-]+\}[^\s,"'{}]*)+)/g, ...needsQuotes },
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

/** What the search for the problem needs to know of its text. */
interface TextQuestions {
  readonly firstErrorOf: (text: string) => ParseError | undefined;
  /** Whether the line at an offset has a part of a secret, and is not shown. */
  readonly hasSecretAt: (offset: number) => boolean;
}

/** What is wrong with a text that is not YAML, and how to fix it. */
export function syntaxProblem(error: ParseError, text: string, questions: TextQuestions): SyntaxProblem {
  const { firstErrorOf, hasSecretAt } = questions;
  const lines = text.split("\n");
  const lineOfError = text.slice(0, error.offset).split("\n").length - 1;
  const fieldLine = firstFieldFrom(lines, lineOfError);
  // An error at a comment is shown at the field after it.
  const offset = Math.max(error.offset, offsetOf(lines, fieldLine));
  const explained = inParsersWords(error, offset, hasSecretAt(offset));
  if (text.length > longestRepaired) return explained;

  const repairs = correctionsOf(lines);
  if (errorOfIndent.test(error.message)) {
    // The line of the error is on a wrong level, or the one after it.
    repairs.push(...otherIndents(lines, fieldLine));
    repairs.push(...otherIndents(lines, firstFieldFrom(lines, fieldLine + 1)));
  }

  for (const repair of repairs.slice(0, maxRepairs)) {
    const { line, repaired, column, reason } = repair;
    const repairedText = lines.toSpliced(line, repaired.length, ...repaired).join("\n");
    if (firstErrorOf(repairedText) !== undefined) continue;
    const startOfLine = offsetOf(lines, line);
    const hint = hasSecretAt(startOfLine) ? (repair.hintForSecret ?? repair.hint) : repair.hint;
    return { offset: startOfLine + column, reason, hint };
  }
  return explained;
}

/** The first line from `line` on that is neither empty nor a comment; the last one if there is none. */
function firstFieldFrom(lines: readonly string[], line: number): number {
  let field = line;
  while (field < lines.length - 1 && isEmptyOrComment(lines[field] ?? "")) field += 1;
  return Math.min(field, lines.length - 1);
}

/** The offset of the start of a line. */
function offsetOf(lines: readonly string[], line: number): number {
  let offset = 0;
  for (const before of lines.slice(0, line)) offset += before.length + 1;
  return offset;
}

function inParsersWords({ message }: ParseError, offset: number, hasSecret: boolean): SyntaxProblem {
  const explanation = explanations.find((one) => one.message.test(message));
  // What follows the colon is from the text: `Unresolved tag: !env`.
  const words = hasSecret ? message.replace(/:.*/, "") : message;
  const reason = explanation?.reason ?? words.slice(0, 1).toLowerCase() + words.slice(1);
  return { offset, reason, hint: explanation?.hint };
}

/** The repairs of single lines: those of the first correction for all lines, then those of the next. */
function correctionsOf(lines: readonly string[]): Repair[] {
  const repairs: Repair[] = [];
  for (const { pattern, corrected, reason, hint, hintForSecret } of corrections) {
    for (const [line, text] of lines.entries()) {
      for (const { 1: before = "", 2: wrong = "", index } of text.matchAll(pattern)) {
        const column = index + before.length;
        const becomes = corrected(wrong);
        const repaired = [text.slice(0, column) + becomes + text.slice(column + wrong.length)];
        repairs.push({ line, repaired, column, reason, hint: hint ?? `write ${becomes}`, hintForSecret });
      }
    }
  }
  return repairs;
}

/** A line gets the indent of a line above it, the nearest first; the lines inside it move with it. */
function otherIndents(lines: readonly string[], line: number): Repair[] {
  const text = lines[line] ?? "";
  const indent = indentOf(text);
  const moved = [text];
  for (const inner of lines.slice(line + 1)) {
    if (inner.trim() !== "" && indentOf(inner) <= indent) break;
    moved.push(inner);
  }

  // An item goes below the dash of an item, and a field below a field, which may follow a dash.
  const startsHere = text.trim().startsWith("- ") ? /[^ ]/ : /[^ -]|$/;
  const columns = new Set<number>();
  for (const above of lines.slice(0, line).reverse()) {
    // Only a line with ordinary spaces shows a level.
    if (/^ *[^\s#]/.test(above)) columns.add(above.search(startsHere));
  }
  columns.delete(indent);

  const repairs: Repair[] = [];
  for (const column of columns) {
    const repaired = moved.map((one) => one.replace(" ".repeat(indent), " ".repeat(column)));
    const reason = "this line is not indented like its neighbors";
    repairs.push({ line, repaired, column: indent, reason, hint: `indent it to column ${column + 1}` });
  }
  return repairs;
}
