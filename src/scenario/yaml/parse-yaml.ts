import {
  Composer,
  type Document,
  type DocumentOptions,
  type ErrorCode,
  Lexer,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  type YAMLError,
} from "yaml";
import { scenarioLimits } from "../format/fields.js";
import { textProblem } from "../places.js";
import type { FieldProblem, SourceText } from "../problems.js";

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

// A text that is not YAML is shown where the parser gave up, with what usually mends such an error. The parser's own message is not
// shown: it may quote the text, and so a secret (R46).

/** What people need to know about an error of the parser. */
interface ErrorHint {
  readonly code: ErrorCode;
  /** The start of the parser's message, where a code has several. */
  readonly message?: RegExp;
  readonly reason: string;
  readonly hint: string;
}

const notField = {
  reason: "this is not a field",
  hint: "write it as name: value, with an ordinary colon and space, or remove it",
};
const unmatched = { reason: "the brackets do not match", hint: "close each { and [ once" };
const needsQuotes = {
  reason: "this text needs quotes",
  hint: 'put double quotes around it, and write a quote in it as \\"',
};
const otherLevel = {
  reason: "this line is not indented like its neighbors",
  hint: "indent what belongs together by the same number of spaces",
};

/** The first row that fits counts. */
const hints: readonly ErrorHint[] = [
  {
    code: "TAB_AS_INDENT",
    reason: "a tab is no indent",
    hint: "indent with spaces; YAML does not allow tabs",
  },
  { code: "MULTILINE_IMPLICIT_KEY", ...notField },
  { code: "MISSING_CHAR", message: /^Implicit/, ...notField },
  {
    code: "MISSING_CHAR",
    message: /^Missing closing/,
    reason: "a quote is not closed",
    hint: "close it on the line where it starts, here or above",
  },
  { code: "MISSING_CHAR", message: /^Sequence item/, ...otherLevel },
  {
    code: "MISSING_CHAR",
    reason: "a comma or a colon is missing",
    hint: "write a comma between two fields, and a colon after a name",
  },
  { code: "BAD_INDENT", message: /^Flow/, ...unmatched },
  { code: "BAD_INDENT", ...otherLevel },
  {
    code: "BLOCK_AS_IMPLICIT_KEY",
    reason: "a value has fields of its own",
    hint: "put double quotes around a text with a colon, or indent the next line like this one",
  },
  {
    code: "BLOCK_IN_FLOW",
    reason: "a value in brackets has fields of its own",
    hint: "put double quotes around a text with a colon, and a comma between two fields",
  },
  { code: "UNEXPECTED_TOKEN", message: /^Unexpected flow-(?:map|seq)-end/, ...unmatched },
  {
    code: "UNEXPECTED_TOKEN",
    message: /^Unexpected scalar/,
    reason: "this text is behind the end of another one",
    hint: "put double quotes around a text with quotes or signs in it, or indent the line like its neighbors",
  },
  { code: "UNEXPECTED_TOKEN", ...needsQuotes },
  { code: "BAD_SCALAR_START", ...needsQuotes },
  { code: "BAD_DQ_ESCAPE", reason: "this is no escape", hint: "write a backslash in double quotes as \\\\" },
  {
    code: "NON_STRING_KEY",
    reason: "a name must be a text",
    hint: "write a plain name, or double quotes around {{ }}",
  },
  {
    code: "TAG_RESOLVE_FAILED",
    reason: "this tag is not known",
    hint: "remove it, or put quotes around a text with !",
  },
];

/** The problem of a text that is not YAML, with how to fix it. */
function syntaxProblem({ code, message, pos }: YAMLError, source: SourceText): FieldProblem {
  const row = hints.find((one) => one.code === code && (one.message?.test(message) ?? true));
  const { reason = "the parser does not understand this", hint } = row ?? {};
  // An error at a comment is about the field after it.
  const { text } = source;
  let [offset] = pos;
  const lineStart = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  const toField = text.slice(lineStart).search(/^[ \t]*[^\s#]/m);
  if (toField > 0) offset = lineStart + toField;

  if (code !== "TAG_RESOLVE_FAILED") {
    return textProblem(source, offset, "yaml_syntax", `not valid YAML: ${reason}`, hint);
  }
  return textProblem(source, offset, "not_plain_data", `not plain data: ${reason}`, hint);
}
