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
import type { TextProblem } from "./text-problem.js";

// A text is read token by token, because a hostile text could exhaust the stack or take minutes.

export const shortenHint = "shorten it, or use population";

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
  // `nameProblems` finds duplicates in linear time.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

interface Parsed {
  readonly kind: "parsed";
  readonly first: Document.Parsed;
  readonly second: Document.Parsed | undefined;
}

/** Where the reading of a text stopped, and why. */
export interface Stopped {
  readonly kind: "stopped";
  readonly offset: number;
  readonly problem: TextProblem;
}

export function stoppedAt(offset: number, problem: TextProblem): Stopped {
  return { kind: "stopped", offset, problem };
}

/** Reads the first two documents of a text; stops at one that is too large or too deep. */
export function parseTokens(text: string): Parsed | Stopped {
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

    if (parser.stack.length > levels + parserEntriesBesideLevels) {
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
        hint: shortenHint,
      });
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const [first, second] = documents;
  return { kind: "parsed", first: first as Document.Parsed, second }; // `end(true)` makes one of an empty text
}

/** An error of the parser. */
export interface ParseError {
  readonly code: string;
  readonly message: string;
  readonly offset: number;
}

/** The first error of a document: other errors are often consequences of it. */
export function firstErrorIn(document: Document.Parsed): ParseError | undefined {
  // A tag that the core schema does not have is a warning.
  const error = document.errors[0] ?? document.warnings[0];
  if (error === undefined) return undefined;
  return { code: error.code, message: error.message, offset: error.pos[0] };
}
