import { isAllowed } from "./allowed.js";
import { type FieldPath, fieldNames, type Range, type Shape } from "./shape.js";
import { camelCaseName } from "./spelling.js";
import { listed, nearest } from "./words.js";

/** How a caller writes values: hints are in its words. */
export interface Notation {
  readonly language: "yaml" | "json" | "javascript" | "query";
  /** What the whole value is called: `body`. */
  readonly nameOfWhole: string;
  /** The name of a field as the caller spells it. */
  readonly spell: (field: string) => string;
}

/** A body of the control plane, or another value in JSON. */
export const jsonNotation: Notation = {
  language: "json",
  nameOfWhole: "body",
  spell: (field) => field,
};

/** The parameters of an address. */
export const queryNotation: Notation = { ...jsonNotation, language: "query", nameOfWhole: "the query" };

/** The arguments and options of the library, in camelCase. */
export const libraryNotation: Notation = {
  ...jsonNotation,
  language: "javascript",
  nameOfWhole: "the argument",
  spell: camelCaseName,
};

/** A scenario as a value, and faults: the fields of the format, as they are. */
export const valueNotation: Notation = { ...jsonNotation, language: "javascript", nameOfWhole: "the value" };

/** `bank-1`, `/v1/me` and `consents:read`; a colon at the end would make a mapping. */
const bareWord = /^[a-z/]([\w./:-]*[\w./-])?$/i;
/** The words that YAML reads as flags, or as null. */
const valueWord = /^(?:true|false|null|yes|no|on|off)$/i;
/** `200.test`. */
const outcomeId = /^\d{3}\.[a-z_]+$/;

/** A value as a caller writes it. In YAML, a common text has no quotes, also in a list; in a query, none has. */
function writeValue(value: unknown, notation: Notation): string {
  if (Array.isArray(value)) return `[${value.map((item) => writeValue(item, notation)).join(", ")}]`;
  if (notation.language === "query") return String(value);
  const mayBePlain = notation.language === "yaml" && typeof value === "string" && !valueWord.test(value);
  if (mayBePlain && (bareWord.test(value) || outcomeId.test(value))) return value;
  return JSON.stringify(value);
}

/** The name of a field as a caller writes it: `per_minute`, `"per_minute"`, `perMinute`. */
export function writeName(name: string, notation: Notation): string {
  const spelled = notation.spell(name);
  const isBare =
    notation.language === "yaml" || (notation.language === "javascript" && /^[a-z_]\w*$/i.test(spelled));
  return isBare ? spelled : JSON.stringify(spelled);
}

/** Several values to choose from: `test or live`. */
export function writeChoices(values: readonly unknown[], notation: Notation): string {
  const texts = values.map((value) => writeValue(value, notation));
  return listed(texts, "or");
}

// A message says in words what is allowed (`describeShape`), its hint as the caller writes it:
//
//   message  live_access must be not_approved, approved or suspended, not 5
//   hint     write not_approved, approved or suspended        in YAML
//            write "not_approved", "approved" or "suspended"  in JSON

/** The name of a field; of an item, the name and position: `scopes[1]`. */
export function partName(field: FieldPath, { nameOfWhole, spell }: Notation): string {
  const last = field.at(-1);
  if (last === undefined) return nameOfWhole;
  if (typeof last === "number") return `${spell(String(field.at(-2) ?? ""))}[${last}]`;
  return spell(last);
}

export function knownFields(shape: Shape, notation: Notation): string {
  return listed(fieldNames(shape).map(notation.spell), "and") || "none";
}

/** What to write in place of a value: what it means by a habit that many have, or else what is allowed. */
export function hintFor(shape: Shape, value: unknown, notation: Notation): string {
  if (shape.kind === "text" && shape.isSecret) return "write one line of text, in quotes";
  return hintForHabit(shape, value, notation) ?? allowedHint(shape, value, notation);
}

/** The hint for a value that is a habit from another format or API; `test/support/apply-hint.ts` lists the hints. */
function hintForHabit(shape: Shape, value: unknown, notation: Notation): string | undefined {
  // ${SEED}, as tools that replace variables in their files have it.
  if (isPlaceholder(value)) return "variables are not replaced here: write the value";

  // "503" for 503.
  if (typeof value === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(value) && isAllowed(shape, Number(value))) {
    return `write ${Number(value)} without quotes`;
  }

  // 90 for 90s or 90m, which the shape knows. The hint of a text reads texts: a number may be one that lacks its quotes or its unit.
  const isWord = typeof value === "string" || typeof value === "number";
  let hintOfShape: string | undefined;
  if (shape.kind === "choice" && isWord) hintOfShape = shape.hint?.(value);
  if (shape.kind === "text" && isWord) hintOfShape = shape.hint?.(String(value));
  if (hintOfShape !== undefined) return hintOfShape;

  // bnk and Bank for bank. A similar number is not more likely to be the intended one.
  if (shape.kind === "choice" && typeof value === "string") {
    const meant = nearest(
      value,
      shape.choices.filter((choice) => typeof choice === "string"),
    );
    return meant === undefined ? undefined : `did you mean ${meant}?`;
  }

  // 2024 for "2024".
  const canBeQuoted = typeof value === "number" || typeof value === "boolean";
  if (shape.kind === "text" && canBeQuoted && isAllowed(shape, String(value))) return "write it in quotes";

  // attestations:read for [attestations:read], as OAuth has its scopes in a text.
  if (shape.kind !== "list" || typeof value === "object") return undefined;
  const items = typeof value === "string" ? value.split(/[\s,]+/) : [value];
  const areItems = items.every((item) => isAllowed(shape.item, item));
  return areItems ? `write a list: ${writeValue(items, notation)}` : undefined;
}

/** Whether a value stands for another one in other tools: `${SEED}`, `$SEED`, `{{ seed }}`, `%SEED%`. */
export function isPlaceholder(value: unknown): boolean {
  return typeof value === "string" && /^(?:\$\{.*\}|\$[A-Za-z_]\w*|\{\{.*\}\}|%\w+%)$/.test(value.trim());
}

/** What may be written in place of a value, in the caller's notation. */
function allowedHint(shape: Shape, value: unknown, notation: Notation): string {
  const hasParts = shape.kind === "record" || shape.kind === "mapping" || shape.kind === "list";
  // `keys:` without anything below it that is indented more.
  const isEmptyInYaml = value === null && notation.language === "yaml";
  if (hasParts && isEmptyInYaml) return "indent below it what belongs to it, or remove it";

  switch (shape.kind) {
    case "choice":
      return `write ${writeChoices(shape.choices, notation)}`;
    case "boolean":
      return "write true or false, without quotes";
    case "text":
      return `write ${shape.example === undefined ? describeShape(shape) : `a value such as ${shape.example}`}`;
    case "record":
      return `write { ${writeName("my-name", notation)}: … }`;
    case "mapping":
      return `write a mapping; its fields are ${knownFields(shape, notation)}`;
    default:
      return `write ${describeShape(shape)}`;
  }
}

/** What a shape allows, in words, with choices as in JSON: `a string of 1 to 200 characters`, `"bank" or "insurer"`. */
export function describeShape(shape: Shape): string {
  switch (shape.kind) {
    case "choice": {
      const choices = shape.choices.map((choice) => JSON.stringify(choice));
      return listed(choices, "or");
    }
    case "number": {
      const { min, max } = shape;
      const noun = shape.isWhole ? "an integer" : "a number";
      if (min === undefined || max === undefined) return noun + rangeWords(shape);
      return `${noun} from ${min} to ${max.toLocaleString("en")}`;
    }
    case "list":
      return `a list${rangeWords(shape)}`;
    case "text": {
      const { noun, format, min = 0, max } = shape;
      if (noun !== undefined) return noun;
      if (format === "uuid") return "a UUID";
      if (max !== undefined) return `a string of ${min} to ${max} characters`;
      return min > 0 ? "a string that is not empty" : "a string";
    }
    case "boolean":
      return "a boolean";
    case "null":
      return "null";
    case "anything":
      return "any value";
    case "either":
      return listed(shape.options.map(describeShape), "or");
    case "mapping":
    case "record":
      return "a mapping";
  }
}

/** ` of 1 to 3`, ` of at least 1`, ` of at most 3`; empty without a limit. */
function rangeWords({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max.toLocaleString("en")}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max.toLocaleString("en")}`;
}
