import type { SourceText } from "../source-text.js";
import { explanationOf } from "./error-explanations.js";
import { otherIndents } from "./indent-repairs.js";
import { lineCorrections } from "./line-corrections.js";
import { isEmptyOrComment } from "./lines.js";
import { firstErrorIn, type ParseError, parseTokens } from "./parse-tokens.js";
import type { Repair } from "./repair.js";
import { hasPartOfSecret } from "./secret-lines.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. A repair is a guess at
// the mistake: one or several lines, changed. It is named only if the parser finds no error in the changed text; so it does not
// matter that a guess also fits a comment or a quoted text. Lines count from 0.

interface SyntaxProblem {
  readonly offset: number;
  /** What is wrong: the end of the sentence `not valid YAML: …`. */
  readonly reason: string;
  readonly hint?: string | undefined;
}

// Each repair is parsed; of a longer text or of more repairs, that would take long.
const longestRepaired = 20_000;
const maxCorrections = 30;
const maxIndents = 10;

/** What is wrong with a text that is not YAML, and how to fix it. */
export function syntaxProblem(error: ParseError, source: SourceText): SyntaxProblem {
  const { text } = source;
  const lines = text.split("\n");
  const lineOfError = text.slice(0, error.offset).split("\n").length - 1;
  // An error at a comment is about the field after it.
  const fieldLine = firstFieldFrom(lines, lineOfError);
  const explanation = explanationOf(error);

  if (text.length <= longestRepaired) {
    const repairs = lineCorrections(lines).slice(0, maxCorrections);
    if (explanation?.mayBeIndent === true) repairs.push(...indentRepairs(lines, fieldLine));
    const repair = repairs.find((guess) => mends(guess, lines));
    if (repair !== undefined) return problemOfRepair(repair, lines, source);
  }

  const offset = fieldLine === lineOfError ? error.offset : offsetOfLine(lines, fieldLine);
  const reason = explanation?.reason ?? reasonOfParser(error, source, offset);
  return { offset, reason, hint: explanation?.hint };
}

/** The parser's message as the end of a sentence. What follows its colon is from the text, as in `Unresolved tag: !env`. */
function reasonOfParser({ message }: ParseError, source: SourceText, offset: number): string {
  const shownMessage = hasPartOfSecret(source, offset) ? message.replace(/:.*/, "") : message;
  return shownMessage.slice(0, 1).toLowerCase() + shownMessage.slice(1);
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
  const lineStart = offsetOfLine(lines, repair.line);
  const hint = hasPartOfSecret(source, lineStart) ? repair.hintForSecret : repair.hint;
  return { offset: lineStart + repair.column, reason: repair.reason, hint };
}

/** The first line from `line` on that is neither empty nor a comment; the last one if there is none. */
function firstFieldFrom(lines: readonly string[], line: number): number {
  const lastLine = lines.length - 1;
  let fieldLine = line;
  while (fieldLine < lastLine && isEmptyOrComment(lines[fieldLine] ?? "")) fieldLine += 1;
  return Math.min(fieldLine, lastLine);
}

/** The offset of the start of a line. */
function offsetOfLine(lines: readonly string[], line: number): number {
  let offset = 0;
  for (const before of lines.slice(0, line)) offset += before.length + 1;
  return offset;
}
