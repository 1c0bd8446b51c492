import type { Mistake } from "./problem.js";
import { isMapping, type Shape } from "./shape.js";

/** How a caller writes values: hints are in its words. */
export interface Notation {
  readonly language: "yaml" | "json" | "javascript";
  /** What the whole value is called. */
  readonly whole: string;
  /** The name of a field as the caller spells it. */
  readonly spell: (field: string) => string;
  /** The hint for a mistake that only this notation has, such as an indent. */
  readonly hintOf: (mistake: Mistake, root: Shape, whole: unknown) => string | undefined;
}

/** A body of the control plane, or another value in JSON. */
export const jsonNotation: Notation = {
  language: "json",
  whole: "body",
  spell: (field) => field,
  hintOf: () => undefined,
};

/** A text that YAML reads as this text without quotes, and not as a number or a word of its own. */
const plainInYaml =
  /^(?!(?:true|false|null|yes|no|on|off)$)[a-z/][\w./:{}-]*(?<![:}])$|^-?\d+[a-z]+$|^\d{4}-\d\d-\d\dT[\d:.+-]+Z?$/i;

/** A value as a caller writes it; `undefined` is left to the reader: …. */
export function written(value: unknown, notation: Notation): string {
  if (value === undefined) return "…";
  if (Array.isArray(value)) return `[${value.map((item) => written(item, notation)).join(", ")}]`;
  if (isMapping(value)) {
    const members = Object.entries(value).map(([name, member]) => writtenField(name, member, notation));
    return `{ ${members.join(", ")} }`;
  }
  const isPlain = notation.language === "yaml" && typeof value === "string" && plainInYaml.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** A field as a caller writes it: `per_minute: 60`, `"per_minute": 60`, `perMinute: 60`. */
export function writtenField(name: string, value: unknown, notation: Notation): string {
  return `${writtenName(name, notation)}: ${written(value, notation)}`;
}

export function writtenName(name: string, notation: Notation): string {
  const spelled = notation.spell(name);
  const isBare =
    notation.language === "yaml" || (notation.language === "javascript" && /^\w+$/.test(spelled));
  return isBare ? spelled : JSON.stringify(spelled);
}

/** Several values to choose from: `test or live`. */
export function writtenChoices(values: readonly unknown[], notation: Notation): string {
  const texts = values.map((value) => written(value, notation));
  const last = texts.pop() ?? "";
  return texts.length === 0 ? last : `${texts.join(", ")} or ${last}`;
}
