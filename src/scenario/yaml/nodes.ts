import { type Document, isAlias, isNode, isScalar, isSeq, type Node, visit } from "yaml";
import { nearest, quote } from "../../schema/words.js";
import { scenarioLimits } from "../format/scenario-limits.js";
import type { FieldProblem } from "../problems.js";
import type { SourceText, TextRange } from "../source-text.js";
import { hasPartOfSecret, isSecretName } from "./secret-lines.js";
import { mergeKey, problemAtOffset, repeatLess, type TextProblem } from "./text-problem.js";
import { keyText, type MapPair } from "./tree.js";

// What is valid YAML, and no text of a scenario: names without a colon or a space after it, names that appear twice, merge keys,
// aliases of nothing.

/** The ranges of the values of secrets, in order, no matter what they look like. A name may contain its value: `secret:hunter2`. */
export function secretsIn(document: Document.Parsed): TextRange[] {
  const ranges: TextRange[] = [];
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair as MapPair;
      const name = keyText(key);
      const [firstWord = ""] = /^[\w-]+/.exec(name) ?? [];
      const containsValue = firstWord !== name && isSecretName(firstWord);
      if (!containsValue && !isSecretName(name)) return undefined;
      if (containsValue && key.range != null) ranges.push([key.range[0], key.range[1]]);
      if (isNode(value) && value.range != null) ranges.push([value.range[0], value.range[1]]);
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
export function checkNodes(document: Document.Parsed, source: SourceText): CheckedNodes {
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
    const secretName = secretWithoutColon(pair);
    if (secretName !== undefined) {
      const message = `there is no colon after ${quote(secretName)}`;
      const hint = "write a colon after it";
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

/** The name of a secret that lacks a colon: YAML reads `{ secret hunter2 }` and `{ secret = hunter2 }` as fields without a value. */
function secretWithoutColon({ key, value }: MapPair): string | undefined {
  if (!isPlainScalar(key) || !isEmpty(value)) return undefined;
  const [, word = ""] = /^([\w-]+) *[ =] *\S/.exec(keyText(key)) ?? [];
  return isSecretName(word) ? word : undefined;
}

/** Whether a field `<<` is meant as a merge key: it has no quotes, or an alias as its value or first item. */
function isMergeKey({ key, value }: MapPair): boolean {
  if (keyText(key) !== "<<") return false;
  const [first] = isSeq(value) ? value.items : [value];
  return isPlainScalar(key) || isAlias(first);
}

/** The problems of names that contain a colon and their value: YAML needs a space after the colon. `xml:lang: en` is a name. */
export function missingSpaces(document: Document.Parsed, source: SourceText): FieldProblem[] {
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

export function isEmpty(value: Node | null): boolean {
  return value === null || (isScalar(value) && value.value === null);
}
