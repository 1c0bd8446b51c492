import {
  Composer,
  type Document,
  type DocumentOptions,
  Lexer,
  type ParseOptions,
  Parser,
  type SchemaOptions,
} from "yaml";
import { scenarioLimits } from "../format/scenario-limits.js";
import type { SourceText } from "../source-text.js";
import { hasPartOfSecret } from "./secret-lines.js";
import { type ParseError, syntaxProblem } from "./syntax-problem.js";
import { mergeKeyProblem, type TextProblem } from "./text-problem.js";

// A text becomes one document of YAML.

const shorten = "shorten it, or use population";

/** The maximum number of errors: the rest of the text is not read. */
const maximumErrors = 20;

/** The stack of the parser has a few entries besides those of the levels: this many more are no mistake of the text. */
const levelsOfParser = 8;

const options = {
  // Even with a `%YAML 1.1` line, so that `yes` and dates stay text.
  schema: "core",
  // So that `!!float 3` is 3: the core schema has this tag only for numbers with a point.
  customTags: [{ tag: "tag:yaml.org,2002:float", resolve: (text: string) => Number(text) }],
  merge: false,
  // Other tags make dates, sets and bytes, which are not plain data.
  resolveKnownTags: false,
  // `nameProblems` finds duplicates in linear time.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** Where the reading of a text stopped, and why. */
interface Stopped {
  readonly kind: "stopped";
  readonly offset: number;
  readonly problem: TextProblem;
}

interface OneDocument {
  readonly kind: "document";
  readonly document: Document.Parsed;
}

/** Reads the only document of a text. */
export function readDocument(source: SourceText): OneDocument | Stopped {
  const { text } = source;
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    const message = `the scenario is larger than ${bytes / 2 ** 20} MiB`;
    return stoppedAt(0, { code: "too_large", message, hint: shorten });
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary !== -1) {
    return stoppedAt(binary, {
      code: "not_text",
      message: "the file is not text in UTF-8",
      hint: "save it as plain text in UTF-8",
    });
  }

  const parsed = parseTokens(text);
  if (parsed.kind === "stopped") return parsed;
  const { first: document, second } = parsed;
  if (second !== undefined) {
    return stoppedAt(second.range[0], {
      code: "several_documents",
      message: "a second document starts here",
      hint: "put one scenario into a file",
    });
  }
  const error = firstErrorIn(document);
  if (error === undefined) return { kind: "document", document };

  // Formatters write merge keys with this tag.
  if (/^!!merge +<</.test(text.slice(error.offset, error.offset + 100))) {
    return stoppedAt(error.offset, mergeKeyProblem);
  }
  const { offset, reason, hint } = syntaxProblem(error, text, {
    errorAfterRepair,
    hasSecretAt: (at) => hasPartOfSecret(source, at),
  });
  if (error.code === "TAG_RESOLVE_FAILED") {
    return stoppedAt(offset, { code: "not_plain_data", message: `not plain data: ${reason}`, hint });
  }
  return stoppedAt(offset, { code: "yaml_syntax", message: `not valid YAML: ${reason}`, hint });
}

function stoppedAt(offset: number, problem: TextProblem): Stopped {
  return { kind: "stopped", offset, problem };
}

/** The first error of a text that `syntaxProblem` has repaired; `undefined` if there is none, or the text is too large or too deep. */
function errorAfterRepair(text: string): ParseError | undefined {
  const parsed = parseTokens(text);
  return parsed.kind === "parsed" ? firstErrorIn(parsed.first) : undefined;
}

/** The first error of a document: other errors are often consequences of it. */
function firstErrorIn(document: Document.Parsed): ParseError | undefined {
  // A tag that the core schema does not have is a warning.
  const error = document.errors[0] ?? document.warnings[0];
  if (error === undefined) return undefined;
  return { code: error.code, message: error.message, offset: error.pos[0] };
}

interface Parsed {
  readonly kind: "parsed";
  readonly first: Document.Parsed;
  readonly second: Document.Parsed | undefined;
}

/** Reads a text token by token, because a hostile text could exhaust the stack or take minutes. */
function parseTokens(text: string): Parsed | Stopped {
  const { levels, lexemes: maxLexemes } = scenarioLimits;
  const parser = new Parser();
  const composer = new Composer(options);
  const documents: Document.Parsed[] = [];
  let lexemes = 0;
  let errors = 0;

  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errors += 1;
      documents.push(...composer.next(token));
    }

    if (parser.stack.length > levels + levelsOfParser) {
      return stoppedAt(parser.offset, {
        code: "too_deep",
        message: `nested deeper than ${levels} levels`,
        hint: "the format needs only seven",
      });
    }
    lexemes += 1;
    if (lexemes > maxLexemes) {
      return stoppedAt(parser.offset, {
        code: "too_large",
        message: `the scenario has more than ${maxLexemes} words and signs`,
        hint: shorten,
      });
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const [first, second] = documents;
  return { kind: "parsed", first: first as Document.Parsed, second }; // `end(true)` makes one of an empty text
}
