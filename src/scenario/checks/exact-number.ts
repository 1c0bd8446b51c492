import { longestSpelling } from "../written-scenario.js";

// A number in a body is sent as JSON, which has the shortest text of a value: `1.5` for `1.50`, and `1234567890123456800` for
// `1234567890123456789`. The first two are one number, the other two are not.

/** Whether JSON has the number that a text means. */
export function isExactInJson(value: number, text: string): boolean {
  // Of a text of this length, the rest may be cut off.
  if (!Number.isFinite(value) || text.length >= longestSpelling) return false;
  const isHexOrOctal = /^0[xo]/.test(text);
  const decimal = isHexOrOctal ? String(BigInt(text)) : text;
  return digitsAndExponent(decimal) === digitsAndExponent(String(value));
}

/**
 * A decimal number without its sign, in one form for all texts of it: `15e-1` for `1.5`, `+1.50` and `0.15e1`, `12e2` for `1200`.
 * Empty for 0, and for what is no decimal number.
 */
function digitsAndExponent(text: string): string {
  const parts = /^[+-]?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  if (parts === null) return "";
  const [, whole = "", fraction = "", exponent = "0"] = parts;

  // `1200` has the digits `12`, and two zeros after them.
  const allDigits = whole + fraction;
  const withoutLastZeros = allDigits.replace(/0+$/, "");
  const lastZeros = allDigits.length - withoutLastZeros.length;
  const digits = withoutLastZeros.replace(/^0+/, "");
  if (digits === "") return "";
  return `${digits}e${Number(exponent) - fraction.length + lastZeros}`;
}
