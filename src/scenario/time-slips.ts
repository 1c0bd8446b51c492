import { parseDuration } from "./duration.js";
import { convertedDuration } from "./duration-slips.js";
import { quote } from "./quote.js";
import { daysInMonth, maximumDuration, parseTime } from "./when.js";

const example = "2026-03-02T09:00:00Z";
const units = "ms, s, m, h or d";

/** What is wrong with a text that should be a time (or, where allowed, a duration), and what to write instead. */
export function timeSlip(text: string, durationAllowed: boolean): { message: string; hint: string } {
  const message = `${quote(text)} is not ${durationAllowed ? "a time or a duration" : "a time"}`;
  const impossible = impossibleDate(text);
  if (impossible !== undefined) return impossible;
  const fixed = repairedTime(text);
  if (fixed !== undefined) return { message, hint: fixed };
  if (durationAllowed) return durationSlip(text, message);
  const isDuration = parseDuration(text) !== undefined;
  return {
    message,
    hint: `write an ISO 8601 time with its zone, such as ${example}${isDuration ? "; a duration has nothing to start from here" : ""}`,
  };
}

function impossibleDate(text: string): { message: string; hint: string } | undefined {
  const [, year, month, day] = text.match(/^(\d{4})-(\d{2})-(\d{2})(?!\d)/) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const date = `${year}-${month}-${day}`;
  if (Number(month) < 1 || Number(month) > 12) {
    return { message: `there is no date ${date}`, hint: "months go from 01 to 12" };
  }
  const last = daysInMonth(Number(year), Number(month));
  if (Number(day) >= 1 && Number(day) <= last) return undefined;
  return { message: `there is no date ${date}`, hint: `${year}-${month} has ${last} days` };
}

function repairedTime(text: string): string | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `add the time of day and the zone: ${text}T00:00:00Z`;
  const spaced = text.replace(/^(\d{4}-\d{2}-\d{2})[ t]+(?=\d)/, "$1T").replace(/ *z$/i, "Z");
  if (parseTime(spaced) !== undefined && spaced !== text) return `write ${spaced}`;
  if (parseTime(`${spaced}Z`) !== undefined) return `add the zone: ${spaced}Z`;
  return undefined;
}

function durationSlip(text: string, message: string): { message: string; hint: string } {
  if (/^[+-]?\d+$/.test(text)) {
    return { message, hint: `a duration needs its unit (${units}): ${text}s or ${text}m, for example` };
  }
  if (/^[+-]?\d+(?:ms|s|m|h|d)$/.test(text)) {
    const years = maximumDuration / (365 * 24 * 60 * 60_000);
    return { message: `${quote(text)} is too long`, hint: `a duration is ${years} years at most` };
  }
  const converted = convertedDuration(text);
  if (converted !== undefined) return { message, hint: `write ${converted}` };
  return {
    message,
    hint: `write a whole number with one unit (${units}) such as 90m, or a time such as ${example}`,
  };
}
