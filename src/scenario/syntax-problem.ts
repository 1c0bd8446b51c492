import { type Document, visit, type YAMLError } from "yaml";
import { quote } from "../schema/words.js";

interface SyntaxProblem {
  /** Default: the place of the error. */
  readonly offset?: number;
  /** What is wrong: the end of the sentence `not valid YAML: …`. */
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** By the code of the error, for errors whose own words do not say how to fix them. */
const hintsByCode: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces; YAML does not allow tabs",
  BLOCK_AS_IMPLICIT_KEY: "put quotes around a text that contains a colon and a space",
  MISSING_CHAR: "close the quote or bracket that was opened before",
  BAD_INDENT: "indent the members of one mapping by the same number of spaces",
  TAG_RESOLVE_FAILED: "remove the tag",
  BLOCK_IN_FLOW: "write a colon after a name, and separate the fields with commas",
  BAD_SCALAR_START: "put quotes around a text that starts with a special character",
};

/** What is wrong with a text that is not YAML, and how to fix it: the first cause that applies to its first error. */
export function syntaxProblem(error: YAMLError, text: string, document: Document.Parsed): SyntaxProblem {
  const values = wholeValues(error, text, document);
  const syntax = syntaxAlone(text, values);
  return (
    templateProblem(error, text, syntax) ??
    quoteProblem(error, text, values) ??
    bracketProblem(error, syntax) ??
    indentProblem(error, text, values) ??
    nestingProblem(error, text) ??
    colonProblem(error, text) ??
    nameProblem(error, text) ??
    problemInParsersWords(error, text)
  );
}

/** A quoted text, a block of text or a plain value: whatever it looks like inside, it is only a value. */
interface WholeValue {
  readonly isQuoted: boolean;
  readonly start: number;
  readonly end: number;
}

/** The values that the parser read, in the order of the text. */
function wholeValues(error: YAMLError, text: string, document: Document.Parsed): WholeValue[] {
  const [errorAt] = error.pos;
  const lineOfError = text.lastIndexOf("\n", errorAt - 1) + 1;
  const values: WholeValue[] = [];
  visit(document, {
    Scalar(_, { type = "PLAIN", range }) {
      const [start, end] = range ?? [0, 0];
      // In the line of the error and after it, the parser may have taken anything for a plain value.
      if (type === "PLAIN" && end >= lineOfError) return;
      values.push({ isQuoted: type.startsWith("QUOTE"), start, end });
    },
  });
  return values;
}

/** A comment, or a quoted text that the parser could not place. */
const quotedOrComment = /(?<![\w"])"[^"\n]*"|(?<![\w'])'[^'\n]*'|(?<=\s|^)#.*/gm;

/** The text with spaces in place of its values and comments: each sign that is left has its meaning for YAML. */
function syntaxAlone(text: string, values: readonly WholeValue[]): string {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  const parts: string[] = [];
  let done = 0;
  for (const { start, end } of values) {
    parts.push(text.slice(done, start), blank(text.slice(start, end)));
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join("").replace(quotedOrComment, blank);
}

/** Other tools replace `${KEY}` and `{{ key }}` before they read a text; YAML reads each `{` as a mapping. */
function templateProblem(error: YAMLError, text: string, syntax: string): SyntaxProblem | undefined {
  const [, end] = error.pos;
  const lineStart = text.lastIndexOf("\n", end - 1) + 1;
  const [line = ""] = text.slice(lineStart).split("\n");
  for (const { 0: sign, index } of line.matchAll(/\$\{\w|\{\{/g)) {
    const offset = lineStart + index;
    // In a value or a comment, it is valid.
    if (syntax[offset + sign.indexOf("{")] !== "{") continue;
    return {
      offset,
      reason: "a scenario has no variables and no templates",
      hint: "write the value, or replace them before",
    };
  }
  return undefined;
}

/** The last quote before the error that is closed only on another line, if the error can come from it. */
function quoteProblem(
  error: YAMLError,
  text: string,
  values: readonly WholeValue[],
): SyntaxProblem | undefined {
  const [errorAt] = error.pos;
  const isNeverClosed = error.message.startsWith("Missing closing");
  const lineOfError = text.lastIndexOf("\n", errorAt - 1) + 1;

  let offset: number | undefined;
  for (const { isQuoted, start, end } of values) {
    if (!isQuoted || start >= errorAt) continue;
    const isClosedAtError = end >= lineOfError && text.slice(start, end).includes("\n");
    if (isNeverClosed || isClosedAtError) offset = start;
  }
  if (offset === undefined) return undefined;

  const sign = text[offset];
  return { offset, reason: `the quote ${sign} is not closed on its line`, hint: `close it with ${sign}` };
}

/** A bracket that closes nothing, or that nothing closes. */
function bracketProblem(error: YAMLError, syntax: string): SyntaxProblem | undefined {
  const [errorAt] = error.pos;
  const opened = openBrackets(syntax.slice(0, errorAt));
  const isEndMissing = / end with a [}\]]/.test(error.message);

  const sign = syntax.charAt(errorAt);
  if (sign === "}" || sign === "]") {
    const isWrong = isEndMissing || error.code === "UNEXPECTED_TOKEN";
    const isOpened = opened.some((offset) => syntax[offset] === openingOf(sign));
    if (isWrong && !isOpened) {
      return {
        reason: `there is no bracket that this ${sign} closes`,
        hint: "remove it, or add the opening one",
      };
    }
  }

  // Any error may come from a bracket that nothing closes.
  let [offset] = openBrackets(syntax);
  if (isEndMissing) offset = opened.at(-1);
  if (offset === undefined || offset >= errorAt) return undefined;

  const opening = syntax.charAt(offset);
  const closing = opening === "{" ? "}" : "]";
  return {
    offset,
    reason: `the ${opening} is not closed`,
    hint: `close it with ${closing}, or remove it`,
  };
}

/** The offsets of the brackets that are open at the end, from the outermost to the innermost. */
function openBrackets(syntax: string): number[] {
  const open: number[] = [];
  for (const { 0: sign, index } of syntax.matchAll(/[{}[\]]/g)) {
    const innermost = open.at(-1);
    if (sign === "{" || sign === "[") open.push(index);
    else if (innermost !== undefined && syntax[innermost] === openingOf(sign)) open.pop();
  }
  return open;
}

function openingOf(closing: string): string {
  return closing === "}" ? "{" : "[";
}

/** The last indent before or at the error that has another space: web pages and documents have them, no editor shows them. */
function indentProblem(
  error: YAMLError,
  text: string,
  values: readonly WholeValue[],
): SyntaxProblem | undefined {
  const [, errorEnd] = error.pos;
  // YAML may have read the line below as a part of the value with the error.
  const [restAndLineBelow = ""] = /^[^\n]*(?:\n[^\n]*)?/.exec(text.slice(errorEnd)) ?? [];
  const lines = text.slice(0, errorEnd + restAndLineBelow.length);

  let offset: number | undefined;
  let value = 0;
  for (const { 0: indent, index } of lines.matchAll(/^ *[^\S \t\n\r]/gm)) {
    const spaceAt = index + indent.length - 1;
    // The first value that does not end before it: both are in the order of the text.
    while (value < values.length && (values[value]?.end ?? 0) <= spaceAt) value += 1;
    const isInValue = (values[value]?.start ?? spaceAt) < spaceAt;
    if (!isInValue) offset = spaceAt;
  }
  if (offset === undefined) return undefined;

  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, "0");
  return {
    offset,
    reason: `the indent has U+${code}, which only looks like a space`,
    hint: "indent this line with ordinary spaces",
  };
}

/** A field that is indented below a value, such as `  keys:` below `type: bank`: YAML reads them as one text. */
function nestingProblem(error: YAMLError, text: string): SyntaxProblem | undefined {
  if (error.code !== "BLOCK_AS_IMPLICIT_KEY") return undefined;
  const [errorAt] = error.pos;
  const [upToColon, line = "", name = ""] = /^([^\n]*)\n *([^\s:]+):/.exec(text.slice(errorAt)) ?? [];
  if (upToColon === undefined || line.includes(": ")) return undefined;
  return {
    offset: errorAt + upToColon.length - ":".length - name.length,
    reason: `${quote(name)} is indented, but the line above has a value`,
    hint: "indent it like the field of the line above",
  };
}

/** A line that should be a field and has no colon with a space after it. */
function colonProblem(error: YAMLError, text: string): SyntaxProblem | undefined {
  const { code, message } = error;
  const isNoField = code === "MULTILINE_IMPLICIT_KEY" || message.startsWith("Implicit map keys");
  if (!isNoField) return undefined;

  const [errorAt] = error.pos;
  const before = text.slice(text.lastIndexOf("\n", errorAt) + 1, errorAt);
  const startsLine = /^[\s-]*$/.test(before);
  if (!startsLine) return undefined;

  const [restOfLine = ""] = text.slice(errorAt).split("\n");
  const written = restOfLine.trim();
  const spaced = written.replace(/^(\w+):[^\S ]*(?=\S)/, "$1: ");
  let hint = "write it as name: value, or remove it";
  if (spaced !== written) hint = `write ${spaced}`;
  return { reason: `${quote(written)} is not a field`, hint };
}

/** A name that is an alias, a list or a mapping. */
function nameProblem(error: YAMLError, text: string): SyntaxProblem | undefined {
  if (error.code !== "NON_STRING_KEY") return undefined;
  const [errorAt] = error.pos;
  if (text[errorAt] === "*") {
    return { reason: "an alias (*) is a value, and no name", hint: "write the name itself" };
  }
  return { reason: "a name must be a text", hint: "write a plain name" };
}

/** What the parser says, and a hint by the code of its error. */
function problemInParsersWords(error: YAMLError, text: string): SyntaxProblem {
  const { code, message } = error;
  const [errorAt] = error.pos;
  const reason = message.slice(0, 1).toLowerCase() + message.slice(1);

  // The error of a wrong indent is before the comments and empty lines above the line.
  const [skipped = ""] = /^(?:[ \r\n]|(?<![^ \n])#.*)*/.exec(text.slice(errorAt)) ?? [];
  const offset = errorAt + skipped.length;
  if (message.startsWith("Missing , or :")) return { offset, reason, hint: hintsByCode.BLOCK_IN_FLOW };

  const before = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const startsLine = before.trim() === "";
  const mayBeIndent = code === "UNEXPECTED_TOKEN" || code === "MISSING_CHAR" || text[offset] === "-";
  if (startsLine && mayBeIndent) return { offset, reason, hint: hintsByCode.BAD_INDENT };
  return { offset, reason, hint: hintsByCode[code] };
}
