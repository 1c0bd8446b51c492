import { parseDuration } from "./duration.js";

/** The longest text that is taken apart as a duration in words. */
const longestText = 60;

const units: readonly (readonly [RegExp, string, number])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/i, "ms", 1],
  [/^(?:s|secs?|seconds?)$/i, "s", 1],
  [/^(?:m|mins?|minutes?)$/i, "m", 1],
  [/^(?:h|hrs?|hours?)$/i, "h", 1],
  [/^(?:d|days?)$/i, "d", 1],
  [/^(?:w|wks?|weeks?)$/i, "d", 7],
];

/**
 * A duration that is written in another way than ours, as we write it; `undefined` for what is no duration.
 *
 * @example
 * convertedDuration("1h30m"); // "90m"
 * convertedDuration("5 minutes"); // "5m"
 */
export function convertedDuration(text: string): string | undefined {
  if (text.length > longestText) return undefined;
  const [, sign = "", whole = ""] = /^\s*([+-]?)\s*(.*?)\s*$/s.exec(text) ?? [];
  // PT1H30M is how ISO 8601 writes it.
  const words = whole.replace(/^P(?=T?\d)/i, "").replace(/^((?:\d+D)?)T(?=\d)/i, "$1");
  const parts = partsOf(words);
  const [first] = parts ?? [];
  if (parts === undefined || first === undefined) return undefined;
  const isPlain = parts.length === 1 && Number.isInteger(first.amount);
  const written = isPlain ? `${first.amount}${first.unit}` : inLargestUnit(parts);
  return written !== undefined && parseDuration(written) !== undefined ? sign + written : undefined;
}

interface Part {
  readonly amount: number;
  readonly unit: string;
}

function partsOf(words: string): Part[] | undefined {
  const parts: Part[] = [];
  let rest = words;
  while (rest !== "") {
    const [matched, amount, word = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*(?:and\s+)?/i.exec(rest) ?? [];
    const unit = units.find(([expression]) => expression.test(word));
    if (matched === undefined || unit === undefined) return undefined;
    parts.push({ amount: Number(amount) * unit[2], unit: unit[1] });
    rest = rest.slice(matched.length);
  }
  return parts;
}

function inLargestUnit(parts: readonly Part[]): string | undefined {
  const lengths = parts.map(({ amount, unit }) => amount * (parseDuration(`1${unit}`) ?? Number.NaN));
  const length = Math.round(lengths.reduce((sum, one) => sum + one, 0));
  const unit = ["d", "h", "m", "s", "ms"].find((one) => length % (parseDuration(`1${one}`) ?? 1) === 0);
  return unit === undefined ? undefined : `${length / (parseDuration(`1${unit}`) ?? 1)}${unit}`;
}
