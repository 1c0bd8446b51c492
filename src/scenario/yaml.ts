import {
  Composer,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isNode,
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
  type YAMLMap,
} from "yaml";
import { maximumProblems } from "../schema/check.js";
import type { FieldPath } from "../schema/shape.js";
import { nearest, quote } from "../schema/words.js";
import { scenarioLimits } from "./format/fields.js";
import { yamlNotation } from "./format/yaml-hints.js";
import { createSource, placeAt } from "./places.js";
import { readPlain } from "./plain-data.js";
import type { FieldProblem, SourceText, TextRange } from "./problems.js";
import { hasPartOfSecret, isSecretName } from "./secret-lines.js";
import { type ParseError, syntaxProblem } from "./syntax-problem.js";
import type { FieldLocation, ReadScenario, WrittenScenario } from "./written-scenario.js";

// Hints and a problem with more than one place in this file.
const shorten = "shorten it, or use population";
const repeatLess = "extend a scenario, or repeat less";
const mergeKey = {
  code: "yaml_syntax",
  message: "merge keys are not supported",
  hint: "extend a scenario, or write the fields",
} as const;

/** The maximum number of errors: the rest of the text is not read. */
const maximumErrors = 20;

/** How many levels the parser has around those of the text. */
const levelsOfParser = 8;

const options = {
  // Even with a `%YAML 1.1` line, so that `yes` and dates stay text.
  schema: "core",
  // The core schema has this tag only for numbers with a point.
  customTags: [{ tag: "tag:yaml.org,2002:float", resolve: (text: string) => Number(text) }],
  merge: false,
  // Other tags make dates, sets and bytes, which are not plain data.
  resolveKnownTags: false,
  // `nameProblems` finds duplicates in linear time.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

type MapPair = Pair<Node, Node | null>;

/** The nodes of a text that can be read to values. */
interface Tree {
  readonly source: SourceText;
  /** The node that has the whole scenario. */
  readonly root: Node;
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
  /** The fields of each mapping by name, once one of them was looked for. */
  readonly pairs: WeakMap<YAMLMap, ReadonlyMap<string, MapPair>>;
}

/** What a text has: a scenario, unless the text cannot be read, and the problems of the text. */
type TextReading = Pick<WrittenScenario, "scenario" | "problems">;

/** A problem of the text, before it has its place: then it is of no field. */
type TextProblem = Pick<FieldProblem, "code" | "message" | "hint">;

/** Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`. */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  const source = createSource(text, file);
  // `version: 1` at the start of a line, or `{ "version": 1`; not `version: 1.0.0`.
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*["']?1(?![^\s"',}])/m.test(source.text);
  const { scenario, problems } = readText(source);
  const firstProblems = problems.slice(0, maximumProblems);
  return { file, text, notation: yamlNotation, startsLikeScenario, scenario, problems: firstProblems };
}

function readText(unreadSource: SourceText): TextReading {
  const read = readDocument(unreadSource);
  if (read.kind === "stopped") {
    return withoutScenario([problemAtOffset(unreadSource, read.offset, read.problem)]);
  }

  const { document } = read;
  const source = withSecrets(unreadSource, document);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    const problem = problemAtOffset(source, contents?.range?.[0] ?? 0, {
      code: "empty",
      message: "the scenario is empty",
      hint: 'start with "version: 1" and "organizations:"',
    });
    return withoutScenario([problem]);
  }

  const { targets, problems: nodeProblems } = checkNodes(document, source);
  const problems = [...missingSpaces(document, source), ...nodeProblems];
  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  if (problems.some(({ code }) => code !== "duplicate_field")) return withoutScenario(problems);

  const tree: Tree = { source, root: contents, targets, pairs: new WeakMap() };
  const plain = readPlain(new Values(tree).valueOf(contents), scenarioLimits.parts);
  if (plain.kind === "not_plain") {
    const placedProblems = plain.problems.map((problem) => withPlace(problem, tree));
    return withoutScenario([...problems, ...placedProblems]);
  }
  const locate: ReadScenario["locate"] = (path, pointAt) => locateField(tree, path, pointAt);
  return { scenario: { fields: plain.fields, locate }, problems };
}

function withoutScenario(problems: readonly FieldProblem[]): TextReading {
  return { scenario: undefined, problems };
}

function problemAtOffset(source: SourceText, offset: number, problem: TextProblem): FieldProblem {
  return { ...problem, field: [], place: placeAt(source, offset) };
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
function withPlace(problem: FieldProblem, tree: Tree): FieldProblem {
  const { place } = locateField(tree, problem.field, problem.pointAt ?? "value");
  // Where a text has aliases, they are why it has too many parts: they repeat some.
  if (problem.code === "too_large" && tree.targets.size > 0) {
    return { ...problem, place, message: "the aliases (*) repeat too much", hint: repeatLess };
  }
  return { ...problem, place };
}

/**
 * The values of nodes. The yaml package would compare each alias with every anchor and alias before it; here, an alias has
 * the value of its anchor, which may contain itself.
 */
class Values {
  readonly #tree: Tree;
  readonly #byNode = new Map<Node, unknown>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  valueOf(written: Node | null): unknown {
    const node = aliasTarget(this.#tree, written);
    if (node === null) return null;
    const made = this.#byNode.get(node);
    if (made !== undefined) return made;

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

/** Where the reading of a text stopped, and why. */
interface Stopped {
  readonly kind: "stopped";
  readonly offset: number;
  readonly problem: TextProblem;
}

interface ReadDocument {
  readonly kind: "document";
  readonly document: Document.Parsed;
}

/** Reads the only document of a text. */
function readDocument(source: SourceText): ReadDocument | Stopped {
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

  const read = readDocuments(text);
  if (read.kind === "stopped") return read;
  const { first: document, second } = read;
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
    return stoppedAt(error.offset, mergeKey);
  }
  const { offset, reason, hint } = syntaxProblem(error, text, {
    firstErrorOf,
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
function firstErrorOf(text: string): ParseError | undefined {
  const read = readDocuments(text);
  return read.kind === "documents" ? firstErrorIn(read.first) : undefined;
}

/** The first error of a document: other errors are often consequences of it. */
function firstErrorIn(document: Document.Parsed): ParseError | undefined {
  // A tag that the core schema does not have is a warning.
  const error = document.errors[0] ?? document.warnings[0];
  if (error === undefined) return undefined;
  return { code: error.code, message: error.message, offset: error.pos[0] };
}

interface ReadDocuments {
  readonly kind: "documents";
  readonly first: Document.Parsed;
  readonly second: Document.Parsed | undefined;
}

/** Reads a text token by token, because a hostile text could exhaust the stack or take minutes. */
function readDocuments(text: string): ReadDocuments | Stopped {
  const { levels, pieces: maxPieces } = scenarioLimits;
  const parser = new Parser();
  const composer = new Composer(options);
  const documents: Document.Parsed[] = [];
  let pieces = 0;
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
    pieces += 1;
    if (pieces > maxPieces) {
      return stoppedAt(parser.offset, {
        code: "too_large",
        message: `the scenario has more than ${maxPieces} words and signs`,
        hint: shorten,
      });
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const [first, second] = documents;
  return { kind: "documents", first: first as Document.Parsed, second }; // `end(true)` makes one of an empty text
}

/** The ranges of the values of secrets, in order, no matter what they look like. */
export function secretsIn(document: Document.Parsed): TextRange[] {
  const ranges: TextRange[] = [];
  visit(document, {
    Pair(_, { key, value }) {
      if (!isSecretName(keyText(key as Node)) || !isNode(value) || value.range == null) return undefined;
      ranges.push([value.range[0], value.range[1]]);
      return visit.SKIP;
    },
  });
  return ranges;
}

interface CheckedNodes {
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly problems: readonly FieldProblem[];
}

/** Checks the names and the aliases of a document. */
function checkNodes(document: Document.Parsed, source: SourceText): CheckedNodes {
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
      problems.push(problemAtOffset(source, offset, { code: "too_large", message, hint: repeatLess }));
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

/** The problems of the names of a mapping: names that lack a colon, merge keys, names that appear twice. */
function nameProblems(pairs: readonly MapPair[], source: SourceText): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = new Set<string>();
  for (const pair of pairs) {
    const name = keyText(pair.key);
    const [offset] = pair.key.range ?? [0];

    const word = wordBeforeBrace(pair);
    if (word !== undefined) {
      const message = `there is no colon after ${quote(word)}`;
      const hint = `write ${word}: { … }`;
      problems.push(problemAtOffset(source, offset, { code: "yaml_syntax", message, hint }));
    }
    if (isMergeKey(pair)) problems.push(problemAtOffset(source, offset, mergeKey));
    if (names.has(name)) {
      const message = `${quote(name)} appears twice`;
      const hint = "remove one of the two";
      problems.push(problemAtOffset(source, offset, { code: "duplicate_field", message, hint }));
    }
    names.add(name);
  }
  return problems;
}

/**
 * The word that lacks a colon: YAML reads `main { environment: test }` as a field `main { environment` of the value `test }`,
 * and `main {}` as a field without a value. A field `price {EUR}: 1` lacks none.
 */
function wordBeforeBrace({ key, value }: MapPair): string | undefined {
  if (!isPlainScalar(key)) return undefined;
  const [, word, inBrace = ""] = /^([\w-]+) *\{(.*)$/.exec(keyText(key)) ?? [];
  const isClosed = inBrace.includes("}");
  return isClosed && !isEmpty(value) ? undefined : word;
}

/** Whether a field `<<` is meant as a merge key: it has no quotes, or an alias as its value or first item. */
function isMergeKey({ key, value }: MapPair): boolean {
  if (keyText(key) !== "<<") return false;
  const [first] = isSeq(value) ? value.items : [value];
  return isPlainScalar(key) || isAlias(first);
}

/** The problems of names that contain a colon and their value: YAML needs a space after the colon. `xml:lang: en` is a name. */
function missingSpaces(document: Document.Parsed, source: SourceText): FieldProblem[] {
  const problems: FieldProblem[] = [];
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair as MapPair;
      if (!isPlainScalar(key)) return;
      const [, word, rest = ""] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(keyText(key)) ?? [];
      if (word === undefined) return;

      // `{ environment:test }` has no other colon.
      const hasNoOtherColon = value === null;
      // `main:{ environment: test }` has its other colon in its braces, and not behind them, as `users:{id}: 1` has it.
      const isInBraces = /^[{[][^}\]]*$/.test(rest);
      if (!hasNoOtherColon && !isInBraces) return;

      const [offset] = key.range ?? [0];
      const message = `there is no space after the colon of ${quote(word)}`;
      const hint = `put an ordinary space after it: ${word}: …`;
      problems.push(problemAtOffset(source, offset, { code: "yaml_syntax", message, hint }));
    },
  });
  return problems;
}

/** Whether a name or a value is a word without quotes. */
function isPlainScalar(node: Node): boolean {
  return isScalar(node) && node.type === "PLAIN";
}

function isEmpty(value: Node | null): boolean {
  return value === null || (isScalar(value) && value.value === null);
}

/** The text of a name; empty for a name that is no text. */
function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** A field of a mapping, or an item of a list, which has no name: its value is in place of the name. */
interface Field {
  readonly key: Node | null;
  readonly value: Node | null;
}

/** Follows a path as far as the text has it. */
function locateField(tree: Tree, path: FieldPath, pointAt: "key" | "value"): FieldLocation {
  let nearest: Field = { key: tree.root, value: tree.root };
  let depth = 0;
  for (const step of path) {
    const field = fieldIn(tree, nearest.value, step);
    if (field === undefined) break;
    nearest = field;
    depth += 1;
  }

  // The place is that of the name, or of the value if the text has the field and its value is not empty.
  const isExact = depth === path.length;
  let node = nearest.key;
  const [start, end] = nearest.value?.range ?? [];
  if (isExact && pointAt === "value" && start !== end) node = nearest.value;
  const place = placeAt(tree.source, node?.range?.[0] ?? 0);

  const value = aliasTarget(tree, nearest.value);
  const spelling = isScalar(value) ? value.source : undefined;
  return { place, isExact, depth, layer: 0, spelling };
}

/** The field or the item inside a node; `undefined` if it has none of this name or number. */
function fieldIn(tree: Tree, parent: Node | null, step: string | number): Field | undefined {
  // The fields of an alias are in the lines of its anchor.
  const node = aliasTarget(tree, parent);
  if (isMap(node)) return pairsOf(tree, node).get(String(step));
  if (!isSeq(node)) return undefined;

  const item = node.items[Number(step)] as Node | undefined;
  if (item === undefined) return undefined;
  return { key: item, value: item };
}

/** The fields of a mapping by name. */
function pairsOf(tree: Tree, map: YAMLMap): ReadonlyMap<string, MapPair> {
  const cachedPairs = tree.pairs.get(map);
  if (cachedPairs !== undefined) return cachedPairs;

  const pairs = new Map<string, MapPair>();
  for (const pair of map.items as MapPair[]) pairs.set(keyText(pair.key), pair);
  tree.pairs.set(map, pairs);
  return pairs;
}

/** The node that an alias refers to, or the node itself. */
function aliasTarget(tree: Tree, node: Node | null): Node | null {
  if (node === null) return null;
  return tree.targets.get(node) ?? node;
}

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
