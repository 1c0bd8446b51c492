import { type Document, visit, type YAMLError } from "yaml";
import { quote } from "../rules/schema/words.js";

/** A quote that ends on another line than it starts, and with it the error; `undefined` if there is none. */
function openQuote(
  document: Document.Parsed,
  { message, pos: [end] }: YAMLError,
  text: string,
): SyntaxProblem | undefined {
  let at: number | undefined;
  const lastLine = text.lastIndexOf("\n", end - 1) + 1;
  visit(document, {
    Scalar(_, { type = "", range }) {
      const [start = end, until = end] = range ?? [];
      if (!type.startsWith("QUOTE") || start >= end) return;
      const isNear = until >= lastLine && text.slice(start, until).includes("\n");
      if (message.startsWith("Missing closing") || isNear) at = start;
    },
  });
  if (at === undefined) return undefined;
  return { at, said: `the quote ${text[at]} is not closed on its line`, hint: `close it with ${text[at]}` };
}

type SyntaxProblem = { readonly at?: number; readonly said: string; readonly hint?: string | undefined };

export function syntaxProblem(error: YAMLError, text: string, document: Document.Parsed): SyntaxProblem {
  // Pages and documents have them, and no editor shows them.
  const [indent = "", space = ""] = /^ *([^\S \t\n\r])/m.exec(text) ?? [];
  if (space !== "")
    return {
      at: text.indexOf(indent) + indent.length - 1,
      said: `the indent has U+${space.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}, which only looks like a space`,
      hint: "indent this line with ordinary spaces",
    };
  return (
    templateProblem(error, text) ??
    openQuote(document, error, text) ??
    bracketProblem(error, text) ??
    lineProblem(error, text)
  );
}

/** Other tools replace `${KEY}` and `{{ key }}` before they read a text. */
function templateProblem({ pos: [, end] }: YAMLError, text: string): SyntaxProblem | undefined {
  const start = text.lastIndexOf("\n", end - 1) + 1;
  const [line = ""] = text.slice(start).split("\n");
  const column = line.search(/\$\{\w|\{\{/);
  if (column === -1) return undefined;
  const said = "a scenario has no variables and no templates";
  return { at: start + column, said, hint: "write the value, or replace them before" };
}

function bracketProblem({ code, message, pos: [start] }: YAMLError, text: string): SyntaxProblem | undefined {
  const sign = text.charAt(start);
  const opened = unclosedBefore(text, start);
  const never = new Set(unclosedBefore(text, text.length));
  const isClosed = /[}\]]/.test(sign) && opened.some((at) => text[at] === (sign === "}" ? "{" : "["));
  const [, closing] = / end with a ([}\]])/.exec(message) ?? [];
  if (/[}\]]/.test(sign) && !isClosed && (closing || code === "UNEXPECTED_TOKEN")) {
    return {
      said: `there is no bracket that this ${sign} closes`,
      hint: "remove it, or add the opening one",
    };
  }
  const at = closing === undefined ? opened.find((one) => never.has(one)) : opened.at(-1);
  if (at !== undefined) {
    const [opening] = text.slice(at);
    return {
      at,
      said: `the ${opening} is not closed`,
      hint: `close it with ${opening === "{" ? "}" : "]"}, or remove it`,
    };
  }
  return undefined;
}

function lineProblem({ code, message, pos: [start] }: YAMLError, text: string): SyntaxProblem {
  const rest = text.slice(start);
  const [, word = "", above = "", name = ""] = /^(([^\n]*)(?:\n *([^\s:]+):)?)/.exec(rest) ?? [];
  const isKey = code === "MULTILINE_IMPLICIT_KEY" || /^Implicit map keys/.test(message);
  const before = text.slice(text.lastIndexOf("\n", start) + 1, start);
  if (code === "BLOCK_AS_IMPLICIT_KEY" && name !== "" && !above.includes(": ")) {
    const said = `${quote(name)} is indented, but the line above has a value`;
    return {
      at: start + word.length - name.length - 1,
      said,
      hint: "indent it like the field of the line above",
    };
  }
  if (isKey && /^[\s-]*$/.test(before)) {
    const spaced = above.trim().replace(/^(\w+):[^\S ]*(?=\S)/, "$1: ");
    const hint = spaced === above.trim() ? "write it as name: value, or remove it" : `write ${spaced}`;
    return { said: `${quote(above.trim())} is not a field`, hint };
  }
  if (code === "NON_STRING_KEY") {
    const isAlias = text[start] === "*";
    const said = isAlias ? "an alias (*) is a value, and no name" : "a name must be a text";
    return { said, hint: isAlias ? "write the name itself" : "write a plain name" };
  }
  const said = message.slice(0, 1).toLowerCase() + message.slice(1);
  // The error of a wrong indent is before the comments and empty lines above the line.
  const next = start + (/^(?:[ \r\n]|(?<![^ \n])#.*)*/.exec(rest)?.[0].length ?? 0);
  const isIndent = text.slice(text.lastIndexOf("\n", next - 1) + 1, next).trim() === "";
  if (/^Missing , or :/.test(message)) return { at: next, said, hint: syntaxHints.BLOCK_IN_FLOW };
  const isOther = isIndent && (/UNEXPECTED_TOKEN|MISSING_CHAR/.test(code) || text[next] === "-");
  return { at: next, said, hint: syntaxHints[isOther ? "BAD_INDENT" : code] };
}

const bracketOrSkipped = /(?<![\w"])"[^"\n]*"|(?<![\w'])'[^'\n]*'|(?<=\s|^)#.*|[{}[\]]/gm;

/** The offsets of the brackets before a place that nothing closes there, without those in quotes and comments. */
function unclosedBefore(text: string, end: number): number[] {
  const open: number[] = [];
  for (const { 0: sign, index } of text.slice(0, end).matchAll(bracketOrSkipped)) {
    if (sign === "{" || sign === "[") open.push(index);
    else if (text[open.at(-1) ?? -1] === (sign === "}" ? "{" : "[")) open.pop();
  }
  return open;
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
