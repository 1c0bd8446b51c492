import { otherIndents } from "./indent-repairs.js";
import { lineCorrections } from "./line-corrections.js";
import { isEmptyOrComment } from "./lines.js";
import type { Repair } from "./repair.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. A repair is a guess at
// the mistake: one or several lines, changed. It is named only if the parser finds no error in the changed text; so it does not
// matter that a guess also fits a comment or a quoted text.

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
  /** The first error of a text that has a repair. */
  readonly errorAfterRepair: (text: string) => ParseError | undefined;
  /** Whether the line at an offset has a part of a secret, and is not shown. */
  readonly hasSecretAt: (offset: number) => boolean;
}

/** What is wrong with a text that is not YAML, and how to fix it. */
export function syntaxProblem(error: ParseError, text: string, questions: TextQuestions): SyntaxProblem {
  const { errorAfterRepair, hasSecretAt } = questions;
  const lines = text.split("\n");
  const lineOfError = text.slice(0, error.offset).split("\n").length - 1;
  const fieldLine = firstFieldFrom(lines, lineOfError);
  // An error at a comment is shown at the field after it.
  const offset = Math.max(error.offset, offsetOf(lines, fieldLine));
  if (text.length <= longestRepaired) {
    const repair = repairsOf(error, lines, fieldLine).find((one) => mends(one, lines, errorAfterRepair));
    if (repair !== undefined) return problemOfRepair(repair, lines, hasSecretAt);
  }
  return parsersProblem(error, offset, hasSecretAt(offset));
}

/** The guesses at the mistake, the most likely first. */
function repairsOf(error: ParseError, lines: readonly string[], fieldLine: number): Repair[] {
  const indents: Repair[] = [];
  if (errorOfIndent.test(error.message)) {
    // The line of the error is on a wrong level, or the one after it.
    indents.push(...otherIndents(lines, fieldLine));
    indents.push(...otherIndents(lines, firstFieldFrom(lines, fieldLine + 1)));
  }
  const corrections = lineCorrections(lines).slice(0, Math.max(0, maxRepairs - indents.length));
  return [...corrections, ...indents].slice(0, maxRepairs);
}

/** Whether a text is YAML once it is repaired. */
function mends(
  { line, repaired }: Repair,
  lines: readonly string[],
  errorAfterRepair: TextQuestions["errorAfterRepair"],
): boolean {
  const repairedText = lines.toSpliced(line, repaired.length, ...repaired).join("\n");
  return errorAfterRepair(repairedText) === undefined;
}

function problemOfRepair(
  repair: Repair,
  lines: readonly string[],
  hasSecretAt: TextQuestions["hasSecretAt"],
): SyntaxProblem {
  const startOfLine = offsetOf(lines, repair.line);
  const hint = hasSecretAt(startOfLine) ? repair.hintForSecret : repair.hint;
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

function parsersProblem({ message }: ParseError, offset: number, hasSecret: boolean): SyntaxProblem {
  const explanation = explanations.find((one) => one.message.test(message));
  // What follows the colon is from the text: `Unresolved tag: !env`.
  const words = hasSecret ? message.replace(/:.*/, "") : message;
  const reason = explanation?.reason ?? words.slice(0, 1).toLowerCase() + words.slice(1);
  return { offset, reason, hint: explanation?.hint };
}
