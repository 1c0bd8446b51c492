import { type Document, isMap, isScalar, isSeq, type Node, stringify, type YAMLMap } from "yaml";
import type { FieldPath } from "../../schema/field-path.js";
import { yamlNotation } from "../../schema/notation.js";
import { maximumProblems } from "../../schema/problem.js";
import { scenarioLimits } from "../format/fields.js";
import type { FieldProblem, SourceText } from "../problems.js";
import { type FieldLocation, nowhere, readPlain, type WrittenScenario } from "../written-scenario.js";
import { checkNodes, isNameWithWideColon, mistakesInNames, repeatLessHint } from "./nodes.js";
import { firstErrorIn, isEmpty, keyText, type MapPair, parseYaml, Stop, shortenHint } from "./parse-yaml.js";
import { placeAt, secretsIn, textProblem } from "./places.js";
import { syntaxProblem } from "./syntax-problem.js";

/**
 * Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`.
 *
 * The text becomes a document, whose names and aliases are checked; its values are copied as plain data.
 */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  const parsed: SourceText = { file, text: text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n") };
  // `version: 1` at the start of a line, or `{ "version": 1`; not `version: 1.0.0`.
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*["']?1(?![^\s"',}])/m.test(parsed.text);
  const withoutFields = (problems: readonly FieldProblem[]): WrittenScenario => ({
    file,
    text,
    notation: yamlNotation,
    startsLikeScenario,
    fields: undefined,
    texts: [],
    locate: () => nowhere,
    problems: problems.slice(0, maximumProblems),
  });

  const document = readDocument(parsed);
  if ("code" in document) return withoutFields([document]);

  const source = withSecrets(parsed, document);
  const { contents } = document;
  if (contents === null || isEmpty(contents)) {
    const [offset] = contents?.range ?? [0];
    const hint = 'start with "version: 1" and "organizations:"';
    return withoutFields([textProblem(source, offset, "empty", "the scenario is empty", hint)]);
  }

  if (isScalar(contents) && isNameWithWideColon(String(contents.value))) {
    const { message, hint } = mistakesInNames.wideColon;
    return withoutFields([textProblem(source, contents.range?.[0] ?? 0, "yaml_syntax", message, hint)]);
  }

  const { targets, problems } = checkNodes(document, source);
  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  if (problems.some(({ code }) => code !== "duplicate_field")) return withoutFields(problems);

  const nodes = new ScenarioNodes(source, contents, targets);
  const plain = readPlain(nodes.valueOf(contents), scenarioLimits.membersAndItems);
  if (plain.fields !== undefined) {
    const locate: WrittenScenario["locate"] = (field, pointAt) => nodes.locate(field, pointAt);
    return { ...withoutFields(problems), fields: plain.fields, texts: [source], locate };
  }
  const placedProblems = plain.problems.map((problem): FieldProblem => {
    const { place } = nodes.locate(problem.field, problem.pointAt ?? "value");
    // Where a text has aliases, they are why it has too many parts: they repeat some.
    if (problem.code !== "too_large" || targets.size === 0) return { ...problem, place };
    return { ...problem, place, message: "the aliases (*) repeat too much", hint: repeatLessHint };
  });
  return withoutFields([...problems, ...placedProblems]);
}

/** The only document of a text, or why it has none. */
function readDocument(source: SourceText): Document.Parsed | FieldProblem {
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

  try {
    const [document, second] = parseYaml(text);
    if (second !== undefined) {
      const message = "a second document starts here";
      const hint = "put one scenario into a file";
      return textProblem(source, second.range[0], "several_documents", message, hint);
    }
    const error = firstErrorIn(document);
    return error === undefined ? document : syntaxProblem(error, source);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return textProblem(source, error.offset, error.code, error.message, error.hint);
  }
}

/** The text with the places of its secrets, which are not shown. They are searched only once a problem is shown. */
function withSecrets(source: SourceText, document: Document.Parsed): SourceText {
  let ranges: ReturnType<typeof secretsIn> | undefined;
  const secrets = () => {
    ranges ??= secretsIn(document);
    return ranges;
  };
  return { ...source, secrets };
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

  /** Follows a field path as far as the text has it. A field around the one that is missing is shown at its name. */
  locate(field: FieldPath, pointAt: "name" | "value"): FieldLocation {
    // Only a field has a name: neither the whole scenario nor an item of a list has one.
    let name: Node | undefined;
    let value: Node | null = this.#root;
    let isInText = true;
    for (const step of field) {
      // The fields of an alias are in the lines of its anchor.
      const outer = this.#targetOf(value);
      const pair: MapPair | undefined = isMap(outer) ? this.#pairsOf(outer).get(String(step)) : undefined;
      const item = isSeq(outer) ? (outer.items[Number(step)] as Node | undefined) : undefined;
      isInText = pair !== undefined || item !== undefined;
      if (!isInText) break;
      name = pair?.key;
      value = pair === undefined ? (item ?? null) : pair.value;
    }

    // A value without text, as in `keys:`, is shown at its name.
    const [start = 0, end = 0] = value?.range ?? [];
    const isShownAtValue = name === undefined || (isInText && pointAt === "value" && end > start);
    const shown = isShownAtValue ? value : name;
    const place = placeAt(this.#source, shown?.range?.[0] ?? 0);
    if (!isInText) return { isInText, place };
    const scalar = this.#targetOf(value);
    return { isInText, place, spelling: isScalar(scalar) ? scalar.source : undefined };
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

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
