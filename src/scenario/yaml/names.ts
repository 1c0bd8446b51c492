import { isAlias, isScalar, isSeq, type Node } from "yaml";
import { quote } from "../../schema/words.js";
import type { FieldProblem } from "../problems.js";
import type { SourceText } from "../source-text.js";
import { isSecretName } from "./secret-lines.js";
import { mergeKeyProblem, problemAtOffset, type TextProblem } from "./text-problem.js";
import { isEmpty, keyText, type MapPair } from "./tree.js";

// Names that appear twice, and what people read as a field with a value, and YAML as something else:
//
//   main:{ environment: test }   a field `main:{ environment` with the value `test }`
//   { environment:test }         a field `environment:test` without a value
//   main { environment: test }   a field `main { environment` with the value `test }`
//   main {}                      a field `main {}` without a value
//   { secret hunter2 }           a field `secret hunter2` without a value
//   { <<: *anchor }              a field `<<`

/** What is wrong with a name, if it is one of these mistakes. */
type NameCheck = (pair: MapPair) => TextProblem | undefined;

/** `main:{ … }` and `environment:test`. */
const missingSpace: NameCheck = ({ key, value }) => {
  if (!isPlainScalar(key)) return undefined;
  const [, word, rest = ""] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(keyText(key)) ?? [];
  if (word === undefined) return undefined;

  // `environment:test` has no other colon, and so no value, not even an empty one. A field `xml:lang:` has another colon.
  const hasNoOtherColon = value === null;
  // `main:{ environment` has the value `test }`, and its brace is open. A field `users:{id}` closes its brace.
  const isBraceOpen = /^[{[][^}\]]*$/.test(rest);
  const isMistake = hasNoOtherColon || isBraceOpen;
  if (!isMistake) return undefined;
  return {
    code: "yaml_syntax",
    message: `there is no space after the colon of ${quote(word)}`,
    hint: `put an ordinary space after it: ${word}: …`,
  };
};

/** `main { … }` and `main {}`. */
const missingColon: NameCheck = ({ key, value }) => {
  if (!isPlainScalar(key)) return undefined;
  const [, word, inBrace = ""] = /^([\w-]+) *\{(.*)$/.exec(keyText(key)) ?? [];
  if (word === undefined) return undefined;

  // `main {}` has no value, and the brace of `main { environment` is open. A field `price {EUR}: 5` has a value, and closes its brace.
  const isBraceOpen = !inBrace.includes("}");
  const isMistake = isEmpty(value) || isBraceOpen;
  if (!isMistake) return undefined;
  return {
    code: "yaml_syntax",
    message: `there is no colon after ${quote(word)}`,
    hint: `write ${word}: { … }`,
  };
};

/** `secret hunter2` and `secret = hunter2`: neither is shown. */
const missingColonOfSecret: NameCheck = ({ key, value }) => {
  if (!isPlainScalar(key) || !isEmpty(value)) return undefined;
  const [, word = ""] = /^([\w-]+) *[ =] *\S/.exec(keyText(key)) ?? [];
  if (!isSecretName(word)) return undefined;
  return {
    code: "yaml_syntax",
    message: `there is no colon after ${quote(word)}`,
    hint: "write a colon after it",
  };
};

/** `<<`, unless its quotes show that it is a name; in quotes, it is a merge key if its value or first item is an alias. */
const mergeKeyName: NameCheck = ({ key, value }) => {
  if (keyText(key) !== "<<") return undefined;
  const [first] = isSeq(value) ? value.items : [value];
  return isPlainScalar(key) || isAlias(first) ? mergeKeyProblem : undefined;
};

const nameChecks = [missingSpace, missingColon, missingColonOfSecret, mergeKeyName];

/** The problems of the names of a mapping. */
export function nameProblems(pairs: readonly MapPair[], source: SourceText): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = new Set<string>();
  for (const pair of pairs) {
    const name = keyText(pair.key);
    const [offset] = pair.key.range ?? [0];

    for (const check of nameChecks) {
      const problem = check(pair);
      if (problem !== undefined) problems.push(problemAtOffset(source, offset, problem));
    }
    if (names.has(name)) {
      const message = `${quote(name)} appears twice`;
      const hint = "remove one of the two";
      problems.push(problemAtOffset(source, offset, { code: "duplicate_field", message, hint }));
    }
    names.add(name);
  }
  return problems;
}

/** Whether a name is a word without quotes. */
function isPlainScalar(node: Node): boolean {
  return isScalar(node) && node.type === "PLAIN";
}
