import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  stringify,
  visit,
  type YAMLMap,
} from "yaml";
import { type Members, maximumProblems } from "../../schema/check.js";
import { jsonNotation, type Notation } from "../../schema/describe.js";
import type { FieldPath } from "../../schema/shape.js";
import { scenarioLimits } from "../format/fields.js";
import { type Locate, textProblem } from "../places.js";
import type { FieldProblem, Place, SourceText } from "../problems.js";
import { readPlain, type WrittenScenario } from "../written-scenario.js";
import { parseYaml } from "./parse-yaml.js";

const yamlNotation: Notation = { ...jsonNotation, language: "yaml", nameOfWhole: "the scenario" };

/**
 * Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`.
 *
 * The text becomes a document, whose names and aliases are checked; its values are copied as plain data.
 */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  const plainText = text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n");
  // `version: 1` at the start of a line, or `{ "version": 1`; not `version: 1.0.0`.
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*["']?1(?![^\s"',}])/m.test(plainText);
  const withoutFields = (problems: readonly FieldProblem[]): WrittenScenario => ({
    file,
    text,
    notation: yamlNotation,
    startsLikeScenario,
    fields: undefined,
    locate: () => undefined,
    problems: problems.slice(0, maximumProblems),
  });

  const source: SourceText = { file, text: plainText };
  const document = parseYaml(source);
  if ("code" in document) return withoutFields([document]);

  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    const [offset] = contents?.range ?? [0];
    const hint = 'start with "version: 1" and "organizations:"';
    return withoutFields([textProblem(source, offset, "empty", "the scenario is empty", hint)]);
  }

  const { targets, problems } = checkNodes(document, source);
  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  if (problems.some(({ code }) => code !== "duplicate_field")) return withoutFields(problems);

  const nodes = new ScenarioNodes(source, contents, targets);
  const { fields, problems: problemsOfValue } = readPlain(
    nodes.valueOf(contents),
    scenarioLimits.membersAndItems,
  );
  for (const problem of problemsOfValue) {
    const place = nodes.locate(problem.field, problem.pointAt);
    // Where a text has aliases, they are why it has too many parts: they repeat some.
    const isRepeated = problem.code === "too_large" && targets.size > 0;
    const words = isRepeated ? { message: "the aliases (*) repeat too much", hint: repeatLessHint } : {};
    problems.push({ ...problem, place, ...words });
  }
  if (fields === undefined) return withoutFields(problems);

  problems.push(...changedNumbers(fields, nodes));
  const locate: Locate = (field, pointAt) => nodes.locate(field, pointAt);
  return { ...withoutFields(problems), fields, locate };
}

type MapPair = Pair<Node, Node | null>;

/** The text of a name; empty for a name that is no text. */
function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** The nodes of a text that can be read: their values and their places. */
class ScenarioNodes {
  readonly #source: SourceText;
  readonly #root: Node;
  readonly #targets: ReadonlyMap<Node, Node>;
  readonly #values = new Map<Node, unknown>();
  /** The fields of each mapping by name, once one of them was looked for. */
  readonly #pairsByMap = new Map<YAMLMap, ReadonlyMap<string, MapPair>>();

  constructor(source: SourceText, root: Node, targets: ReadonlyMap<Node, Node>) {
    this.#source = source;
    this.#root = root;
    this.#targets = targets;
  }

  /** The node that an alias refers to, or the node itself. */
  #targetOf(node: Node | null): Node | null {
    return node === null ? null : (this.#targets.get(node) ?? node);
  }

  /**
   * The value of a node. The yaml package would compare each alias with every anchor and alias before it; here, an alias has
   * the value of its anchor, which may contain itself.
   */
  valueOf(written: Node | null): unknown {
    const node = this.#targetOf(written);
    if (node === null) return null;
    const earlierValue = this.#values.get(node);
    if (earlierValue !== undefined) return earlierValue;

    // A mapping and a list are kept before their parts are read: a part may be an alias of the whole.
    if (isMap(node)) {
      const members: Record<string, unknown> = {};
      this.#values.set(node, members);
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
      this.#values.set(node, items);
      for (const item of node.items) items.push(this.valueOf(item as Node));
      return items;
    }
    return isScalar(node) ? node.value : null;
  }

  /** How the text writes the value of a field: `007`. Only of a text, a number or a flag. */
  sourceOf(field: FieldPath): string | undefined {
    const { value } = this.#follow(field);
    const scalar = this.#targetOf(value);
    return isScalar(scalar) ? scalar.source : undefined;
  }

  /** The place of a field. A field around the one that is missing is shown at its name. */
  locate(field: FieldPath, pointAt: "name" | "value" = "value"): Place {
    const { name, value, isInText } = this.#follow(field);
    // A value without text, as in `keys:`, is shown at its name.
    const [start = 0, end = 0] = value?.range ?? [];
    const isShownAtValue = name === undefined || (isInText && pointAt === "value" && end > start);
    const shown = isShownAtValue ? value : name;
    return { source: this.#source, offset: shown?.range?.[0] ?? 0 };
  }

  /** Follows a field path as far as the text has it. Neither the whole scenario nor an item of a list has a name. */
  #follow(field: FieldPath) {
    let name: Node | undefined;
    let value: Node | null = this.#root;
    for (const step of field) {
      // The fields of an alias are in the lines of its anchor.
      const outer = this.#targetOf(value);
      const pair: MapPair | undefined = isMap(outer) ? this.#pairsOf(outer).get(String(step)) : undefined;
      const item = isSeq(outer) ? (outer.items[Number(step)] as Node | undefined) : undefined;
      if (pair === undefined && item === undefined) return { name, value, isInText: false };
      name = pair?.key;
      value = pair === undefined ? (item ?? null) : pair.value;
    }
    return { name, value, isInText: true };
  }

  #pairsOf(map: YAMLMap): ReadonlyMap<string, MapPair> {
    const earlierPairs = this.#pairsByMap.get(map);
    if (earlierPairs !== undefined) return earlierPairs;

    const pairs = new Map<string, MapPair>();
    for (const pair of map.items as MapPair[]) pairs.set(keyText(pair.key), pair);
    this.#pairsByMap.set(map, pairs);
    return pairs;
  }
}

// Problems of names and aliases. None of them quotes the text, which may be a secret (R46).

const repeatLessHint = "extend a scenario, or repeat less";

/** Checks the names and the aliases of a document. `targets`: the node that each alias refers to. */
function checkNodes(document: Document.Parsed, source: SourceText) {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const problems: FieldProblem[] = [];
  const add: AddProblem = (node, code, message, hint) => {
    problems.push(textProblem(source, node.range?.[0] ?? 0, code, message, hint));
  };

  visit(document, {
    Node(_, node) {
      // Each problem takes time, and no more are shown.
      if (problems.length >= maximumProblems) return visit.BREAK;
      if (isMap(node)) checkNames(node.items as MapPair[], add);
      const { anchor } = node as { readonly anchor?: string | undefined }; // only an alias has none
      if (anchor !== undefined) anchors.set(anchor, node as Node);
      if (!isAlias(node)) return undefined;

      const target = anchors.get(node.source);
      if (target === undefined) {
        const hint = "put quotes around a text that starts with *";
        add(node as Node, "bad_alias", "this alias refers to nothing", hint);
        return undefined;
      }
      targets.set(node as Node, target);
      if (targets.size <= scenarioLimits.aliases) return undefined;
      const message = `the text has more than ${scenarioLimits.aliases} aliases`;
      add(node as Node, "too_large", message, repeatLessHint);
      return visit.BREAK;
    },
  });
  return { targets, problems };
}

type AddProblem = (node: Node, code: FieldProblem["code"], message: string, hint: string) => void;

/** Adds the problems of the names of a mapping: what is no name for people, and names that appear twice. */
function checkNames(pairs: readonly MapPair[], add: AddProblem): void {
  const names = new Set<string>();
  for (const pair of pairs) {
    const { key } = pair;
    const name = keyText(key);
    const isPlain = isScalar(key) && key.type === "PLAIN";
    if (isPlain && name === "<<") {
      add(key, "yaml_syntax", "merge keys are not supported", "extend a scenario, or write the fields");
    } else if (isPlain && isMoreThanName(name, pair)) {
      const hint = "write an ordinary colon and a space after it: name: value; a list has brackets: [a, b]";
      add(key, "yaml_syntax", "YAML reads this as one name", hint);
    }
    if (names.has(name)) add(key, "duplicate_field", "this name appears twice", "remove one of the two");
    names.add(name);
  }
}

/**
 * Whether people read a name as more than a name:
 *
 *   { environment:test }         a field `environment:test` without a value
 *   main:{ environment: test }   a field `main:{ environment` with the value `test }`
 *   main { environment: test }   a field `main { environment` with the value `test }`
 *   type： bank                   with a colon of full width, and in the same way with a no-break space in front
 */
function isMoreThanName(name: string, { value }: MapPair): boolean {
  if (value === null && /^[\w-]+\s*:/.test(name)) return true;
  return /^\s|^[\w-]+ *：|^[\w-]+\s*(?:\{|:\s*[{[])[^}\]]*$/.test(name);
}

// The numbers in bodies are sent as JSON, or compared with it. JSON has the shortest text of a value: `1.5` for `1.50`, but also
// `1234567890123456800` for `1234567890123456789`.

/** The problem of each number in a body that JSON may not keep. */
function changedNumbers({ endpoints, story }: Members, nodes: ScenarioNodes): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [field, number] of numbersIn({ endpoints, story }, [])) {
    // Two steps are before it at least: `endpoints.listConsents.body`, `story[0].request.body`.
    const isInBody = field.indexOf("body", 2) !== -1;
    const source = nodes.sourceOf(field);
    if (!isInBody || source === undefined || isKept(source, number)) continue;
    const message = "JSON would change this number";
    const hint = "put a code or an id in quotes, or write another number";
    problems.push({ code: "out_of_range", field, message, hint });
  }
  return problems;
}

function* numbersIn(part: unknown, field: FieldPath): Generator<readonly [field: FieldPath, number]> {
  if (typeof part === "number") yield [field, part];
  if (typeof part !== "object" || part === null) return;
  for (const [name, inner] of Object.entries(part)) {
    const step = Array.isArray(part) ? Number(name) : name;
    yield* numbersIn(inner, [...field, step]);
  }
}

/** Each number with so many digits has them in JSON, too, unless it is tiny. One with more may be rounded. */
const keptDigits = 15;
const tiny = 1e-300;

/** Whether JSON has the number as a text writes it. A code such as `007` would lose its zeros. */
function isKept(source: string, number: number): boolean {
  if (source === String(number)) return true;
  if (/^[+-]?0\d/.test(source) || !Number.isFinite(number)) return false;

  const isWhole = /^(?:[+-]?\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source);
  if (isWhole) return Number.isSafeInteger(number);

  const [coefficient = ""] = source.split(/e/i, 1);
  const digits = coefficient.replace(/\D/g, "");
  const isZero = /^0*$/.test(digits);
  return digits.length <= keptDigits && (isZero || Math.abs(number) >= tiny);
}

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
