import { Composer, type Document, Lexer, Parser } from "yaml";
import type { Finding } from "./finding.js";
import { maximumDepth } from "./located.js";
import type { ScenarioSource } from "./scenario-source.js";

/** How many pieces (names, values, punctuation, line ends) a scenario may have; a thousand keys need about 40,000. */
const maximumPieces = 250_000;
/** After so many errors the rest of the text is not looked at. */
const maximumErrors = 20;

// The core schema whatever a `%YAML 1.1` line says, so that `yes` and dates stay text. Duplicate names are found by
// the reader, which does it in linear time.
const options = { schema: "core", merge: false, uniqueKeys: false, prettyErrors: false } as const;

/**
 * The one YAML document of a text, or `undefined` with findings that say why there is none.
 *
 * Reads piece by piece and stops at the first limit it meets: a hostile text could otherwise exhaust the stack or
 * keep the composer busy for minutes.
 */
export function composeYaml(source: ScenarioSource, findings: Finding[]): Document.Parsed | undefined {
  const report = (code: Finding["code"], message: string, hint: string | undefined, offset: number) =>
    findings.push({ code, message, hint, path: [], place: { source, offset } });

  const parser = new Parser();
  const composer = new Composer(options);
  const documents: Document.Parsed[] = [];
  let pieces = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(source.text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errors += 1;
      documents.push(...composer.next(token));
    }
    if (parser.stack.length > maximumDepth + 8) {
      report(
        "too_deep",
        `nested deeper than ${maximumDepth} levels`,
        "the format itself needs seven",
        parser.offset,
      );
      return undefined;
    }
    if (++pieces > maximumPieces) {
      report(
        "too_large",
        "the scenario has too many parts",
        "split it, or let the seed invent more of it",
        parser.offset,
      );
      return undefined;
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, source.text.length));

  const [document, second] = documents;
  if (second !== undefined) {
    const offset = second.range[0];
    report("several_documents", "a second document begins here", "put one scenario into a file", offset);
    return undefined;
  }
  if (document === undefined) return undefined;
  for (const error of document.errors.slice(0, maximumErrors)) {
    report("yaml_syntax", `not valid YAML: ${wordingOf(error.message)}`, hintFor(error), error.pos[0]);
  }
  return document.errors.length > 0 ? undefined : document;
}

// The composer says the same of a bracket that is never closed and of one that is closed too far to the left.
const unclosed = /must be sufficiently indented and end with a ([}\]])/;

function hintFor({ code, message }: { code: string; message: string }): string | undefined {
  return unclosed.test(message) ? syntaxHints.MISSING_CHAR : syntaxHints[code];
}

function wordingOf(message: string): string {
  const [, closing] = message.match(unclosed) ?? [];
  if (closing !== undefined) return `a ${closing} is missing, or lines before it are not indented enough`;
  return message.slice(0, 1).toLowerCase() + message.slice(1);
}

const syntaxHints: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces; YAML does not allow tabs",
  BLOCK_AS_IMPLICIT_KEY: "put quotes around a text that holds a colon and a space",
  MISSING_CHAR: "close the quote or bracket that was opened before",
  BAD_INDENT: "indent the members of one mapping by the same number of spaces",
  MULTILINE_IMPLICIT_KEY: "is a colon missing, or a space after it?",
  BAD_SCALAR_START: "put quotes around a text that begins with a special character",
};
