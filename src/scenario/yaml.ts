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
  type Scalar,
  type SchemaOptions,
  stringify,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { FieldPath } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { scenarioLimits } from "./format/fields.js";
import { createSource, isOfSecret, placeAt } from "./places.js";
import { readPlain } from "./plain-data.js";
import { type AddProblem, addingTo, type FieldProblem, type SourceText, type TextRange } from "./problems.js";
import { syntaxProblem } from "./syntax-problem.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

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

export function readYaml(text: string, file: string | undefined): WrittenScenario {
  const source = createSource(text, file);
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*1\b/m.test(source.text);
  const problems: FieldProblem[] = [];
  const addProblem = addingTo(problems);
  const tree = readTree(source, addProblem);
  const scenario = tree && scenarioIn(tree, addProblem);
  return { file, text, startsLikeScenario, scenario, problems };
}

function scenarioIn(tree: Tree, addProblem: AddProblem): ReadScenario | undefined {
  const find: ReadScenario["find"] = (path, pointAt) => findField(tree, path, pointAt);
  // `readPlain` counts and copies repeated aliases. A text without them has its own limit of parts.
  const repeats = { message: "the aliases (*) repeat too much", hint: repeatLess };
  const addAtPath: AddProblem = (problem) =>
    addProblem({
      ...problem,
      ...(problem.code === "too_large" && tree.targets.size > 0 && repeats),
      place: find(problem.field, problem.pointAt ?? "value").place,
    });
  const fields = readPlain(tree.document.toJS({ maxAliasCount: -1 }), addAtPath, scenarioLimits.parts);
  return fields && { fields, find };
}

/** A text's nodes, and what its aliases refer to. */
interface Tree {
  readonly source: SourceText;
  readonly document: Document.Parsed;
  readonly targets: ReadonlyMap<Node, Node>;
  readonly pairs: WeakMap<YAMLMap, ReadonlyMap<string, MapPair>>;
}

type MapPair = Pair<Node, Node | null>;

function readTree(source: SourceText, addProblem: AddProblem): Tree | undefined {
  const at: AtOffset = (offset) => ({ field: [], place: placeAt(source, offset) });
  const document = isReadable(source, at, addProblem) ? compose(source.text, at, addProblem) : undefined;
  if (document === undefined) return undefined;
  // Only needed if a problem is shown.
  let secrets: readonly TextRange[] | undefined;
  source.secrets ??= () => {
    secrets ??= secretsIn(document);
    return secrets;
  };
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    const start = at(document.contents?.range?.[0] ?? 0);
    const hint = 'start with "version: 1" and "organizations:"';
    return addProblem({ ...start, code: "empty", message: "the scenario is empty", hint });
  }
  let isWhole = true;
  const addOfNode: AddProblem = (problem) => {
    // A text with duplicate fields can still be read and checked.
    isWhole &&= problem.code === "duplicate_field";
    return addProblem(problem);
  };
  checkSpaces(document, at, addOfNode);
  const targets = checkNodes(document, at, addOfNode);
  return isWhole ? { source, document, targets, pairs: new WeakMap() } : undefined;
}

/** The place of a problem that is in no field. */
type AtOffset = (offset: number) => Pick<FieldProblem, "field" | "place">;

function isReadable({ text }: SourceText, at: AtOffset, addProblem: AddProblem): boolean {
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    const message = `the scenario is larger than ${bytes / 2 ** 20} MiB`;
    addProblem({ ...at(0), code: "too_large", message, hint: shorten });
    return false;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary === -1) return true;
  const message = "the file is not text in UTF-8";
  addProblem({ ...at(binary), code: "not_text", message, hint: "save it as plain text in UTF-8" });
  return false;
}

/** The document of a text, read token by token, because a hostile text could exhaust the stack or take minutes. */
function compose(text: string, at: AtOffset, addProblem: AddProblem): Document.Parsed | undefined {
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
    if (parser.stack.length > levels + 8) {
      const message = `nested deeper than ${levels} levels`;
      const hint = "the format needs only seven";
      return addProblem({ ...at(parser.offset), code: "too_deep", message, hint });
    }
    if (++pieces > maxPieces) {
      const message = `the scenario has more than ${maxPieces} words and signs`;
      return addProblem({ ...at(parser.offset), code: "too_large", message, hint: shorten });
    }
    if (documents.length > 1 || errors > maximumErrors) break;
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const [document, second] = documents;
  if (second !== undefined) {
    const message = "a second document starts here";
    const hint = "put one scenario into a file";
    return addProblem({ ...at(second.range[0]), code: "several_documents", message, hint });
  }
  const first = document && firstError(document);
  if (first === undefined) return document;
  const [start] = first.pos;
  // Formatters write it with a tag.
  if (/^!!merge +<</.test(text.slice(start, start + 100))) return addProblem({ ...at(start), ...mergeKey });
  // Others are often its consequences.
  const { at: offset = start, said, hint } = syntaxProblem(first, text, document as Document.Parsed);
  if (first.code === "TAG_RESOLVE_FAILED")
    return addProblem({ ...at(offset), code: "not_plain_data", message: `not plain data: ${said}`, hint });
  return addProblem({ ...at(offset), code: "yaml_syntax", message: `not valid YAML: ${said}`, hint });
}

// Tags that the core schema does not have are warnings.
const firstError = ({ errors, warnings }: Document.Parsed): YAMLError | undefined => errors[0] ?? warnings[0];

/** The ranges of the values of secrets, in order, no matter what they look like. */
export function secretsIn(document: Document.Parsed): TextRange[] {
  const ranges: TextRange[] = [];
  visit(document, {
    Pair(_, { key, value }) {
      if (!isOfSecret(keyText(key as Node)) || !isNode(value) || value.range == null) return undefined;
      ranges.push([value.range[0], value.range[1]]);
      return visit.SKIP;
    },
  });
  return ranges;
}

/** Returns the node that each alias refers to. */
function checkNodes(document: Document.Parsed, at: AtOffset, addProblem: AddProblem): Tree["targets"] {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const keep = (node: Node & { readonly anchor?: string | undefined }) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
  };
  visit(document, {
    Alias(_, alias) {
      const { source, range } = alias;
      const place = at(range?.[0] ?? 0);
      const target = anchors.get(source);
      if (target === undefined) {
        const message = `the alias *${source} refers to nothing`;
        const hint = `mark a value above with &${source}`;
        return addProblem({ ...place, code: "bad_alias", message, hint });
      }
      targets.set(alias as Node, target);
      // The yaml package would compare it with every anchor and alias before it.
      alias.resolve = () => target as Scalar | YAMLMap | YAMLSeq;
      if (targets.size <= scenarioLimits.aliases) return undefined;
      const message = `the text has more than ${scenarioLimits.aliases} aliases`;
      addProblem({ ...place, code: "too_large", message, hint: repeatLess });
      return visit.BREAK;
    },
    Value: (_, node) => keep(node as Node),
    Map(_, node) {
      keep(node as Node);
      checkNames(node.items as MapPair[], at, addProblem);
    },
  });
  return targets;
}

function checkNames(pairs: readonly MapPair[], at: AtOffset, addProblem: AddProblem): void {
  const names = new Set<string>();
  for (const { key } of pairs) {
    const name = keyText(key);
    const place = at(key.range?.[0] ?? 0);
    const [, word] = /^([\w-]+) *\{/.exec(name) ?? [];
    if (word !== undefined) {
      const message = `there is no colon after ${quote(word)}`;
      addProblem({ ...place, code: "yaml_syntax", message, hint: `write ${word}: { … }` });
    }
    if (name === "<<") addProblem({ ...place, ...mergeKey });
    if (names.has(name)) {
      const message = `${quote(name)} appears twice`;
      addProblem({ ...place, code: "duplicate_field", message, hint: "remove one of the two" });
    }
    names.add(name);
  }
}

/** Reports `environment:test` in braces and `main:{ … }`, which YAML reads as names without the value. */
function checkSpaces(document: Document.Parsed, at: AtOffset, addProblem: AddProblem): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.type !== "PLAIN") return;
      const [, word, rest = ""] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(String(key.value)) ?? [];
      const isEmpty = value === null || (isScalar(value) && value.value === null);
      if (word === undefined || !(isEmpty || /^[{[]/.test(rest))) return;
      const place = at(key.range?.[0] ?? 0);
      const message = `there is no space after the colon of ${quote(word)}`;
      const hint = `put an ordinary space after it: ${word}: …`;
      addProblem({ ...place, code: "yaml_syntax", message, hint });
    },
  });
}

function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** A field of a mapping, or an item of a list, which has no name: it is its own. */
interface Field {
  readonly key: Node | null;
  readonly value: Node | null;
}

function fieldIn(tree: Tree, parent: Node | null, step: string | number): Field | undefined {
  // The fields of an alias are in the lines of its anchor.
  const node = aliasTarget(tree, parent);
  if (isMap(node)) return pairsOf(tree, node).get(String(step));
  const item = isSeq(node) ? (node.items[Number(step)] as Node | undefined) : undefined;
  return item && { key: item, value: item };
}

function pairsOf(tree: Tree, map: YAMLMap): ReadonlyMap<string, MapPair> {
  const items: MapPair[] = map.items as [];
  const pairs = tree.pairs.get(map) ?? new Map(items.map((pair) => [keyText(pair.key), pair]));
  tree.pairs.set(map, pairs);
  return pairs;
}

/** The node that an alias refers to, or the node itself. */
function aliasTarget({ targets }: Tree, node: Node | null): Node | null {
  return node && (targets.get(node) ?? node);
}

/** Follows a path as far as the text has it. */
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
  const { key, value } = nearest;
  const isValue = depth === path.length && pointAt === "value" && !isEmpty(value);
  const [offset = 0] = (isValue ? value : key)?.range ?? [];
  const node = aliasTarget(tree, value);
  const scalar = isScalar(node) ? node.source : undefined;
  return { place: placeAt(tree.source, offset), depth, layer: 0, scalar };
}

/** An empty value has no useful place. */
function isEmpty(node: Node | null): boolean {
  return node?.range?.[0] === node?.range?.[1];
}

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
