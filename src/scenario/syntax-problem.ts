import { type Document, visit, type YAMLError } from "yaml";
import { quote } from "../rules/schema/words.js";

interface SyntaxProblem {
  /** Default: the place of the error. */
  readonly offset?: number;
  readonly said: string;
  readonly hint?: string | undefined;
}

/** What is wrong with a text that is not YAML, and how to fix it: the first cause that applies. */
export function syntaxProblem(error: YAMLError, text: string, document: Document.Parsed): SyntaxProblem {
  return (
    indentProblem(text) ??
    templateProblem(error, text) ??
    quoteProblem(error, text, document) ??
    bracketProblem(error, text) ??
    lineProblem(error, text)
  );
}

/** Pages and documents have other spaces, and no editor shows them. */
function indentProblem(text: string): SyntaxProblem | undefined {
  const [indent = "", space = ""] = /^ *([^\S \t\n\r])/m.exec(text) ?? [];
  if (space === "") return undefined;

  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return {
    offset: text.indexOf(indent) + indent.length - 1,
    said: `the indent has U+${code}, which only looks like a space`,
    hint: "indent this line with ordinary spaces",
  };
}

/** Other tools replace `${KEY}` and `{{ key }}` before they read a text. */
function templateProblem(error: YAMLError, text: string): SyntaxProblem | undefined {
  const [, end] = error.pos;
  const start = text.lastIndexOf("\n", end - 1) + 1;
  const [line = ""] = text.slice(start).split("\n");
  const column = line.search(/\$\{\w|\{\{/);
  if (column === -1) return undefined;

  const said = "a scenario has no variables and no templates";
  return { offset: start + column, said, hint: "write the value, or replace them before" };
}

/** The last quote before the error that is closed only on another line, if the error can come from it. */
function quoteProblem(error: YAMLError, text: string, document: Document.Parsed): SyntaxProblem | undefined {
  const [end] = error.pos;
  const isNeverClosed = error.message.startsWith("Missing closing");
  const lineOfError = text.lastIndexOf("\n", end - 1) + 1;

  let offset: number | undefined;
  visit(document, {
    Scalar(_, { type = "", range }) {
      const [start = end, until = end] = range ?? [];
      if (!type.startsWith("QUOTE") || start >= end) return;
      const isClosedThere = until >= lineOfError && text.slice(start, until).includes("\n");
      if (isNeverClosed || isClosedThere) offset = start;
    },
  });
  if (offset === undefined) return undefined;

  const sign = text[offset];
  return { offset, said: `the quote ${sign} is not closed on its line`, hint: `close it with ${sign}` };
}

function bracketProblem(error: YAMLError, text: string): SyntaxProblem | undefined {
  const [start] = error.pos;
  const opened = unclosedBefore(text, start);
  const [, closing] = / end with a ([}\]])/.exec(error.message) ?? [];

  const sign = text.charAt(start);
  if (sign === "}" || sign === "]") {
    const isOpened = opened.some((offset) => text[offset] === openingOf(sign));
    const isWrong = closing !== undefined || error.code === "UNEXPECTED_TOKEN";
    if (isWrong && !isOpened) {
      return {
        said: `there is no bracket that this ${sign} closes`,
        hint: "remove it, or add the opening one",
      };
    }
  }

  let offset = opened.at(-1);
  if (closing === undefined) {
    // Any error may come from a bracket that is open there, and that nothing closes after it.
    const neverClosed = new Set(unclosedBefore(text, text.length));
    offset = opened.find((one) => neverClosed.has(one));
  }
  if (offset === undefined) return undefined;

  const opening = text.charAt(offset);
  const closingSign = opening === "{" ? "}" : "]";
  return {
    offset,
    said: `the ${opening} is not closed`,
    hint: `close it with ${closingSign}, or remove it`,
  };
}

const bracketOrSkipped = /(?<![\w"])"[^"\n]*"|(?<![\w'])'[^'\n]*'|(?<=\s|^)#.*|[{}[\]]/gm;

/** The offsets of the brackets before a place that nothing closes there, without those in quotes and comments. */
function unclosedBefore(text: string, end: number): number[] {
  const open: number[] = [];
  for (const { 0: sign, index } of text.slice(0, end).matchAll(bracketOrSkipped)) {
    if (sign === "{" || sign === "[") open.push(index);
    else if (text[open.at(-1) ?? -1] === openingOf(sign)) open.pop();
  }
  return open;
}

function openingOf(closing: string): string {
  return closing === "}" ? "{" : "[";
}

/** The problem of the line with the error. */
function lineProblem(error: YAMLError, text: string): SyntaxProblem {
  const { code, message } = error;
  const [start] = error.pos;
  const rest = text.slice(start);
  // The rest of the line; also up to a name in the next line, if that has one.
  const [, upToName = "", line = "", name = ""] = /^(([^\n]*)(?:\n *([^\s:]+):)?)/.exec(rest) ?? [];

  if (code === "BLOCK_AS_IMPLICIT_KEY" && name !== "" && !line.includes(": ")) {
    return {
      offset: start + upToName.length - name.length - 1,
      said: `${quote(name)} is indented, but the line above has a value`,
      hint: "indent it like the field of the line above",
    };
  }

  const isName = code === "MULTILINE_IMPLICIT_KEY" || message.startsWith("Implicit map keys");
  const before = text.slice(text.lastIndexOf("\n", start) + 1, start);
  const startsLine = /^[\s-]*$/.test(before);
  if (isName && startsLine) {
    const written = line.trim();
    const spaced = written.replace(/^(\w+):[^\S ]*(?=\S)/, "$1: ");
    const hint = spaced === written ? "write it as name: value, or remove it" : `write ${spaced}`;
    return { said: `${quote(written)} is not a field`, hint };
  }

  if (code === "NON_STRING_KEY") {
    const isAlias = text[start] === "*";
    if (isAlias) return { said: "an alias (*) is a value, and no name", hint: "write the name itself" };
    return { said: "a name must be a text", hint: "write a plain name" };
  }

  const said = message.slice(0, 1).toLowerCase() + message.slice(1);
  // The error of a wrong indent is before the comments and empty lines above the line.
  const [skipped = ""] = /^(?:[ \r\n]|(?<![^ \n])#.*)*/.exec(rest) ?? [];
  const offset = start + skipped.length;
  if (message.startsWith("Missing , or :")) return { offset, said, hint: syntaxHints.BLOCK_IN_FLOW };

  const indent = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const mayBeIndent = code === "UNEXPECTED_TOKEN" || code === "MISSING_CHAR" || text[offset] === "-";
  const isIndent = mayBeIndent && indent.trim() === "";
  return { offset, said, hint: syntaxHints[isIndent ? "BAD_INDENT" : code] };
}

const syntaxHints: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces; YAML does not allow tabs",
  BLOCK_AS_IMPLICIT_KEY: "put quotes around a text that contains a colon and a space",
  MISSING_CHAR: "close the quote or bracket that was opened before",
  BAD_INDENT: "indent the members of one mapping by the same number of spaces",
  TAG_RESOLVE_FAILED: "remove the tag",
  BLOCK_IN_FLOW: "write a colon after a name, and separate the fields with commas",
  BAD_SCALAR_START: "put quotes around a text that starts with a special character",
};
