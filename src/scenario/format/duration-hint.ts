import { day, parseDuration, scenarioDuration } from "../../rules/time.js";

// Durations as other tools write them. A scenario has `90s`, `10m`, `2h` and `7d`.

/** In several units, or in ISO 8601: `1h30m`, `1d12h`, `PT90M`, `+1h`. An M is minutes; `P3M` would be months, which no scenario has. */
const severalUnits =
  /^(?<sign>[+-]?)(?:P(?!\d+M))?(?:(?<days>\d{1,6})D)?T?(?:(?<hours>\d{1,6})H)?(?:(?<minutes>\d{1,6})M)?(?:(?<seconds>\d{1,6})S)?$/i;

/** A number and the word of a unit, which its start identifies: `90 seconds`, `1.5hrs`, `2 weeks`; but not `2 months`. */
const unitInWords = /^(?<sign>[+-]?)(?<count>\d{1,6}(?:\.\d{1,3})?) ?(?<unit>ms|milli|m(?!o)|[wdhs])[a-z]*$/i;

/** The durations that a text may mean, the likeliest first; `units` are those of a number without one. */
export function meantDurations(text: string, units: readonly string[] = ["s", "m"]): string[] {
  if (/^[+-]?\d+$/.test(text)) return units.map((unit) => text + unit);

  const parts = severalUnits.exec(text)?.groups;
  if (parts !== undefined) {
    const { sign, days = 0, hours = 0, minutes = 0, seconds = 0 } = parts;
    const wholeMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
    return withAndWithoutSign(sign, (wholeMinutes * 60 + Number(seconds)) * 1000);
  }

  const words = unitInWords.exec(text)?.groups;
  if (words === undefined) return [];
  const { sign, count, unit = "" } = words;
  // The only unit that no duration of a scenario has is the week.
  const length = parseDuration(`1${unit.toLowerCase().replace("milli", "ms")}`) ?? 7 * day;
  return withAndWithoutSign(sign, Math.round(Number(count) * length));
}

function withAndWithoutSign(sign = "", milliseconds: number): string[] {
  if (milliseconds === 0) return [];
  const duration = scenarioDuration(milliseconds);
  return [...new Set([sign + duration, duration])];
}
