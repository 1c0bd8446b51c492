import { isMap, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import type { FieldPath } from "../../schema/field-path.js";
import type { FieldLocation } from "../written-scenario.js";
import { placeAt } from "./places.js";
import { aliasTarget, keyText, type MapPair, type Tree } from "./tree.js";

/** The whole scenario, a field of a mapping, or an item of a list, as the text has it. */
interface PlacedNode {
  /** Only a field has a name. */
  readonly name: Node | undefined;
  readonly value: Node | null;
}

/** The places of the fields in a text. */
export class NodePlaces {
  readonly #tree: Tree;
  /** The fields of each mapping by name, once one of them was looked for. */
  readonly #pairsByMap = new Map<YAMLMap, ReadonlyMap<string, MapPair>>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** Follows a field path as far as the text has it. A field around the one that is missing is shown at its name. */
  locate(field: FieldPath, pointAt: "name" | "value"): FieldLocation {
    const { source, root } = this.#tree;
    let reached: PlacedNode = { name: undefined, value: root };
    for (const [depth, step] of field.entries()) {
      const inner = this.#nodeInside(reached.value, step);
      if (inner === undefined) {
        const match = depth === 0 ? "none" : "around";
        return { match, place: placeAt(source, offsetOf(nodeToShow(reached, "name"))) };
      }
      reached = inner;
    }

    const place = placeAt(source, offsetOf(nodeToShow(reached, pointAt)));
    const value = aliasTarget(this.#tree, reached.value);
    return { match: "exact", place, spelling: isScalar(value) ? value.source : undefined };
  }

  /** The field or the item inside a node; `undefined` if it has none of this name or number. */
  #nodeInside(outer: Node | null, step: string | number): PlacedNode | undefined {
    // The fields of an alias are in the lines of its anchor.
    const node = aliasTarget(this.#tree, outer);
    if (isMap(node)) {
      const pair = this.#pairsOf(node).get(String(step));
      return pair && { name: pair.key, value: pair.value };
    }
    if (!isSeq(node)) return undefined;

    const item = node.items[Number(step)] as Node | undefined;
    return item && { name: undefined, value: item };
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

function nodeToShow({ name, value }: PlacedNode, pointAt: "name" | "value"): Node | null {
  if (name === undefined) return value;
  // A value without text, as in `keys:`, is shown at its name.
  const [start = 0, end = 0] = value?.range ?? [];
  return pointAt === "value" && end > start ? value : name;
}

function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}
