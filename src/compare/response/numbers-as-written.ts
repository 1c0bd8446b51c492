import { type FieldPath, pathText } from "../../schema/field-path.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { shownText } from "./describe.js";

/**
 * Returns the digits of the numbers that JavaScript writes in another way than a JSON text, by their places: for
 * `{"a": 1.50}`, `a` and `1.50`. `value` is the value of the text.
 */
export function numbersAsWritten(json: string, value: unknown): ReadonlyMap<string, string> {
  // The same value with a string for each number, which keeps its digits. A text that is not JSON has none.
  const valueWithDigits = tryParseJson(quoteNumbers(json));
  return new Map(numbersInOtherForm(value, valueWithDigits, []));
}

/** Makes each number in a JSON text a string: `{"a": 1.50}` becomes `{"a": "1.50"}`. */
function quoteNumbers(json: string): string {
  const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return json.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

function* numbersInOtherForm(
  value: unknown,
  valueWithDigits: unknown,
  path: FieldPath,
): Generator<[place: string, digits: string]> {
  if (typeof value === "number") {
    const digits = valueWithDigits;
    if (typeof digits === "string" && digits !== String(value)) yield [pathText(path), shownText(digits)];
    return;
  }

  if (Array.isArray(value) && Array.isArray(valueWithDigits)) {
    for (const [index, item] of value.entries()) {
      yield* numbersInOtherForm(item, valueWithDigits[index], [...path, index]);
    }
  }
  if (isMapping(value) && isMapping(valueWithDigits)) {
    for (const [name, member] of Object.entries(value)) {
      yield* numbersInOtherForm(member, valueWithDigits[name], [...path, name]);
    }
  }
}
