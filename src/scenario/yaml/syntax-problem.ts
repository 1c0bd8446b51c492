import type { SourceText } from "../source-text.js";
import { otherIndents } from "./indent-repairs.js";
import { lineCorrections } from "./line-corrections.js";
import { isEmptyOrComment } from "./lines.js";
import { firstErrorIn, type ParseError, parseTokens } from "./parse-tokens.js";
import type { Repair } from "./repair.js";
import { hasPartOfSecret } from "./secret-lines.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. A repair is a guess at
// the mistake: one or several lines, changed. It is named only if the parser finds no error in the changed text; so it does not
// matter that a guess also fits a comment or a quoted text.

interface SyntaxProblem {
  readonly offset: number;
  /** What is wrong: the end of the sentence `not valid YAML: …`. */
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** What is known about an error, by the start of the parser's message. */
interface Explanation {
  readonly message: RegExp;
  /** What is wrong. Default: the parser's words. */
  readonly reason?: string;
  /** How to mend the error if no repair does. */
  readonly hint: string;
  /** Whether a line on another level causes this error. In other errors, an indent that mends them only hides them in a block of text. */
  readonly mayBeIndent?: true;
}

const explanations: readonly Explanation[] = [
  { message: /^Tabs are/, hint: "indent with spaces; YAML does not allow tabs" },
  {
    message: /^All |^A block|^Sequence item/,
    hint: "indent what belongs together by the same number of spaces",
    mayBeIndent: true,
  },
  {
    message: /^Unexpected scalar/,
    hint: "check the quotes of this text, and the indent of the lines above",
    mayBeIndent: true,
  },
  {
    message: /^Nested/,
    hint: "check the brackets and indents above, and quote a text with a colon",
    mayBeIndent: true,
  },
  { message: /^Flow |-end token/, reason: "the brackets do not match", hint: "close each { and [ once" },
  { message: /^Missing , |^Block/, hint: "write a colon after a name, and separate the fields with commas" },
  {
    message: /^Implicit /,
    reason: "this is not a field",
    hint: "write it as name: value, or remove it",
    mayBeIndent: true,
  },
  { message: /^With stringKeys/, reason: "a name must be a text", hint: "write a plain name" },
  { message: /^Unresolved tag/, hint: "remove the tag" },
];

// Each repair is parsed; of a longer text or of more repairs, that would take long.
const longestRepaired = 20_000;
const maxCorrections = 30;
const maxIndents = 10;

/** What is wrong with a text that is not YAML, and how to fix it. */
export function syntaxProblem(error: ParseError, source: SourceText): SyntaxProblem {
  const { text } = source;
  const explanation = explanations.find(({ message }) => message.test(error.message));
  const lines = text.split("\n");
  const lineOfError = text.slice(0, error.offset).split("\n").length - 1;
  const fieldLine = firstFieldFrom(lines, lineOfError);

  if (text.length <= longestRepaired) {
    const repairs = lineCorrections(lines).slice(0, maxCorrections);
    if (explanation?.mayBeIndent === true) repairs.push(...indentRepairs(lines, fieldLine));
    const repair = repairs.find((guess) => mends(guess, lines));
    if (repair !== undefined) return problemOfRepair(repair, lines, source);
  }

  // An error at a comment is shown at the field after it.
  const offset = fieldLine === lineOfError ? error.offset : offsetOf(lines, fieldLine);
  // What follows the colon is from the text: `Unresolved tag: !env`.
  const words = hasPartOfSecret(source, offset) ? error.message.replace(/:.*/, "") : error.message;
  const reason = explanation?.reason ?? words.slice(0, 1).toLowerCase() + words.slice(1);
  return { offset, reason, hint: explanation?.hint };
}

/** Guesses that the line of an error, or the field after it, is on a wrong level. */
function indentRepairs(lines: readonly string[], fieldLine: number): Repair[] {
  const lineAfter = firstFieldFrom(lines, fieldLine + 1);
  return [...otherIndents(lines, fieldLine), ...otherIndents(lines, lineAfter)].slice(0, maxIndents);
}

/** Whether a text is YAML once it is repaired. */
function mends({ line, repaired }: Repair, lines: readonly string[]): boolean {
  const repairedText = lines.toSpliced(line, repaired.length, ...repaired).join("\n");
  const parsed = parseTokens(repairedText);
  return parsed.kind === "parsed" && firstErrorIn(parsed.first) === undefined;
}

function problemOfRepair(repair: Repair, lines: readonly string[], source: SourceText): SyntaxProblem {
  const startOfLine = offsetOf(lines, repair.line);
  const hint = hasPartOfSecret(source, startOfLine) ? repair.hintForSecret : repair.hint;
  return { offset: startOfLine + repair.column, reason: repair.reason, hint };
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
