import { day, parseDuration, scenarioDuration } from "../../rules/time.js";

/** In several units, `1h30m`, or in ISO 8601, `PT90M` and `P1D`. Also the empty text and a lone sign, which mean nothing. */
const severalUnits =
  /^(?<sign>[+-]?)(?<iso>P?)(?:(?<days>\d{1,6})D)?(?<time>T?)(?:(?<hours>\d{1,6})H)?(?:(?<minutes>\d{1,6})M)?(?:(?<seconds>\d{1,6})S)?$/i;

/** A number and the word of a unit, which its start identifies: `90 seconds`, `1.5hrs`, `2 weeks`; but not `2 months`. */
const unitInWords = /^(?<sign>[+-]?)(?<count>\d{1,6}(?:\.\d{1,3})?) ?(?<unit>ms|milli|m(?!o)|[wdhs])[a-z]*$/i;

/** What to write in place of a text that is no allowed duration; `undefined` if nothing shows what it means. */
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
  // `-90 seconds` means `-90s` where a sign is allowed, and only elsewhere `90s`.
  const isWithoutSign = second !== undefined && first.endsWith(second);
  if (second !== undefined && !isWithoutSign) hint += ` or ${second}`;
  return hint;
}

/** The durations that a text may mean, the likeliest first. */
function meantDurations(text: string, units: readonly string[]): string[] {
  const isOnlyNumber = /^[+-]?\d+$/.test(text);
  if (isOnlyNumber) return units.map((unit) => text + unit);

  const parts = severalUnits.exec(text)?.groups;
  if (parts !== undefined) return durationsOfParts(text, parts);
  const words = unitInWords.exec(text)?.groups;
  if (words !== undefined) return durationsOfWords(words);
  return [];
}

type Groups = Readonly<Record<string, string | undefined>>;

function durationsOfParts(text: string, parts: Groups): string[] {
  const { sign = "", iso, time, days = 0, hours = 0, minutes = 0, seconds = 0 } = parts;

  // An M may mean months, which a scenario has as days.
  if (parts.minutes !== undefined) {
    const asMonths = `${sign}${Number(minutes) * 30}d`;
    const isBeforeTime = iso !== "" && time === "";
    if (isBeforeTime) return [asMonths];
    if (iso === "" && text.endsWith("M")) return [`${sign}${minutes}m`, asMonths];
  }

  const wholeMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
  return withAndWithoutSign(sign, (wholeMinutes * 60 + Number(seconds)) * 1000);
}

function durationsOfWords(words: Groups): string[] {
  const { sign = "", count, unit = "" } = words;
  const unitOfScenario = unit.toLowerCase().replace("milli", "ms");
  // The only unit that no duration of a scenario has is the week.
  const length = parseDuration(`1${unitOfScenario}`) ?? 7 * day;
  return withAndWithoutSign(sign, Math.round(Number(count) * length));
}

function withAndWithoutSign(sign: string, milliseconds: number): string[] {
  if (milliseconds === 0) return [];
  const duration = scenarioDuration(milliseconds);
  return [sign + duration, duration];
}
