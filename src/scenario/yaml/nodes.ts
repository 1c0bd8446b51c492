import { type Document, isAlias, isMap, isScalar, type Node, type Pair, visit } from "yaml";
import { maximumProblems } from "../../schema/check.js";
import { scenarioLimits } from "../format/fields.js";
import { textProblem } from "../places.js";
import type { FieldProblem, SourceText } from "../problems.js";

export type MapPair = Pair<Node, Node | null>;

/** The text of a name; empty for a name that is no text. */
export function keyText(key: Node): string {
  return isScalar(key) ? String(key.value) : "";
}

/** Whether a field has no value: `keys:`, `keys: null`. */
export function isEmpty(value: Node | null): boolean {
  return value === null || (isScalar(value) && value.value === null);
}

// Problems of names and aliases. None of them quotes the text, which may be a secret (R46).

export const repeatLessHint = "extend a scenario, or repeat less";

/** A node that may have an anchor. */
type Anchored = Node & { readonly anchor?: string | undefined };

/** Checks the names and the aliases of a document. `targets`: the node that each alias refers to. */
export function checkNodes(document: Document.Parsed, source: SourceText) {
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
      const { anchor } = node as Anchored;
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
