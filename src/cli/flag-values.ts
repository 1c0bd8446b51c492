import { type Profile, profiles } from "../domain/assumptions.js";
import { farmerLocaleChoices, mostFarmers } from "../domain/farmer.js";
import { type ReportFormat, reportFormats } from "../report/render/document.js";
import { parseDuration, parseTime, timeHint } from "../scenario/format/time.js";
import { listed, nearest, quote } from "../scenario/problems/words.js";
import {
  type FixtureFormat,
  fixtureFormats,
  type KeyFormat,
  keyFormats,
  type LogFormat,
  logFormats,
} from "./formats.js";
import { usageError } from "./usage-error.js";

// Each of these understands the value of one flag. `from` is where it stood: the flag, or the variable in its place.

export function readPort(text: string, from: string): number {
  const port = wholeNumber(text);
  if (port !== undefined && port <= 65_535) return port;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a port. Give a whole number from 0 to 65535; 0 takes any free port.`,
  );
}

export function readSeed(text: string, from: string): number {
  const seed = wholeNumber(text);
  if (seed !== undefined) return seed;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a seed. Give a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
  );
}

export function readNow(text: string, from: string): number {
  const now = parseTime(text);
  if (now !== undefined) return now;
  throw usageError(`Failed to read ${from}: ${quote(text)} is not a time; ${timeHint(text)}.`);
}

export function readHost(text: string, from: string): string {
  // Node takes an empty address for all of them, which would open the sandbox to the network.
  if (text.trim() !== "" && !text.includes("/")) return text.replace(/^\[(.*)\]$/, "$1");
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not an address. Give one such as 127.0.0.1, ::1 or 0.0.0.0.`,
  );
}

export function readPath(text: string, from: string): string {
  if (text !== "") return text;
  throw usageError(`Failed to read ${from}: the name of the file is empty.`);
}

export function readDuration(text: string, from: string): number {
  const duration = parseDuration(text);
  if (duration !== undefined && duration > 0) return duration;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a length of time. Give one such as 90s, 10m or 2h.`,
  );
}

const tokenPattern = /^[A-Za-z0-9._~+/-]{8,}=*$/;

export function readToken(text: string, from: string): string {
  if (tokenPattern.test(text)) return text;
  // The token itself is not repeated: it may be right but for one character.
  throw usageError(
    `Failed to read ${from}: a token is at least 8 letters, digits and . _ ~ + / - (what fits into an Authorization header).`,
  );
}

export function readLogFormat(text: string, from: string): LogFormat {
  return oneOf(logFormats, text, from);
}

export function readProfile(text: string, from: string): Profile {
  return oneOf(profiles, text, from);
}

export function readReportFormat(text: string, from: string): ReportFormat {
  return oneOf(reportFormats, text, from);
}

export function readRequestCount(text: string, from: string): number {
  const count = wholeNumber(text);
  if (count !== undefined && count > 0) return count;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a number of requests. Give a whole number from 1 on.`,
  );
}

export function readPercent(text: string, from: string): number {
  const percent = wholeNumber(text);
  if (percent !== undefined && percent <= 100) return percent;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a percentage. Give a whole number from 0 to 100.`,
  );
}

export function readSpeed(text: string, from: string): number {
  if (text === "max") return Number.POSITIVE_INFINITY;
  const speed = /^(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : 0;
  if (speed > 0 && speed < Number.POSITIVE_INFINITY) return speed;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a speed. Give a number above 0, such as 2 or 0.5, or max not to wait at all.`,
  );
}

export function readFormat(text: string, from: string): KeyFormat {
  return oneOf(keyFormats, text, from);
}

export function readFixtureFormat(text: string, from: string): FixtureFormat {
  return oneOf(fixtureFormats, text, from);
}

export function readCount(text: string, from: string): number {
  const count = wholeNumber(text);
  if (count !== undefined && count <= mostFarmers) return count;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not a number of records. Give a whole number from 0 to ${mostFarmers}.`,
  );
}

export function readIndex(text: string, from: string): number {
  const index = wholeNumber(text);
  if (index !== undefined && index < mostFarmers) return index;
  throw usageError(
    `Failed to read ${from}: ${quote(text)} is not an index. Give a whole number from 0 to ${mostFarmers - 1}.`,
  );
}

export function readLocale(text: string, from: string): string {
  // `en-gh` is what the standards call it, and nobody minds the letter case.
  const wanted = text.replace("-", "_").toLowerCase();
  return oneOf(
    farmerLocaleChoices,
    farmerLocaleChoices.find((one) => one.toLowerCase() === wanted) ?? text,
    from,
  );
}

const yes = new Set(["1", "true", "yes", "on"]);
const no = new Set(["0", "false", "no", "off"]);

/** Understands a variable that stands in for a switch. */
export function readSwitch(text: string, from: string): boolean {
  const word = text.toLowerCase();
  if (yes.has(word)) return true;
  if (no.has(word)) return false;
  throw usageError(`Failed to read ${from}: ${quote(text)} is neither yes nor no. Give 1 or 0.`);
}

function oneOf<const Choice extends string>(choices: readonly Choice[], text: string, from: string): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const meant = nearest(text, choices);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  throw usageError(`Failed to read ${from}: ${quote(text)} is not one of ${listed(choices, "and")}.${hint}`);
}

function wholeNumber(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}
