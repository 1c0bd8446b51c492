import { day, parseDuration, scenarioDuration } from "../../rules/time.js";

// What a text means that is no duration of a scenario.

const compound = /^([+-]?)(P?)(?:(\d{1,6})D)?(T?)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?$/i;
const spelled = /^([+-]?)(\d{1,6}(?:\.\d{1,3})?) ?(ms|milli|m(?!o)|[wdhs])[a-z]*$/i;

/** Returns the durations that a text probably means: without a unit, in other or several units, in ISO 8601, with a wrong sign. */
function meantDurations(text: string, units: readonly string[]): string[] {
  if (/^[+-]?\d+$/.test(text)) return units.map((unit) => text + unit);
  const parts = compound.exec(text);
  if (parts !== null) return compoundDurations(text, parts);
  const [, sign = "", count = 0, name = "s"] = spelled.exec(text) ?? [];
  const unit = name.toLowerCase().replace("milli", "ms");
  // No duration of a scenario is in weeks.
  const length = parseDuration(`1${unit}`) ?? 7 * day;
  return signedDurations(sign, Math.round(Number(count) * length));
}

/** In several units: `1h30m`, `PT90M`, `P1D`. */
function compoundDurations(text: string, parts: RegExpExecArray): string[] {
  const [, sign = "", iso, days = 0, t, hours = 0, minutes = 0, seconds = 0] = parts;
  // In ISO 8601, an M before the T is a month.
  const isMonths = iso !== "" ? t === "" : text.endsWith("M");
  if (minutes !== 0 && isMonths)
    return [`${sign}${minutes}m`, `${sign}${Number(minutes) * 30}d`].slice(iso ? 1 : 0);
  const sum = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return signedDurations(sign, sum * 1000);
}

/** A length with its sign, then without. None is meant by a length of zero. */
function signedDurations(sign: string, length: number): string[] {
  const plain = scenarioDuration(length);
  return length > 0 ? [sign + plain, plain] : [];
}

/** What to write in place of a text that is no allowed duration, if it can be told. */
export function durationHint(
  text: string,
  isAllowed: (text: string) => boolean,
  units = ["s", "m"],
): string | undefined {
  const [first, second] = [...new Set(meantDurations(text, units))].filter(isAllowed);
  if (first === undefined) return undefined;
  const isMinutes = text.endsWith("M") && first.endsWith("m") ? " (minutes)" : "";
  return `write ${first}${isMinutes}${second === undefined || first.endsWith(second) ? "" : ` or ${second}`}`;
}
