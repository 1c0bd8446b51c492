import { isAtHour24, isOnCalendar, parseTime, shortTime, timePattern } from "./time.js";

// What is said about a text that is no time.

/** What is wrong with a text that is no time, and what to write. */
export function timeHint(text: string): string {
  const meant = meantTime(text);
  if (meant !== undefined) return `write ${meant}`;

  // A time that does not exist.
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !isOnCalendar(text)) return `there is no day ${text.slice(0, 10)}`;
  if (timePattern.test(text) && isAtHour24(text)) {
    return "there is no such hour: a day ends with 23:59:59.999";
  }

  return "write an ISO 8601 time with a zone, in the years 0000 to 9999, such as 2026-03-02T09:00:00Z";
}

/** The time that a text means; `undefined` if nothing shows it. */
function meantTime(text: string): string | undefined {
  // `1772442000`: seconds since 1970 have 9 or 10 digits between 1973 and 2286, milliseconds 12 or 13.
  if (/^\d{9,10}$|^\d{12,13}$/.test(text)) {
    const unit = text.length > 10 ? 1 : 1000;
    return shortTime(new Date(Number(text) * unit).toISOString());
  }

  // `2026-03-02 09:00:00 +0200`: a space is a T, or is not needed, and the zone lacks its colon.
  const withT = text.replace(" ", "T").replace(" ", "");
  const spelled = withT.replace(/^([^T]*T.*[+-]\d\d)(\d\d)$/, "$1:$2");
  // `2026-03-02` lacks the time of day, `2026-03-02T09:00:00` the zone.
  const candidates = [spelled, `${spelled}T00:00:00Z`, `${spelled}Z`];
  return candidates.find((time) => parseTime(time) !== undefined);
}
