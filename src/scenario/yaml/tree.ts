import { isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { SourceText } from "../source-text.js";

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
