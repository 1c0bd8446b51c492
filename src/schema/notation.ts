import type { Mistake } from "./problem.js";
import type { Shape } from "./shape-kinds.js";
import { isMapping } from "./type-tag.js";
import { listed } from "./words.js";

/** How a caller writes values: hints are in its words. */
export interface Notation {
  readonly language: "yaml" | "json" | "javascript";
  /** What the whole value is called: `body`. */
  readonly nameOfWhole: string;
  /** The name of a field as the caller spells it. */
  readonly spell: (field: string) => string;
  /** The hint for a mistake that only this notation has, such as an indent. */
  readonly ownHint: (mistake: Mistake, root: Shape, whole: unknown) => string | undefined;
}

/** A body of the control plane, or another value in JSON. */
export const jsonNotation: Notation = {
  language: "json",
  nameOfWhole: "body",
  spell: (field) => field,
  ownHint: () => undefined,
};

/** `bank-1`, `/v1/me` and `consents:read`; a colon at the end would make a mapping. */
const bareWord = /^[a-z/]([\w./:-]*[\w./-])?$/i;
/** The words that YAML reads as flags, or as null. */
const valueWord = /^(?:true|false|null|yes|no|on|off)$/i;
/** `200.test`. */
const outcomeId = /^\d{3}\.[a-z_]+$/;
/** `90s`; `0xab` would be a number. */
const duration = /^-?(?!0x)\d+[a-z]+$/i;
/** `2026-01-31T09:00:00Z`. */
const instantText = /^\d{4}-\d\d-\d\dT[\d:.+-]+Z?$/i;

/** Whether a text is one of the common ones that need no quotes in YAML, also in a list. */
function isPlainInYaml(text: string): boolean {
  if (valueWord.test(text)) return false;
  return [bareWord, outcomeId, duration, instantText].some((pattern) => pattern.test(text));
}

/** A value as a caller writes it. For `undefined` it has `…`, which the reader of a hint fills in. */
export function writeValue(value: unknown, notation: Notation): string {
  if (value === undefined) return "…";
  if (Array.isArray(value)) return `[${value.map((item) => writeValue(item, notation)).join(", ")}]`;
  if (isMapping(value)) {
    const members = Object.entries(value).map(([name, member]) => writeField(name, member, notation));
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  if (notation.language === "yaml" && typeof value === "string" && isPlainInYaml(value)) return value;
  return JSON.stringify(value);
}

/** A field as a caller writes it: `per_minute: 60`, `"per_minute": 60`, `perMinute: 60`. */
export function writeField(name: string, value: unknown, notation: Notation): string {
  return `${writeName(name, notation)}: ${writeValue(value, notation)}`;
}

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
