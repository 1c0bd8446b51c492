import { type Document, isAlias, isPair, isScalar, isSeq, type Node, visit } from "yaml";
import { maximumProblems } from "../../schema/problem.js";
import { nearest, quote } from "../../schema/words.js";
import { scenarioLimits } from "../format/fields.js";
import type { FieldProblem, SourceText } from "../problems.js";
import { isEmpty, keyText, type MapPair } from "./parse-yaml.js";
import { hasPartOfSecret, isSecretField, isSecretName, textProblem } from "./places.js";

export const repeatLessHint = "extend a scenario, or repeat less";

/** Checks the names and the aliases of a document. `targets`: the node that each alias refers to. */
export function checkNodes(document: Document.Parsed, source: SourceText) {
  const anchors = new Map<string, { readonly node: Node; readonly isOfSecret: boolean }>();
  const targets = new Map<Node, Node>();
  const problems: FieldProblem[] = [];
  const keepAnchor = (
    node: Node & { readonly anchor?: string | undefined },
    outerParts: readonly unknown[],
  ) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, { node, isOfSecret: isOfSecret(outerParts) });
  };

  // Each problem takes time, and no more are shown. After one of an alias, the text is not read.
  const stopIfFull = () => (problems.length >= maximumProblems ? visit.BREAK : undefined);

  visit(document, {
    Alias(_, alias, outerParts) {
      const [offset] = alias.range ?? [0];
      const anchor = anchors.get(alias.source);
      if (anchor === undefined) {
        problems.push(unknownAlias(alias.source, offset, anchors, source));
        return stopIfFull();
      }
      // Messages show the value of any other field: a secret that is also one would be in them.
      if (anchor.isOfSecret || isOfSecret(outerParts)) {
        const message = "a secret cannot be an alias, and cannot have one";
        problems.push(
          textProblem(source, offset, "bad_alias", message, "write the value in place of the alias"),
        );
        return stopIfFull();
      }

      targets.set(alias as Node, anchor.node);
      if (targets.size <= scenarioLimits.aliases) return undefined;
      const message = `the text has more than ${scenarioLimits.aliases} aliases`;
      problems.push(textProblem(source, offset, "too_large", message, repeatLessHint));
      return visit.BREAK;
    },
    Map(_, node, outerParts) {
      keepAnchor(node as Node, outerParts);
      checkNames(node.items as MapPair[], source, problems);
    },
    // Texts, numbers and lists.
    Value: (_, node, outerParts) => keepAnchor(node as Node, outerParts),
  });
  return { targets, problems };
}

/** Whether a node with these parts around it is a secret, or in one. */
function isOfSecret(outerParts: readonly unknown[]): boolean {
  return outerParts.some((part) => isPair(part) && isSecretField(part.key as Node));
}

/** A text that starts with `*` is an alias only without quotes. If it is a secret, its name is not shown. */
function unknownAlias(
  name: string,
  offset: number,
  anchors: ReadonlyMap<string, unknown>,
  source: SourceText,
): FieldProblem {
  let message = `the alias *${name} refers to nothing`;
  const meant = nearest(name, anchors.keys());
  let hint = meant === undefined ? `put quotes around a text: "*${name}"` : `did you mean *${meant}?`;
  if (hasPartOfSecret(source, offset)) {
    message = "an alias refers to nothing";
    hint = "put quotes around a text that starts with *";
  }
  return textProblem(source, offset, "bad_alias", message, hint);
}

/** Adds the problems of the names of a mapping: what people read as a field with a value, and YAML as something else, or names that appear twice. */
function checkNames(pairs: readonly MapPair[], source: SourceText, problems: FieldProblem[]): void {
  const names = new Set<string>();
  for (const [index, pair] of pairs.entries()) {
    if (problems.length >= maximumProblems) return;
    const name = keyText(pair.key);
    const [offset] = pair.key.range ?? [0];

    const items = itemsWithoutBrackets(pairs, index);
    if (items.length > 1 && !isSecretName(name) && !isInSecret(source, offset)) {
      const message = `there are no brackets around the items of ${quote(name)}`;
      const hint = `write [${items.join(", ")}]`;
      problems.push(textProblem(source, pair.value?.range?.[0] ?? offset, "yaml_syntax", message, hint));
      return;
    }

    const wrong = whatIsWrongWith(pair);
    if (wrong !== undefined) {
      const { message, hint } = isInSecret(source, offset) ? mistakesInNames.inSecret : wrong;
      problems.push(textProblem(source, offset, "yaml_syntax", message, hint));
    }
    if (names.has(name)) {
      const message = `${isInSecret(source, offset) ? "a name" : quote(name)} appears twice`;
      problems.push(textProblem(source, offset, "duplicate_field", message, "remove one of the two"));
    }
    names.add(name);
  }
}

/** Whether a place is in a secret, of which a message shows no name and no value. Only for a text that is valid YAML. */
function isInSecret({ secrets }: SourceText, offset: number): boolean {
  const ranges = secrets?.() ?? [];
  return ranges.some(([start, end]) => start <= offset && offset < end);
}

/** The items of a list in braces that has no brackets: `{ scopes: attestations:read, consents:read }`. Each but the first is a name for YAML. */
function itemsWithoutBrackets(pairs: readonly MapPair[], index: number): string[] {
  const first = pairs[index]?.value;
  if (!isScalar(first) || first.type !== "PLAIN") return [];

  const items = [String(first.value)];
  for (let next = index + 1; next < pairs.length; next++) {
    const { key, value } = pairs[next] as MapPair; // within its length
    if (value !== null) break;
    items.push(keyText(key));
  }
  const isItem = (text: string) => /^[\w-]+:[\w:-]+$/.test(text);
  return items.every(isItem) ? items : [];
}

// Mistakes in names that YAML may accept, and may not.

export const mistakesInNames = {
  mergeKey: { message: "merge keys are not supported", hint: "extend a scenario, or write the fields" },
  otherSpaces: {
    message: "this indent has other spaces than ordinary ones",
    hint: "indent with ordinary spaces",
  },
  wideColon: { message: "this is no ordinary colon", hint: "write an ordinary colon and a space" },
  inSecret: { message: "a secret is one text", hint: "write it in quotes" },
} as const;

/** Whether a text is a field with a colon of full width: `type： bank`. */
export function isNameWithWideColon(text: string): boolean {
  return /^[\w-]+ *：/.test(text);
}

/**
 * What is wrong with a name that people read as a field with a value:
 *
 *   main:{ environment: test }   for YAML, a field `main:{ environment` with the value `test }`
 *   { environment:test }         a field `environment:test` without a value
 *   main { environment: test }   a field `main { environment` with the value `test }`
 *   main {}                      a field `main {}` without a value
 *   { secret hunter2 }           a field `secret hunter2` without a value
 *   { <<: *anchor }              a field `<<`
 *   { type： bank }               a field `type： bank` without a value
 */
function whatIsWrongWith({ key, value }: MapPair): { message: string; hint: string } | undefined {
  const name = keyText(key);
  const isPlain = isScalar(key) && key.type === "PLAIN";
  // In quotes, `<<` is a merge key if its value or first item is an alias.
  const [first] = isSeq(value) ? value.items : [value];
  if (name === "<<" && (isPlain || isAlias(first))) return mistakesInNames.mergeKey;
  if (!isPlain) return undefined;
  if (/^\s/.test(name)) return mistakesInNames.otherSpaces;
  if (isNameWithWideColon(name)) return mistakesInNames.wideColon;

  // `main:{ … }` and `environment:test`.
  const [, beforeColon, afterColon = ""] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(name) ?? [];
  // `environment:test` has no other colon, and so no value, not even an empty one. A field `xml:lang:` has another colon.
  const hasNoOtherColon = value === null;
  // `main:{ environment` has the value `test }`, and its brace is open. A field `users:{id}` closes its brace.
  const isBraceOpen = /^[{[][^}\]]*$/.test(afterColon);
  if (beforeColon !== undefined && (hasNoOtherColon || isBraceOpen)) {
    return {
      message: `there is no space after the colon of ${quote(beforeColon)}`,
      hint: `put an ordinary space after it: ${beforeColon}: …`,
    };
  }

  // `main { … }` and `main {}`.
  const [, beforeBrace, inBrace = ""] = /^([\w-]+) *\{(.*)$/.exec(name) ?? [];
  if (beforeBrace !== undefined) {
    // `main {}` has no value, and the brace of `main { environment` is open. A field `price {EUR}: 5` has a value, and closes its brace.
    if (!isEmpty(value) && inBrace.includes("}")) return undefined;
    return {
      message: `there is no colon after ${quote(beforeBrace)}`,
      hint: `write ${beforeBrace}: { … }`,
    };
  }

  // `secret hunter2` and `secret = hunter2`: neither is shown.
  const [, word = ""] = /^([\w-]+) *[ =] *\S/.exec(name) ?? [];
  if (!isEmpty(value) || !isSecretName(word)) return undefined;
  return { message: `there is no colon after ${quote(word)}`, hint: "write a colon after it" };
}
