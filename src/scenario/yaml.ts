import {
  Composer,
  type Document,
  type DocumentOptions,
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
import type { FieldPath } from "../schema/shape.js";
import { nearest, quote } from "../schema/words.js";
import { scenarioLimits } from "./format/fields.js";
import { yamlNotation } from "./format/yaml-hints.js";
import { createSource, isSecretName, placeAt } from "./places.js";
import { readPlain } from "./plain-data.js";
import { type AddProblem, addingTo, type FieldProblem, type SourceText, type TextRange } from "./problems.js";
import { type ParseError, syntaxProblem } from "./syntax-problem.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

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

const options = {
  // Even with a `%YAML 1.1` line, so that `yes` and dates stay text.
  schema: "core",
  // The core schema has it only for numbers with a point.
  customTags: [{ tag: "tag:yaml.org,2002:float", resolve: (text: string) => Number(text) }],
  merge: false,
  // Others make dates, sets and bytes, which are not plain data.
  resolveKnownTags: false,
  // `checkNames` finds duplicates in linear time.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** A text's nodes, and what its aliases refer to. */
interface Tree {
  readonly source: SourceText;
  readonly document: Document.Parsed;
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
  /** The fields of each mapping by name, once one of them was looked for. */
  readonly pairs: WeakMap<YAMLMap, ReadonlyMap<string, MapPair>>;
}

type MapPair = Pair<Node, Node | null>;

/** Adds a problem of a place in the text, before its fields are known. */
type AddAt = (offset: number, problem: Omit<FieldProblem, "field" | "place">) => void;

/** Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`. */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  const source = createSource(text, file);
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*1\b/m.test(source.text);
  const problems: FieldProblem[] = [];
  const addProblem = addingTo(problems);
  const tree = readTree(source, addProblem);
  const scenario = tree && readFields(tree, addProblem);
  return { file, text, notation: yamlNotation, startsLikeScenario, scenario, problems };
}

/** Reads a text to nodes that can be read to values; adds problems and returns `undefined` if that is not possible. */
function readTree(source: SourceText, addProblem: AddProblem): Tree | undefined {
  const addAt: AddAt = (offset, problem) => {
    addProblem({ ...problem, field: [], place: placeAt(source, offset) });
  };
  if (!checkText(source.text, addAt)) return undefined;
  const document = readDocument(source.text, addAt);
  if (document === undefined) return undefined;

  // From here on, lines are shown, except those of secrets: these are only searched if a problem is shown.
  let secrets: readonly TextRange[] | undefined;
  source.secrets = () => {
    secrets ??= secretsIn(document);
    return secrets;
  };

  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    addAt(contents?.range?.[0] ?? 0, {
      code: "empty",
      message: "the scenario is empty",
      hint: 'start with "version: 1" and "organizations:"',
    });
    return undefined;
  }

  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  let isWhole = true;
  const addOfNode: AddAt = (offset, problem) => {
    if (problem.code !== "duplicate_field") isWhole = false;
    addAt(offset, problem);
  };
  checkSpaces(document, addOfNode);
  const targets = checkNodes(document, addOfNode);
  if (!isWhole) return undefined;
  return { source, document, targets, pairs: new WeakMap() };
}

/** Reads the nodes to plain data, each problem at its place in the text. */
function readFields(tree: Tree, addProblem: AddProblem): ReadScenario | undefined {
  const find: ReadScenario["find"] = (path, pointAt) => findField(tree, path, pointAt);
  const addAtPath: AddProblem = (problem) => {
    const { place } = find(problem.field, problem.pointAt ?? "value");
    // Where a text has aliases, they are why it has too many parts: they repeat some.
    if (problem.code === "too_large" && tree.targets.size > 0) {
      addProblem({ ...problem, place, message: "the aliases (*) repeat too much", hint: repeatLess });
    } else {
      addProblem({ ...problem, place });
    }
  };

  const fields = readPlain(new Values(tree).of(tree.document.contents), addAtPath, scenarioLimits.parts);
  if (fields === undefined) return undefined;
  return { fields, find };
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

  of(written: Node | null): unknown {
    const node = aliasTarget(this.#tree, written);
    if (node === null) return null;
    const made = this.#byNode.get(node);
    if (made !== undefined) return made;

    if (isMap(node)) {
      const members: Record<string, unknown> = {};
      this.#byNode.set(node, members);
      for (const { key, value } of node.items as MapPair[]) {
        // Also for `__proto__`, which an assignment would not make a member.
        Object.defineProperty(members, keyText(key), {
          value: this.of(value),
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
      for (const item of node.items) items.push(this.of(item as Node));
      return items;
    }
    return isScalar(node) ? node.value : null;
  }
}

/** Adds a problem for what is too large or no text; returns whether it can be read. */
function checkText(text: string, addAt: AddAt): boolean {
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    addAt(0, {
      code: "too_large",
      message: `the scenario is larger than ${bytes / 2 ** 20} MiB`,
      hint: shorten,
    });
    return false;
  }

  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary === -1) return true;
  addAt(binary, {
    code: "not_text",
    message: "the file is not text in UTF-8",
    hint: "save it as plain text in UTF-8",
  });
  return false;
}

/** Reads the only document of a text; adds a problem and returns `undefined` if it has errors, or another one follows. */
function readDocument(text: string, addAt: AddAt): Document.Parsed | undefined {
  const documents = readDocuments(text, addAt);
  if (documents === undefined) return undefined;
  const [document, second] = documents;
  if (document === undefined) return undefined;
  if (second !== undefined) {
    addAt(second.range[0], {
      code: "several_documents",
      message: "a second document starts here",
      hint: "put one scenario into a file",
    });
    return undefined;
  }

  // Other errors are often consequences of the first. A tag that the core schema does not have is a warning.
  const error = document.errors[0] ?? document.warnings[0];
  if (error === undefined) return document;

  // Formatters write merge keys with this tag.
  const [start] = error.pos;
  if (/^!!merge +<</.test(text.slice(start, start + 100))) {
    addAt(start, mergeKey);
    return undefined;
  }

  const parserError = { message: error.message, offset: start };
  const { offset, reason, hint } = syntaxProblem(parserError, text, firstErrorOf);
  if (error.code === "TAG_RESOLVE_FAILED") {
    addAt(offset, { code: "not_plain_data", message: `not plain data: ${reason}`, hint });
  } else {
    addAt(offset, { code: "yaml_syntax", message: `not valid YAML: ${reason}`, hint });
  }
  return undefined;
}

/** The first error of a text, if any: other errors are often consequences of it. */
function firstErrorOf(text: string): ParseError | undefined {
  const [document] = readDocuments(text, ignoreProblem) ?? [];
  // A tag that the core schema does not have is a warning.
  const error = document?.errors[0] ?? document?.warnings[0];
  if (error === undefined) return undefined;
  return { message: error.message, offset: error.pos[0] };
}

function ignoreProblem(): void {}

/** Reads a text token by token, because a hostile text could exhaust the stack or take minutes. */
function readDocuments(text: string, addAt: AddAt): readonly Document.Parsed[] | undefined {
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

    // The parser has some levels of its own around those of the text.
    if (parser.stack.length > levels + 8) {
      addAt(parser.offset, {
        code: "too_deep",
        message: `nested deeper than ${levels} levels`,
        hint: "the format needs only seven",
      });
      return undefined;
    }
    pieces += 1;
    if (pieces > maxPieces) {
      addAt(parser.offset, {
        code: "too_large",
        message: `the scenario has more than ${maxPieces} words and signs`,
        hint: shorten,
      });
      return undefined;
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }

  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  return documents;
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

/** Checks the names and the aliases of a document; returns the node that each alias refers to. */
function checkNodes(document: Document.Parsed, addAt: AddAt): Tree["targets"] {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const keepAnchor = (node: Node & { readonly anchor?: string | undefined }) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
  };

  visit(document, {
    Alias(_, alias) {
      const [offset] = alias.range ?? [0];
      const target = anchors.get(alias.source);
      if (target === undefined) {
        addAt(offset, {
          code: "bad_alias",
          message: `the alias *${alias.source} refers to nothing`,
          hint: hintForAlias(alias.source, anchors.keys()),
        });
        return undefined;
      }

      targets.set(alias as Node, target);
      if (targets.size <= scenarioLimits.aliases) return undefined;
      addAt(offset, {
        code: "too_large",
        message: `the text has more than ${scenarioLimits.aliases} aliases`,
        hint: repeatLess,
      });
      return visit.BREAK;
    },
    Value: (_, node) => keepAnchor(node as Node),
    Map(_, node) {
      keepAnchor(node as Node);
      checkNames(node.items as MapPair[], addAt);
    },
  });
  return targets;
}

/** A text that starts with `*` is an alias only without quotes. */
function hintForAlias(name: string, anchors: Iterable<string>): string {
  const meant = nearest(name, anchors);
  return meant === undefined ? `put quotes around a text: "*${name}"` : `did you mean *${meant}?`;
}

/** Reports names that appear twice, merge keys, and names that lack a colon. */
function checkNames(pairs: readonly MapPair[], addAt: AddAt): void {
  const names = new Set<string>();
  for (const { key } of pairs) {
    const name = keyText(key);
    const [offset] = key.range ?? [0];

    // YAML reads `main { … }` as a name.
    const [, word] = /^([\w-]+) *\{/.exec(name) ?? [];
    if (word !== undefined) {
      addAt(offset, {
        code: "yaml_syntax",
        message: `there is no colon after ${quote(word)}`,
        hint: `write ${word}: { … }`,
      });
    }
    if (name === "<<") addAt(offset, mergeKey);
    if (names.has(name)) {
      addAt(offset, {
        code: "duplicate_field",
        message: `${quote(name)} appears twice`,
        hint: "remove one of the two",
      });
    }
    names.add(name);
  }
}

/** Reports `environment:test` in braces and `main:{ … }`, which YAML reads as names without the value. */
function checkSpaces(document: Document.Parsed, addAt: AddAt): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.type !== "PLAIN") return;
      const [, word, rest = ""] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(String(key.value)) ?? [];
      if (word === undefined) return;
      const hasValue = value !== null && !(isScalar(value) && value.value === null);
      const startsContainer = rest.startsWith("{") || rest.startsWith("[");
      if (hasValue && !startsContainer) return;

      const [offset] = key.range ?? [0];
      addAt(offset, {
        code: "yaml_syntax",
        message: `there is no space after the colon of ${quote(word)}`,
        hint: `put an ordinary space after it: ${word}: …`,
      });
    },
  });
}

/** The text of a name; empty for a name that is no text. */
function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** A field of a mapping, or an item of a list, which has no name: it is its own. */
interface Field {
  readonly key: Node | null;
  readonly value: Node | null;
}

/** Follows a path as far as the text has it, and returns the place where it ends. */
function findField(tree: Tree, path: FieldPath, pointAt: "key" | "value"): ReturnType<ReadScenario["find"]> {
  const { contents } = tree.document;
  let nearest: Field = { key: contents, value: contents };
  let depth = 0;
  for (const step of path) {
    const field = fieldIn(tree, nearest.value, step);
    if (field === undefined) break;
    nearest = field;
    depth += 1;
  }

  // The place is that of the name, or of the value if the path is found to its end and the value is not empty.
  let node = nearest.key;
  const [start, end] = nearest.value?.range ?? [];
  const isFound = depth === path.length;
  if (isFound && pointAt === "value" && start !== end) node = nearest.value;
  const [offset] = node?.range ?? [0];

  const value = aliasTarget(tree, nearest.value);
  const scalar = isScalar(value) ? value.source : undefined;
  return { place: placeAt(tree.source, offset), depth, layer: 0, scalar };
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
