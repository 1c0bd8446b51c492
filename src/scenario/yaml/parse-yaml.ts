import {
  Composer,
  type Document,
  type DocumentOptions,
  isScalar,
  Lexer,
  type Node,
  type Pair,
  type ParseOptions,
  Parser,
  type SchemaOptions,
} from "yaml";
import { scenarioLimits } from "../format/fields.js";
import type { FieldProblem } from "../problems.js";

// A text is parsed token by token, because a hostile text could exhaust the stack or take minutes.

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
  // `checkNodes` finds duplicates in linear time.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** Thrown where the parsing of a text stops. */
export class Stop extends Error {
  constructor(
    readonly offset: number,
    readonly code: FieldProblem["code"],
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** Parses the first two documents of a text. Throws a `Stop` in one that is too large or too deep. */
export function parseYaml(text: string): readonly [Document.Parsed, Document.Parsed?] {
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
      const message = `nested deeper than ${levels} levels`;
      throw new Stop(parser.offset, "too_deep", message, "the format needs only seven");
    }
    lexemes += 1;
    if (lexemes > maxLexemes) {
      const message = `the scenario has more than ${maxLexemes} words and signs`;
      throw new Stop(parser.offset, "too_large", message, shortenHint);
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  return documents as unknown as [Document.Parsed, Document.Parsed?]; // `end(true)` makes one of an empty text
}

/** The first error of a document: other errors are often consequences of it. */
export function firstErrorIn({ errors, warnings }: Document.Parsed) {
  // A tag that the core schema does not have is a warning.
  return errors[0] ?? warnings[0];
}

export type MapPair = Pair<Node, Node | null>;

/** The text of a name; empty for a name that is no text. */
export function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** Whether a field has no value: `keys:`, `keys: null`. */
export function isEmpty(value: Node | null): boolean {
  return value === null || (isScalar(value) && value.value === null);
}
