import { lastClockInstant } from "../rules/key-state.js";
import { parseDuration, parseTime, timeHint } from "../rules/time.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { usageError } from "./exit-codes.js";

/** A flag of a command. */
export interface Flag<Value> {
  /** As the help shows it: `-p, --port <number>`. */
  readonly spec: string;
  /** Its name on a command line and in messages: `--port`. */
  readonly long: string;
  /** Its letter: `p`. */
  readonly short: string | undefined;
  /** Whether it has a value, as `--port <number>` does. */
  readonly hasValue: boolean;
  /** What the help says about it. */
  readonly help: string;
  readonly read: FlagReader<Value>;
  /** The names of the flags that it cannot be used with: `untilStdinEnds`. */
  readonly conflicts: readonly string[];
  /** The title above it in the help. */
  readonly group: string;
}

/** The flags of a command, by the names of their values. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags, each with the type that its reader returns. */
export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags]?: Flags[Name] extends Flag<infer Value> ? Value : never;
};

/** Declares a flag with a value. If its reader returns a list, the flag is repeatable. */
export function option<Value>(
  spec: string,
  help: string,
  read: FlagReader<Value>,
  { conflicts }: Pick<Flag<Value>, "conflicts"> = { conflicts: [] },
): Flag<Value> {
  const [, short, long = spec] = /^(?:-(\w), )?(--[a-z-]+)/.exec(spec) ?? [];
  return { spec, long, short, hasValue: spec.includes("<"), help, read, conflicts, group: "Flags" };
}

/** Declares a flag without a value: on a command line it is on, and a variable can also turn it off. */
export function toggle(
  spec: string,
  help: string,
  { conflicts }: Pick<Flag<boolean>, "conflicts"> = { conflicts: [] },
): Flag<boolean> {
  return option(spec, help, readSwitch, { conflicts });
}

/** The same flags, with this title above them in the help. */
export function inGroup<Flags extends FlagSet>(group: string, flags: Flags): Flags {
  const grouped: Record<string, Flag<unknown>> = {};
  for (const [name, flag] of Object.entries(flags)) grouped[name] = { ...flag, group };
  return grouped as Flags; // the same names
}

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

const switches: Readonly<Record<string, boolean>> = { "1": true, "0": false };
const readSwitch = readerOf((text) => switches[text], "1 or 0");

export const readPort = wholeNumber(0, 65_535, "; 0 uses any free port");

export const readSeed = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export function readClockStart(text: string, flagOrVariable: string): number {
  const time = parseTime(text);
  if (time === undefined) throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}: ${timeHint}.`);
  if (time <= lastClockInstant) return time;
  const latest = new Date(lastClockInstant).toISOString();
  throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}: the latest time is ${latest}.`);
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
