import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import type { FieldPath } from "../../schema/field-path.js";
import type { SourceText } from "../source-text.js";
import type { FieldLocation } from "../written-scenario.js";
import { placeAt } from "./places.js";

// The nodes of a text have the values of its fields, and their places.

export type MapPair = Pair<Node, Node | null>;

/** The nodes of a text that can be read to values. */
export interface Tree {
  readonly source: SourceText;
  /** The node that has the whole scenario. */
  readonly root: Node;
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
  /** The fields of each mapping by name, once one of them was looked for. */
  readonly pairs: WeakMap<YAMLMap, ReadonlyMap<string, MapPair>>;
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

/** The whole, a field of a mapping, or an item of a list. */
interface Part {
  /** Only a field has a name. */
  readonly name: Node | undefined;
  readonly value: Node | null;
}

/** Follows a field path as far as the text has it. */
export function locateField(tree: Tree, field: FieldPath, pointAt: "name" | "value"): FieldLocation {
  let part: Part = { name: undefined, value: tree.root };
  let found: FieldLocation["found"] = "field";
  for (const [depth, name] of field.entries()) {
    const inner = partInside(tree, part.value, name);
    if (inner === undefined) {
      found = depth === 0 ? "nothing" : "around";
      break;
    }
    part = inner;
  }

  const node = nodeToShow(part, found === "field" ? pointAt : "name");
  const place = placeAt(tree.source, node?.range?.[0] ?? 0);
  const value = aliasTarget(tree, part.value);
  const spelling = isScalar(value) ? value.source : undefined;
  return { found, place, spelling };
}

function nodeToShow({ name, value }: Part, pointAt: "name" | "value"): Node | null {
  if (name === undefined) return value;
  // A value without text, as in `keys:`, is shown at its name.
  const [start = 0, end = 0] = value?.range ?? [];
  return pointAt === "value" && end > start ? value : name;
}

/** The field or the item inside a node; `undefined` if it has none of this name or number. */
function partInside(tree: Tree, outer: Node | null, name: string | number): Part | undefined {
  // The fields of an alias are in the lines of its anchor.
  const node = aliasTarget(tree, outer);
  if (isMap(node)) {
    const pair = pairsOf(tree, node).get(String(name));
    return pair && { name: pair.key, value: pair.value };
  }
  if (!isSeq(node)) return undefined;

  const item = node.items[Number(name)] as Node | undefined;
  return item && { name: undefined, value: item };
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
