import { longestSpelling } from "../written-scenario.js";

// A number in a body is sent as JSON, which has the shortest text of a value: `1.5` for `1.50`, and `1234567890123456800` for
// `1234567890123456789`. The first two are one number, the other two are not.

/** Whether JSON has the number that a text means. */
export function isExactInJson(value: number, text: string): boolean {
  // The spelling of a longer number is cut.
  if (!Number.isFinite(value) || text.length >= longestSpelling) return false;
  const isHexOrOctal = /^0[xo]/.test(text);
  const decimal = isHexOrOctal ? String(BigInt(text)) : text;
  return inOneForm(decimal) === inOneForm(String(value));
}

/**
 * A decimal number without its sign, in one form for all texts of it: its digits as a whole number, and the power of ten.
 *
 *   1.5, +1.50, 0.15e1     15e-1
 *   1200                   12e2
 *   0, 0.00                0
 */
function inOneForm(text: string): string {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^[+-]?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];

  // Without its point, `1.50` is 150e-2.
  const digits = (whole + fraction).replace(/^0+/, "");
  const power = Number(exponent) - fraction.length;
  if (digits === "") return "0";

  // Each zero at the end is one power of ten: 150e-2 is 15e-1.
  const shortDigits = digits.replace(/0+$/, "");
  const zeros = digits.length - shortDigits.length;
  return `${shortDigits}e${power + zeros}`;
}
