import {
  Composer,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  stringify,
  visit,
} from "yaml";
import { maximumProblems } from "../../schema/problem.js";
import { nearest, quote } from "../../schema/words.js";
import { yamlNotation } from "../format/check-input.js";
import { scenarioLimits } from "../format/fields.js";
import type { FieldProblem } from "../problems.js";
import type { SourceText, TextRange } from "../redact-secrets.js";
import { type PlacedScenario, readPlain, type WrittenScenario } from "../written-scenario.js";
import { createSource, NodePlaces, placeAt } from "./places.js";
import { hasPartOfSecret, isSecretName, secretsIn } from "./secrets.js";
import { syntaxProblem } from "./syntax-problem.js";

// A scenario is read in four steps: its text becomes a document (document.ts), whose nodes are checked (nodes.ts) and
// have values (tree.ts) and places (node-places.ts); the values are copied as plain data (plain-data.ts).

/** What a text has: a scenario, unless the text cannot be read, and the problems of the text. */
type TextReading = Pick<WrittenScenario, "scenario" | "problems">;

/** Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`. */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  const source = createSource(text, file);
  // `version: 1` at the start of a line, or `{ "version": 1`; not `version: 1.0.0`.
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*["']?1(?![^\s"',}])/m.test(source.text);
  const { scenario, problems } = readText(source);
  const firstProblems = problems.slice(0, maximumProblems);
  return { file, text, notation: yamlNotation, startsLikeScenario, scenario, problems: firstProblems };
}

function readText(sourceWithoutSecrets: SourceText): TextReading {
  let document: Document.Parsed;
  try {
    document = readDocument(sourceWithoutSecrets);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return withoutScenario([problemAtOffset(sourceWithoutSecrets, error.offset, error.problem)]);
  }

  const source = withSecrets(sourceWithoutSecrets, document);
  const { contents } = document;
  if (contents === null || isEmpty(contents)) {
    const problem = problemAtOffset(source, contents?.range?.[0] ?? 0, {
      code: "empty",
      message: "the scenario is empty",
      hint: 'start with "version: 1" and "organizations:"',
    });
    return withoutScenario([problem]);
  }

  const { targets, problems } = checkNodes(document, source);
  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  if (problems.some(({ code }) => code !== "duplicate_field")) return withoutScenario(problems);

  const tree: Tree = { source, root: contents, targets };
  const places = new NodePlaces(tree);
  const plain = readPlain(new NodeValues(tree).valueOf(contents), scenarioLimits.membersAndItems);
  if (plain.kind === "not_plain") {
    const hasAliases = targets.size > 0;
    const placedProblems = plain.problems.map((problem) => withPlace(problem, places, hasAliases));
    return withoutScenario([...problems, ...placedProblems]);
  }
  const locate: PlacedScenario["locate"] = (field, pointAt) => places.locate(field, pointAt);
  return { scenario: { fields: plain.fields, texts: [source], locate }, problems };
}

function withoutScenario(problems: readonly FieldProblem[]): TextReading {
  return { scenario: undefined, problems };
}

/** The text with the places of its secrets, which are not shown. They are searched only once a problem is shown. */
function withSecrets(source: SourceText, document: Document.Parsed): SourceText {
  let ranges: readonly TextRange[] | undefined;
  const secrets = () => {
    ranges ??= secretsIn(document);
    return ranges;
  };
  return { ...source, secrets };
}

/** A problem of the values at its place in the text. */
function withPlace(problem: FieldProblem, places: NodePlaces, hasAliases: boolean): FieldProblem {
  const { place } = places.locate(problem.field, problem.pointAt ?? "value");
  // Where a text has aliases, they are why it has too many parts: they repeat some.
  if (problem.code === "too_large" && hasAliases) {
    return { ...problem, place, message: "the aliases (*) repeat too much", hint: repeatLessHint };
  }
  return { ...problem, place };
}

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}

// A text becomes one document of YAML.

/** Reads the only document of a text. */
function readDocument(source: SourceText): Document.Parsed {
  const { text } = source;
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    const message = `the scenario is larger than ${bytes / 2 ** 20} MiB`;
    throw new Stop(0, { code: "too_large", message, hint: shortenHint });
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary !== -1) {
    throw new Stop(binary, {
      code: "not_text",
      message: "the file is not text in UTF-8",
      hint: "save it as plain text in UTF-8",
    });
  }

  const [document, second] = parseTokens(text);
  if (second !== undefined) {
    throw new Stop(second.range[0], {
      code: "several_documents",
      message: "a second document starts here",
      hint: "put one scenario into a file",
    });
  }
  const error = firstErrorIn(document);
  if (error !== undefined) throw explained(error, source);
  return document;
}

/** Explains an error of the parser. */
function explained(error: ParseError, source: SourceText): Stop {
  // Formatters write merge keys with this tag.
  const textAtError = source.text.slice(error.offset, error.offset + 100);
  if (/^!!merge +<</.test(textAtError)) return new Stop(error.offset, mergeKeyProblem);

  const { offset, reason, hint } = syntaxProblem(error, source);
  if (error.code === "TAG_RESOLVE_FAILED") {
    return new Stop(offset, { code: "not_plain_data", message: `not plain data: ${reason}`, hint });
  }
  return new Stop(offset, { code: "yaml_syntax", message: `not valid YAML: ${reason}`, hint });
}

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

/** Thrown where the reading of a text stops. */
export class Stop extends Error {
  constructor(
    readonly offset: number,
    readonly problem: TextProblem,
  ) {
    super(problem.message);
  }
}

/** Reads the first two documents of a text; stops at one that is too large or too deep. */
export function parseTokens(text: string): readonly [Document.Parsed, Document.Parsed?] {
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
      throw new Stop(parser.offset, {
        code: "too_deep",
        message: `nested deeper than ${levels} levels`,
        hint: "the format needs only seven",
      });
    }
    lexemes += 1;
    if (lexemes > maxLexemes) {
      throw new Stop(parser.offset, {
        code: "too_large",
        message: `the scenario has more than ${maxLexemes} words and signs`,
        hint: shortenHint,
      });
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  return documents as unknown as [Document.Parsed, Document.Parsed?]; // `end(true)` makes one of an empty text
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

interface CheckedNodes {
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly problems: readonly FieldProblem[];
}

/** Checks the names and the aliases of a document. */
export function checkNodes(document: Document.Parsed, source: SourceText): CheckedNodes {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const problems: FieldProblem[] = [];
  const keepAnchor = (node: Node & { readonly anchor?: string | undefined }) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
  };

  visit(document, {
    Alias(_, alias) {
      const [offset] = alias.range ?? [0];
      const target = anchors.get(alias.source);
      if (target === undefined) {
        const problem = unknownAlias(alias.source, anchors.keys(), hasPartOfSecret(source, offset));
        problems.push(problemAtOffset(source, offset, problem));
        return undefined;
      }

      targets.set(alias as Node, target);
      if (targets.size <= scenarioLimits.aliases) return undefined;
      const message = `the text has more than ${scenarioLimits.aliases} aliases`;
      problems.push(problemAtOffset(source, offset, { code: "too_large", message, hint: repeatLessHint }));
      return visit.BREAK;
    },
    Map(_, node) {
      keepAnchor(node as Node);
      for (const problem of nameProblems(node.items as MapPair[], source)) problems.push(problem);
    },
    // Texts, numbers and lists.
    Value: (_, node) => keepAnchor(node as Node),
  });
  return { targets, problems };
}

/** A text that starts with `*` is an alias only without quotes. If it is a secret, its name is not shown. */
function unknownAlias(name: string, anchors: Iterable<string>, isSecret: boolean): TextProblem {
  if (isSecret) {
    const message = "an alias refers to nothing";
    return { code: "bad_alias", message, hint: "put quotes around a text that starts with *" };
  }
  const meant = nearest(name, anchors);
  const hint = meant === undefined ? `put quotes around a text: "*${name}"` : `did you mean *${meant}?`;
  return { code: "bad_alias", message: `the alias *${name} refers to nothing`, hint };
}

// Names that appear twice, and what people read as a field with a value, and YAML as something else:
//
//   main:{ environment: test }   a field `main:{ environment` with the value `test }`
//   { environment:test }         a field `environment:test` without a value
//   main { environment: test }   a field `main { environment` with the value `test }`
//   main {}                      a field `main {}` without a value
//   { secret hunter2 }           a field `secret hunter2` without a value
//   { <<: *anchor }              a field `<<`

/** What is wrong with a name, if it is one of these mistakes. */
type NameCheck = (pair: MapPair) => TextProblem | undefined;

/** `main:{ … }` and `environment:test`. */
const missingSpace: NameCheck = ({ key, value }) => {
  if (!isPlainScalar(key)) return undefined;
  const [, word, rest = ""] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(keyText(key)) ?? [];
  if (word === undefined) return undefined;

  // `environment:test` has no other colon, and so no value, not even an empty one. A field `xml:lang:` has another colon.
  const hasNoOtherColon = value === null;
  // `main:{ environment` has the value `test }`, and its brace is open. A field `users:{id}` closes its brace.
  const isBraceOpen = /^[{[][^}\]]*$/.test(rest);
  const isMistake = hasNoOtherColon || isBraceOpen;
  if (!isMistake) return undefined;
  return {
    code: "yaml_syntax",
    message: `there is no space after the colon of ${quote(word)}`,
    hint: `put an ordinary space after it: ${word}: …`,
  };
};

/** `main { … }` and `main {}`. */
const missingColon: NameCheck = ({ key, value }) => {
  if (!isPlainScalar(key)) return undefined;
  const [, word, inBrace = ""] = /^([\w-]+) *\{(.*)$/.exec(keyText(key)) ?? [];
  if (word === undefined) return undefined;

  // `main {}` has no value, and the brace of `main { environment` is open. A field `price {EUR}: 5` has a value, and closes its brace.
  const isBraceOpen = !inBrace.includes("}");
  const isMistake = isEmpty(value) || isBraceOpen;
  if (!isMistake) return undefined;
  return {
    code: "yaml_syntax",
    message: `there is no colon after ${quote(word)}`,
    hint: `write ${word}: { … }`,
  };
};

/** `secret hunter2` and `secret = hunter2`: neither is shown. */
const missingColonOfSecret: NameCheck = ({ key, value }) => {
  if (!isPlainScalar(key) || !isEmpty(value)) return undefined;
  const [, word = ""] = /^([\w-]+) *[ =] *\S/.exec(keyText(key)) ?? [];
  if (!isSecretName(word)) return undefined;
  return {
    code: "yaml_syntax",
    message: `there is no colon after ${quote(word)}`,
    hint: "write a colon after it",
  };
};

/** `<<`, unless its quotes show that it is a name; in quotes, it is a merge key if its value or first item is an alias. */
const mergeKeyName: NameCheck = ({ key, value }) => {
  if (keyText(key) !== "<<") return undefined;
  const [first] = isSeq(value) ? value.items : [value];
  return isPlainScalar(key) || isAlias(first) ? mergeKeyProblem : undefined;
};

const nameChecks = [missingSpace, missingColon, missingColonOfSecret, mergeKeyName];

/** The problems of the names of a mapping. */
export function nameProblems(pairs: readonly MapPair[], source: SourceText): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = new Set<string>();
  for (const pair of pairs) {
    const name = keyText(pair.key);
    const [offset] = pair.key.range ?? [0];

    for (const check of nameChecks) {
      const problem = check(pair);
      if (problem !== undefined) problems.push(problemAtOffset(source, offset, problem));
    }
    if (names.has(name)) {
      const message = `${quote(name)} appears twice`;
      const hint = "remove one of the two";
      problems.push(problemAtOffset(source, offset, { code: "duplicate_field", message, hint }));
    }
    names.add(name);
  }
  return problems;
}

/** Whether a name is a word without quotes. */
function isPlainScalar(node: Node): boolean {
  return isScalar(node) && node.type === "PLAIN";
}

// The nodes of a text have the values of its fields. `node-places.ts` finds their places.

export type MapPair = Pair<Node, Node | null>;

/** The nodes of a text that can be read to values. */
export interface Tree {
  readonly source: SourceText;
  /** The node that has the whole scenario. */
  readonly root: Node;
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
}

/**
 * The values of nodes. The yaml package would compare each alias with every anchor and alias before it; here, an alias has
 * the value of its anchor, which may contain itself.
 */
export class NodeValues {
  readonly #tree: Tree;
  readonly #byNode = new Map<Node, unknown>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  valueOf(written: Node | null): unknown {
    const node = aliasTarget(this.#tree, written);
    if (node === null) return null;
    const earlierValue = this.#byNode.get(node);
    if (earlierValue !== undefined) return earlierValue;

    // A mapping and a list are kept before their parts are read: a part may be an alias of the whole.
    if (isMap(node)) {
      const members: Record<string, unknown> = {};
      this.#byNode.set(node, members);
      for (const { key, value } of node.items as MapPair[]) {
        // Also for `__proto__`, which an assignment would not make a member.
        Object.defineProperty(members, keyText(key), {
          value: this.valueOf(value),
          configurable: true,
          enumerable: true,
          writable: true,
        });
      }
      return members;
    }
    if (isSeq(node)) {
      const items: unknown[] = [];
      this.#byNode.set(node, items);
      for (const item of node.items) items.push(this.valueOf(item as Node));
      return items;
    }
    return isScalar(node) ? node.value : null;
  }
}

/** The text of a name; empty for a name that is no text. */
export function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** Whether a field has no value: `keys:`, `keys: null`. */
export function isEmpty(value: Node | null): boolean {
  return value === null || (isScalar(value) && value.value === null);
}

/** The node that an alias refers to, or the node itself. */
export function aliasTarget(tree: Tree, node: Node | null): Node | null {
  if (node === null) return null;
  return tree.targets.get(node) ?? node;
}

/** A problem of the text, without its place. It is of no field. */
export type TextProblem = Pick<FieldProblem, "code" | "message" | "hint">;

export function problemAtOffset(source: SourceText, offset: number, problem: TextProblem): FieldProblem {
  return { ...problem, field: [], place: placeAt(source, offset) };
}

// Problems that are found in several ways.

export const mergeKeyProblem: TextProblem = {
  code: "yaml_syntax",
  message: "merge keys are not supported",
  hint: "extend a scenario, or write the fields",
};

export const repeatLessHint = "extend a scenario, or repeat less";
