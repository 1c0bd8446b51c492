import type { Members } from "../../schema/check.js";
import type { FieldPath } from "../../schema/field-path.js";

// The numbers in bodies are sent as JSON, or compared with it. JSON has the shortest text of a value: `1.5` for `1.50`, but also
// `1234567890123456800` for `1234567890123456789`.

/** Where a text has a number in a body that JSON may not keep. `sourceOf` is how the text writes it. */
export function changedNumbers(
  { endpoints, story }: Members,
  sourceOf: (field: FieldPath) => string | undefined,
): FieldPath[] {
  const changed: FieldPath[] = [];
  for (const [field, number] of numbersIn({ endpoints, story }, [])) {
    // Two steps are before it at least: `endpoints.listConsents.body`, `story[0].request.body`.
    const isInBody = field.indexOf("body", 2) !== -1;
    const source = sourceOf(field);
    if (isInBody && source !== undefined && !isKept(source, number)) changed.push(field);
  }
  return changed;
}

function* numbersIn(part: unknown, field: FieldPath): Generator<readonly [field: FieldPath, number]> {
  if (typeof part === "number") yield [field, part];
  if (typeof part !== "object" || part === null) return;
  for (const [name, inner] of Object.entries(part)) {
    const step = Array.isArray(part) ? Number(name) : name;
    yield* numbersIn(inner, [...field, step]);
  }
}

/** Each number with so many digits has them in JSON, too, unless it is tiny. One with more may be rounded. */
const keptDigits = 15;
const tiny = 1e-300;

/** Whether JSON has the number as a text writes it. A code such as `007` would lose its zeros. */
function isKept(source: string, number: number): boolean {
  if (source === String(number)) return true;
  if (/^[+-]?0\d/.test(source) || !Number.isFinite(number)) return false;

  const isWhole = /^(?:[+-]?\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source);
  if (isWhole) return Number.isSafeInteger(number);

  const [coefficient = ""] = source.split(/e/i, 1);
  const digits = coefficient.replace(/\D/g, "");
  const isZero = /^0*$/.test(digits);
  return digits.length <= keptDigits && (isZero || Math.abs(number) >= tiny);
}
