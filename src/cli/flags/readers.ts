import { readHostName } from "../../node/host-names.js";
import { nodePlatform } from "../../node/platform.js";
import { lastClockInstant } from "../../rules/key-state.js";
import { parseDuration, parseTime, timeHint } from "../../rules/time.js";
import { didYouMean, listed, quote } from "../../schema/words.js";
import { usageError } from "../exit-codes.js";

/** Reads the text of a value; `flagOrVariable` is where it is from. Throws a usage error with that name. */
export type FlagReader<Value> = (text: string, flagOrVariable: string) => Value;

/** Creates a reader from a function that returns `undefined` for an invalid value; `expected` describes valid values. */
export function readerOf<Value>(
  read: (text: string) => Value | undefined,
  expected: string,
): FlagReader<Value> {
  return (text, flagOrVariable) => {
    const value = read(text);
    if (value !== undefined) return value;
    throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}. Use ${expected}.`);
  };
}

/** Creates a reader of whole numbers; `addition` follows the description of valid ones. */
export function wholeNumber(min: number, max: number, addition = ""): FlagReader<number> {
  const readText = (text: string) => {
    if (!/^\d{1,16}$/.test(text)) return undefined;
    const number = Number(text);
    return number >= min && number <= max ? number : undefined;
  };
  return readerOf(readText, `a whole number from ${min} to ${max}${addition}`);
}

/** Creates a reader that accepts these choices. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): FlagReader<Choice> {
  return (text, flagOrVariable) => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    const hint = didYouMean(text, choices);
    throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}.${hint} Use ${listed(choices, "or")}.`);
  };
}

export const readFileName = readerOf((text) => text || undefined, "the name of a file");

/** Whether a text turns a switch on. */
export function isOn(text: string): boolean {
  return ["1", "true", "yes", "on"].includes(text.toLowerCase());
}

export const readSwitch = readerOf((text) => {
  if (isOn(text)) return true;
  return ["0", "false", "no", "off"].includes(text.toLowerCase()) ? false : undefined;
}, "1 or 0");

/** Whether a word is a port, which people write in place of a scenario or a URL. */
export function isPort(word: string): boolean {
  return /^\d{2,5}$/.test(word) && Number(word) <= 65_535;
}

export const readPort = wholeNumber(0, 65_535, "; 0 uses any free port");

export const readHost = readerOf((text) => {
  // Node listens on all addresses if the address is empty, which would open the sandbox to the network.
  if (text.trim() === "" || text.includes("/")) return undefined;
  // The brackets that an IPv6 address has in a URL.
  return text.replace(/^\[(.*)\]$/, "$1");
}, "an address such as 127.0.0.1, ::1 or 0.0.0.0");

const readAllowHost = readerOf(readHostName, "a name such as sandbox.example, with its port if it has one");

export function readAllowHosts(text: string, flagOrVariable: string): string[] {
  return text.split(",").map((name) => readAllowHost(name.trim(), flagOrVariable));
}

const largestSeed = Number.MAX_SAFE_INTEGER;
export const readSeed = wholeNumber(0, largestSeed);

const readNumberOfSeed = wholeNumber(0, largestSeed, ", or random");

export function readSeedOrRandom(text: string, flagOrVariable: string): number {
  if (text === "random") return nodePlatform.random();
  return readNumberOfSeed(text, flagOrVariable);
}

export function readClockStart(text: string, flagOrVariable: string): number {
  const time = parseTime(text);
  if (time === undefined) throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}: ${timeHint(text)}.`);
  if (time <= lastClockInstant) return time;
  const latest = new Date(lastClockInstant).toISOString();
  throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}: the latest time is ${latest}.`);
}

/** The characters that an Authorization header may have, and enough of them. */
const tokenPattern = /^[A-Za-z0-9._~+/-]{8,}=*$/;

/** The message leaves out the token, which may be valid except for one character. */
export function readToken(text: string, flagOrVariable: string): string {
  if (tokenPattern.test(text)) return text;
  throw usageError(
    `${flagOrVariable} is not a valid token. Use at least 8 letters, digits and . _ ~ + / - (the characters of an Authorization header).`,
  );
}

/** Creates a reader of durations, in milliseconds. */
export function durationLike(examples: string): FlagReader<number> {
  const readText = (text: string) => {
    const duration = parseDuration(text);
    if (duration === undefined || duration <= 0) return undefined;
    return duration;
  };
  return readerOf(readText, `a duration such as ${examples}`);
}
