import { camelCaseName } from "./spelling.js";
import { listed } from "./words.js";

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
export function writeValue(value: unknown, notation: Notation): string {
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
