import { day, parseDuration, scenarioDuration } from "../../rules/time.js";

// What a text means that is no duration of a scenario.

const compound = /^([+-]?)(P?)(?:(\d{1,6})D)?(T?)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?$/i;
const spelled = /^([+-]?)(\d{1,6}(?:\.\d{1,3})?) ?(ms|milli|m(?!o)|[wdhs])[a-z]*$/i;

/** What to write in place of a text that is no allowed duration, if it can be told. */
export function durationHint(
  text: string,
  isAllowed: (text: string) => boolean,
  units = ["s", "m"],
): string | undefined {
  const meant = new Set(meantDurations(text, units));
  const [first, second] = [...meant].filter(isAllowed);
  if (first === undefined) return undefined;

  let hint = `write ${first}`;
  if (text.endsWith("M") && first.endsWith("m")) hint += " (minutes)";
  // `90s` is only meant by `-90 seconds` where no sign is allowed.
  if (second !== undefined && !first.endsWith(second)) hint += ` or ${second}`;
  return hint;
}

/** Returns the durations that a text probably means: without a unit, in other or several units, in ISO 8601, with a wrong sign. */
function meantDurations(text: string, units: readonly string[]): string[] {
  if (/^[+-]?\d+$/.test(text)) return units.map((unit) => text + unit);
  const parts = compound.exec(text);
  if (parts !== null) return compoundDurations(text, parts);
  const words = spelled.exec(text);
  if (words === null) return [];

  const [, sign = "", count, name = ""] = words;
  const unit = name.toLowerCase().replace("milli", "ms");
  // No duration of a scenario is in weeks.
  const length = parseDuration(`1${unit}`) ?? 7 * day;
  return signedDurations(sign, Math.round(Number(count) * length));
}

/** In several units: `1h30m`, `PT90M`, `P1D`. */
function compoundDurations(text: string, parts: RegExpExecArray): string[] {
  const [, sign = "", iso = "", days = 0, separator = "", hours = 0, minutes, seconds = 0] = parts;
  if (minutes !== undefined) {
    const months = `${sign}${Number(minutes) * 30}d`;
    // In ISO 8601, an M before the T is a month. Anywhere else, a capital M may be one.
    if (iso !== "" && separator === "") return [months];
    if (iso === "" && text.endsWith("M")) return [`${sign}${minutes}m`, months];
  }

  const sum = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds);
  return signedDurations(sign, sum * 1000);
}

/** A length with its sign, then without. None is meant by a length of zero. */
function signedDurations(sign: string, length: number): string[] {
  if (length === 0) return [];
  const plain = scenarioDuration(length);
  return [sign + plain, plain];
}
