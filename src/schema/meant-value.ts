import { isAllowed } from "./allowed.js";
import { type Notation, writeValue } from "./notation.js";
import type { Shape } from "./shape-kinds.js";
import { nearest } from "./words.js";

// What a wrong value probably means: a habit from another format or API. A hint of this file mends the value as it is
// written there; `test/support/apply-hint.ts` lists the hints, each with its habit.

/** A value that its shape does not allow. */
interface WrongValue {
  readonly value: unknown;
  readonly shape: Shape;
  readonly notation: Notation;
}

/** The first that knows the value gives the hint. */
const guesses: readonly ((wrong: WrongValue) => string | undefined)[] = [
  numberInQuotes, // "503" for 503
  hintOfShape, // 90 for 90s or 90m
  misspelledChoice, // bnk for bank
  textWithoutQuotes, // 2024 for "2024"
  itemsWithoutList, // attestations:read for [attestations:read]
];

/** The hint for a wrong value that probably means another one; `undefined` if nothing shows what it means. */
export function hintForMeant(wrong: WrongValue): string | undefined {
  for (const guess of guesses) {
    const hint = guess(wrong);
    if (hint !== undefined) return hint;
  }
  return undefined;
}

function numberInQuotes({ value, shape }: WrongValue): string | undefined {
  if (typeof value !== "string" || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  const number = Number(value);
  return isAllowed(shape, number) ? `write ${number} without quotes` : undefined;
}

/** What the shape itself knows about wrong values. */
function hintOfShape({ value, shape }: WrongValue): string | undefined {
  if (shape.kind === "choice") return shape.hint?.(value);
  if (shape.kind !== "text") return undefined;
  // The hint of a text reads texts. A number may be one that lacks its quotes or its unit.
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return shape.hint?.(String(value));
}

function misspelledChoice({ value, shape }: WrongValue): string | undefined {
  if (shape.kind !== "choice" || value === null) return undefined;
  // A similar number is not more likely to be the intended one.
  if (typeof shape.choices[0] === "number") return undefined;
  const meant = nearest(String(value), shape.choices.map(String));
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

function textWithoutQuotes({ value, shape }: WrongValue): string | undefined {
  const canBeQuoted = typeof value === "number" || typeof value === "boolean";
  const isMeant = shape.kind === "text" && canBeQuoted && isAllowed(shape, String(value));
  return isMeant ? "write it in quotes" : undefined;
}

/** Items in a text, as OAuth has its scopes. */
function itemsWithoutList({ value, shape, notation }: WrongValue): string | undefined {
  if (shape.kind !== "list" || typeof value === "object") return undefined;
  const { item } = shape;
  const items = typeof value === "string" ? value.split(/[\s,]+/) : [value];
  const areItems = items.every((part) => isAllowed(item, part));
  return areItems ? `write a list: ${writeValue(items, notation)}` : undefined;
}
