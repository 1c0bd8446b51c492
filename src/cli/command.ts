import { listed, quote } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

/** One call of a command: what was given to it. */
export interface Call<Flags = object> {
  /** The arguments that are not flags, in order. */
  readonly words: readonly string[];
  /** The command line as it was given, the command first. */
  readonly line: readonly string[];
  /** The words behind `--`, for a command that takes a command line there. */
  readonly rest: readonly string[];
  readonly flags: Flags & { readonly verbose?: boolean };
  readonly io: Io;
}

/** A command: what `--help` says of it, and what it does. Its name stands in the list of commands. */
export interface Command<Flags extends FlagSet = FlagSet> {
  readonly summary: string;
  /** Its output and where that goes, for its own help. */
  readonly description: string;
  /** The words that it takes, in commander's notation (`<needed>`, `[optional]`, `<several...>`), and their meaning. */
  readonly words?: Readonly<Record<string, string>>;
  /** What its first word may be, if that is one of a few. */
  readonly choices?: readonly string[];
  /** The name of the command line behind `--`, which is not ours to read. */
  readonly rest?: string;
  /** Without `--verbose`, which every command has. */
  readonly flags: Flags;
  readonly examples: Readonly<Record<string, string>>;
  /** Carries out a call; resolves to the exit code, or throws the error to show to the user. */
  run(call: Call<FlagValues<Flags>>): Promise<number>;
}

export function declareCommand<Flags extends FlagSet>(command: Command<Flags>): Command<Flags> {
  return command;
}

export const scenarioWord = {
  "[scenario]":
    "a bundled name, a file, or - for stdin (default: svc-sandbox.yaml, or key-states without such a file)",
};

export interface Flag<Value> {
  /** In commander's notation: `-p, --port <number>`. */
  readonly spec: string;
  readonly text: string;
  /** Reads a value; `from` is the flag or the variable that holds it. Throws a usage error that names it. */
  readonly read: ((text: string, from: string) => Value) & { readonly choices?: readonly string[] };
  /** The environment variables that stand in for it; the first one set wins. */
  readonly variables: readonly string[];
  /** The flags that contradict it, by the names that commander gives them. */
  readonly conflicts: readonly string[];
}

/** The flags of a command by the names under which its code reads them. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags; a flag that was given nowhere has none. */
export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags]?: Flags[Name] extends Flag<infer Value> ? Value : never;
};

/** For a flag that only the command line sets. */
export const noVariable = { variables: [] };

type FlagOptions = Partial<Pick<Flag<unknown>, "variables" | "conflicts">>;

/**
 * A flag with a value; one whose reader returns a list can be given more than once. Default: the variable
 * `SVC_SANDBOX_<FLAG>` stands in for it.
 */
export function flag<Value>(
  spec: string,
  text: string,
  read: Flag<Value>["read"],
  options: FlagOptions = {},
): Flag<Value> {
  const variable = `SVC_SANDBOX_${longForm(spec).slice(2).replaceAll("-", "_").toUpperCase()}`;
  return { spec, text, read, variables: [variable], conflicts: [], ...options };
}

/** A flag without a value; its variable is `1` or `0`. */
export function toggle(spec: string, text: string, options: FlagOptions = {}): Flag<boolean> {
  return flag(spec, text, readSwitch, options);
}

/** The long form of a flag, without its value: `--port`. */
export function longForm(spec: string): string {
  return /--[a-z-]+/.exec(spec)?.[0] ?? spec;
}

/** Makes a reader from a function that answers `undefined` for what it cannot read; `expected` says what to give. */
export function reader<Value>(
  read: (text: string) => Value | undefined,
  expected: string,
): Flag<Value>["read"] {
  return (text, from) => {
    const value = read(text);
    if (value !== undefined) return value;
    throw usageError(`Invalid ${from}: ${quote(text)}. Use ${expected}.`);
  };
}

/** Reads a whole number in a range; `meaning` is added to what the message says of it. */
export function wholeNumber(min: number, max: number, meaning = ""): Flag<number>["read"] {
  return reader((text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  }, `a whole number from ${min} to ${max}${meaning}`);
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Flag<Choice>["read"] {
  const read = reader((text) => choices.find((choice) => choice === text), listed(choices, "or"));
  return Object.assign(read, { choices });
}

/** Reads values with commas between them. */
export function separated<Value>(read: Flag<Value>["read"]): Flag<readonly Value[]>["read"] {
  return (text, from) => text.split(",").map((one) => read(one.trim(), from));
}

export const fileName = reader((text) => text || undefined, "the name of a file");

/** For a flag that may be given more than once. */
export const fileNames: Flag<readonly string[]>["read"] = (text, from) => [fileName(text, from)];

const readSwitch = reader((text) => {
  const word = text.toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : undefined;
}, "1 or 0");
