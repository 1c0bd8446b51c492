import {
  Composer,
  type Document,
  type DocumentOptions,
  Lexer,
  type ParseOptions,
  Parser,
  type SchemaOptions,
} from "yaml";
import { scenarioLimits } from "../format/fields.js";
import { textProblem } from "../places.js";
import type { FieldProblem, SourceText } from "../problems.js";
import { syntaxProblem } from "./syntax-problem.js";

// A text is parsed token by token, because a hostile text could exhaust the stack or take minutes.

const shortenHint = "shorten it, or use population";

/** The maximum number of errors: the rest of the text is not read. */
const maximumErrors = 20;

/** The stack of the parser has a few entries that are no level of the text. */
const parserEntriesBesideLevels = 8;

const options = {
  // Even with a `%YAML 1.1` line, so that `yes` and dates stay text.
  schema: "core",
  // So that `!!float 3` is 3: the core schema has this tag only for numbers with a point.
  customTags: [{ tag: "tag:yaml.org,2002:float", resolve: (text: string) => Number(text) }],
  merge: false,
  // Other tags make dates, sets and bytes, which are not plain data.
  resolveKnownTags: false,
  // `checkNodes` finds duplicates in linear time.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** The only document of a text, or why it has none. */
export function parseYaml(source: SourceText): Document.Parsed | FieldProblem {
  const { text } = source;
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    const message = `the scenario is larger than ${bytes / 2 ** 20} MiB`;
    return textProblem(source, 0, "too_large", message, shortenHint);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary !== -1) {
    const message = "the file is not text in UTF-8";
    return textProblem(source, binary, "not_text", message, "save it as plain text in UTF-8");
  }

  const documents = parseDocuments(source);
  if ("code" in documents) return documents;
  const [document, second] = documents;
  if (second !== undefined) {
    const hint = "put one scenario into a file";
    return textProblem(source, second.range[0], "several_documents", "a second document starts here", hint);
  }
  // The first error: others are often consequences of it. A tag that the core schema does not have is a warning.
  const error = document.errors[0] ?? document.warnings[0];
  return error === undefined ? document : syntaxProblem(error, source);
}

/** The first two documents of a text, or why it is too large or too deep. */
function parseDocuments(source: SourceText): readonly [Document.Parsed, Document.Parsed?] | FieldProblem {
  const { levels, lexemes: maxLexemes } = scenarioLimits;
  const parser = new Parser();
  const composer = new Composer(options);
  const documents: Document.Parsed[] = [];
  let lexemes = 0;
  let errors = 0;

  for (const lexeme of new Lexer().lex(source.text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errors += 1;
      documents.push(...composer.next(token));
    }

    if (parser.stack.length > levels + parserEntriesBesideLevels) {
      const message = `nested deeper than ${levels} levels`;
      return textProblem(source, parser.offset, "too_deep", message, "the format needs only seven");
    }
    lexemes += 1;
    if (lexemes > maxLexemes) {
      const message = `the scenario has more than ${maxLexemes} words and signs`;
      return textProblem(source, parser.offset, "too_large", message, shortenHint);
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, source.text.length));
  return documents as unknown as [Document.Parsed, Document.Parsed?]; // `end(true)` makes one of an empty text
}
