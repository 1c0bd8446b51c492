import { quote } from "../schema/words.js";
import { blockAt, endOfLine, indentOf, shifted, startOfField } from "./text-lines.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. Each repair below
// is a guess at the mistake: a small change of the text. One is named only if the change makes the error go or, in a text
// with several mistakes, leaves one further down; so it does not matter that a guess also fits a comment or a quoted text.

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

/** A change of a text that may be what its author meant: from `start` to `end`, the text becomes `text`. */
interface Repair {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly reason: string;
  readonly hint: string;
  /** The place to show. Default: the start. */
  readonly offset?: number;
}

/** What the repairs look at. */
interface Broken {
  readonly text: string;
  readonly error: ParseError;
  /** The line of the error, without its end. */
  readonly line: string;
  readonly lineStart: number;
}

/** Each repair is parsed; for a longer text, that would take long. */
const longestRepaired = 20_000;
const maxRepairs = 40;

/** How to mend an error that no repair explains, by its code, or by the start of its message. */
const hintsByCode: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces; YAML does not allow tabs",
  BLOCK_AS_IMPLICIT_KEY: "put quotes around a text that contains a colon and a space",
  MISSING_CHAR: "close the quote or bracket that was opened before",
  BAD_INDENT: "indent the members of one mapping by the same number of spaces",
  TAG_RESOLVE_FAILED: "remove the tag",
  BLOCK_IN_FLOW: "write a colon after a name, and separate the fields with commas",
};

/** What is wrong with a text that is not YAML, and how to fix it. `firstErrorOf` parses a repaired text. */
export function syntaxProblem(
  error: ParseError,
  text: string,
  firstErrorOf: (text: string) => ParseError | undefined,
): SyntaxProblem {
  const speaksForItself = error.code === "TAG_RESOLVE_FAILED" || error.code === "TAB_AS_INDENT";
  if (speaksForItself || text.length > longestRepaired) return problemInParsersWords(error);
  const lineStart = text.lastIndexOf("\n", error.offset - 1) + 1;
  const [line = ""] = text.slice(lineStart).split("\n");
  const broken = { text, error, line, lineStart };

  let furthest: Repair | undefined;
  let repairCount = 0;
  for (const repairsOf of repairs) {
    for (const repair of repairsOf(broken)) {
      repairCount += 1;
      if (repairCount > maxRepairs) break;
      const { start, end } = repair;
      const next = firstErrorOf(text.slice(0, start) + repair.text + text.slice(end));
      if (next === undefined) return { offset: start, ...repair };

      const moved = next.offset < start ? 0 : repair.text.length - (end - start);
      if (next.offset - moved > error.offset) furthest ??= repair;
    }
  }
  if (furthest !== undefined) return { offset: furthest.start, ...furthest };
  return problemInParsersWords(error);
}

/** The kinds of repairs, in the order in which they are tried. */
const repairs: readonly ((broken: Broken) => Iterable<Repair>)[] = [
  closedQuotes,
  changedBrackets,
  ordinarySpaces,
  spacedColon,
  otherIndents,
  quotedValues,
  removedLine,
];

/** A quote that is not closed on its line: the rest of the line, from the quote on. */
const openQuote = /(?<=^|[\s[{(,:-])(["'])(?:(?!\1).)*$/gm;

/** A quote is closed on its line: before the brackets at its end, or after them. */
function* closedQuotes({ text }: Broken): Generator<Repair> {
  for (const { 0: rest, 1: sign = "", index: offset } of text.matchAll(openQuote)) {
    const reason = `the quote ${sign} is not closed on its line`;
    const hint = `close it with ${sign}`;
    for (const { length } of [rest.replace(/[\s,}\]]+$/, ""), rest]) {
      yield { start: offset + length, end: offset + length, text: sign, reason, hint, offset };
    }
  }
}

/** A bracket that nothing closes is closed or removed, and one that closes nothing is removed. */
function* changedBrackets({ text, error }: Broken): Generator<Repair> {
  const wordsFor = (offset: number) => {
    const reason = `the ${text.charAt(offset)} is not closed`;
    return { reason, hint: `close it with ${closingOf(text, [offset])}, or remove it`, offset };
  };
  const atError = openBrackets(text.slice(0, error.offset)).slice(-1);
  const atEnd = openBrackets(text);
  for (const open of [atError, atEnd]) {
    const innermost = open.at(-1);
    if (innermost === undefined) continue;
    for (const end of [error.offset, endOfLine(text, innermost), text.length]) {
      if (end > innermost) yield { start: end, end, text: closingOf(text, open), ...wordsFor(innermost) };
    }
  }
  for (const start of [...atEnd, ...atError]) yield { start, end: start + 1, text: "", ...wordsFor(start) };

  const sign = text.charAt(error.offset);
  if (sign !== "}" && sign !== "]") return;
  const reason = `there is no bracket that this ${sign} closes`;
  const hint = "remove it, or add the opening one";
  yield { start: error.offset, end: error.offset + 1, text: "", reason, hint };
}

/** A text in quotes, or a comment: its brackets open nothing. */
const quotedOrComment = /(?<!\w)(["'])(?:(?!\1).)*\1|(?<=\s|^)#.*/gm;

/** The offsets of the brackets that are open at the end, from the outermost to the innermost. */
function openBrackets(text: string): number[] {
  const syntax = text.replace(quotedOrComment, ({ length }) => " ".repeat(length));
  const open: number[] = [];
  for (const { 0: sign, index } of syntax.matchAll(/[{}[\]]/g)) {
    if (sign === "{" || sign === "[") open.push(index);
    else if (closingOf(syntax, open.slice(-1)) === sign) open.pop();
  }
  return open;
}

/** What closes open brackets, the innermost first. */
function closingOf(text: string, open: readonly number[]): string {
  let closing = "";
  for (const offset of open) closing = (text[offset] === "{" ? "}" : "]") + closing;
  return closing;
}

/** Web pages and documents have other spaces in indents, and no editor shows them. */
function* ordinarySpaces({ text }: Broken): Generator<Repair> {
  const hint = "indent this line with ordinary spaces";
  for (const { 0: indent, index: start } of text.matchAll(/^ *[^\S \t\n\r]+/gm)) {
    const offset = start + indent.search(/[^ ]/);
    const reason = "the indent has a sign that only looks like a space";
    yield { start, end: start + indent.length, text: " ".repeat(indent.length), reason, hint, offset };
  }
}

/** `type bank` lacks its colon, `version:1` the space after it. */
function* spacedColon({ line, lineStart }: Broken): Generator<Repair> {
  const [, before, name, value] = /^(\s*(?:- )?)([\w-]+)(?::[^\S ]*| +)([^\s:].*)$/.exec(line) ?? [];
  if (before === undefined) return;
  const text = `${name}: ${value}`;
  const reason = `${quote(line.slice(before.length).trim())} is not a field`;
  const end = lineStart + line.length;
  yield { start: lineStart + before.length, end, text, reason, hint: `write ${text.trim()}` };
}

/** A line of words, which is no field. */
function* removedLine({ line, lineStart }: Broken): Generator<Repair> {
  if (!/^[\w\s-]+$/.test(line)) return;
  const reason = `${quote(line.trim())} is not a field`;
  const hint = "write it as name: value, or remove it";
  yield { start: lineStart + indentOf(line), end: lineStart + line.length, text: "", reason, hint };
}

/** A value up to a comma, or to the end of its line without the brackets there; a mapping or a list is none. */
const value = /(?<=[:-] +)(?:'.*'|\{\{.*?\}|[^\s"'#{[!&|>].*?)(?=\s*(?:,\s|(?:\s*[}\]])*\s*$))/g;

/** Quotes are put around a text with a colon, a bracket or an apostrophe, which YAML reads as more than a text. */
function* quotedValues({ error, line, lineStart }: Broken): Generator<Repair> {
  for (const { 0: found, index } of line.matchAll(value)) {
    const start = lineStart + index;
    // The brackets that it opens are its own.
    const written = line.slice(index, index + found.length + openBrackets(found).length);
    const isInBrackets = openBrackets(line.slice(0, index)).length > 0;
    const isSeveralFields = isInBrackets && written.includes(": ");
    if (start > error.offset || isSeveralFields || !/[:{}[\]'`@%*]/.test(written)) continue;

    const text = JSON.stringify(written.replace(/^'(.*)'$/, "$1"));
    const reason = "this text needs double quotes";
    yield { start, end: start + written.length, text, reason, hint: `write ${text}` };
  }
}

/** The most indents of lines above that are tried. */
const maxIndents = 4;

/** The line of the error, or the next one, gets the indent of a line above, together with the lines inside it. */
function* otherIndents({ text, error }: Broken): Generator<Repair> {
  const first = startOfField(text, error.offset);
  for (const start of [first, startOfField(text, endOfLine(text, first) + 1)]) {
    const block = blockAt(text, start);
    const indent = indentOf(block);
    const [, name = ""] = /^ *(?:- )?([^\s:]*)/.exec(block) ?? [];
    const linesAbove = text.slice(0, start).split("\n").reverse();

    const triedIndents = new Set([indent]);
    for (const above of linesAbove.filter((line) => /^ *[^\s#]/.test(line))) {
      // A line with a dash has the indent of its item, and that of the dash.
      for (const neighborIndent of [above.search(/[^ -]|$/), indentOf(above)]) {
        if (triedIndents.has(neighborIndent) || triedIndents.size > maxIndents) continue;
        triedIndents.add(neighborIndent);
        const reason = `${quote(name)} is not indented like its neighbors`;
        const hint = `indent it to column ${neighborIndent + 1}, like ${quote(above.trim())}`;
        const replacement = shifted(block, neighborIndent - indent);
        yield { start, end: start + block.length, text: replacement, reason, hint, offset: start + indent };
      }
    }
  }
}

/** What the parser says, and a hint by the code of its error. */
function problemInParsersWords({ code, message, offset }: ParseError): SyntaxProblem {
  // Its own words name an option of ours.
  if (code === "NON_STRING_KEY") {
    return { offset, reason: "a name must be a text", hint: "write a plain name" };
  }
  const reason = message.slice(0, 1).toLowerCase() + message.slice(1);
  const hint = hintsByCode[message.startsWith("Missing , or :") ? "BLOCK_IN_FLOW" : code];
  return { offset, reason, hint };
}
