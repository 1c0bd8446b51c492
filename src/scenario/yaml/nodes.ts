import { type Document, isPair, isScalar, type Node, type Pair, visit } from "yaml";
import { maximumProblems } from "../../schema/check.js";
import { scenarioLimits } from "../format/fields.js";
import { type FieldProblem, type HiddenParts, mayNameSecret, type SourceText } from "../problems.js";
import { textProblem } from "./places.js";

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
  const anchors = new Map<string, { readonly node: Node; readonly isOfSecret: boolean }>();
  const targets = new Map<Node, Node>();
  const problems: FieldProblem[] = [];
  const add: AddProblem = (node, code, message, hint) => {
    problems.push(textProblem(source, node.range?.[0] ?? 0, code, message, hint));
  };
  const keepAnchor = (node: Anchored, outerParts: readonly unknown[]) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, { node, isOfSecret: isOfSecret(outerParts) });
  };

  visit(document, {
    Alias(_, alias, outerParts) {
      const node = alias as Node;
      const anchor = anchors.get(alias.source);
      if (anchor === undefined) {
        add(node, "bad_alias", "this alias refers to nothing", "put quotes around a text that starts with *");
      } else if (anchor.isOfSecret || isOfSecret(outerParts)) {
        // Messages show the value of any other field: a secret that is also one would be in them.
        const message = "a secret cannot be an alias, and cannot have one";
        add(node, "bad_alias", message, "write the value in place of the alias");
      } else {
        targets.set(node, anchor.node);
      }
      if (targets.size > scenarioLimits.aliases) {
        const message = `the text has more than ${scenarioLimits.aliases} aliases`;
        add(node, "too_large", message, repeatLessHint);
        return visit.BREAK;
      }
      // Each problem takes time, and no more are shown.
      return problems.length >= maximumProblems ? visit.BREAK : undefined;
    },
    Map(_, node, outerParts) {
      keepAnchor(node as Anchored, outerParts);
      checkNames(node.items as MapPair[], add);
      return problems.length >= maximumProblems ? visit.BREAK : undefined;
    },
    // Texts, numbers and lists.
    Value: (_, node, outerParts) => keepAnchor(node as Anchored, outerParts),
  });
  return { targets, problems };
}

type AddProblem = (node: Node, code: FieldProblem["code"], message: string, hint: string) => void;

/** Whether a node with these parts around it is a secret, or in one. */
function isOfSecret(outerParts: readonly unknown[]): boolean {
  return outerParts.some((part) => isPair(part) && mayNameSecret(keyText(part.key as Node)));
}

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
 *   { secret hunter2 }           a field `secret hunter2` without a value
 *   main:{ environment: test }   a field `main:{ environment` with the value `test }`
 *   main { environment: test }   a field `main { environment` with the value `test }`
 *   type： bank                   with a colon of full width, and in the same way with a no-break space in front
 */
function isMoreThanName(name: string, { value }: MapPair): boolean {
  const isField = /^[\w-]+\s*:/.test(name) || (mayNameSecret(name) && /[ =]/.test(name));
  if (value === null && isField) return true;
  return /^\s|^[\w-]+ *：|^[\w-]+\s*(?:\{|:\s*[{[])[^}\]]*$/.test(name);
}

/** What is hidden of the text of a document. */
export function hiddenInDocument(document: Document.Parsed, text: string): HiddenParts {
  const hidden: (readonly [start: number, end: number])[] = [];
  let hasAlias = false;
  visit(document, {
    Alias() {
      hasAlias = true;
    },
    Pair(_, pair) {
      const { key, value } = pair as MapPair;
      if (mayNameSecret(keyText(key))) hidden.push([startOf(key), endOf(value ?? key)]);
    },
  });
  return hasAlias && hidden.length > 0 ? [[0, text.length]] : hidden;
}

const startOf = (node: Node) => node.range?.[0] ?? 0;
const endOf = (node: Node) => node.range?.[1] ?? 0;
