import { listed, quote } from "../rules/schema/words.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

export interface CommandCall<Flags = object> {
  readonly words: readonly string[];
  readonly line: readonly string[];
  readonly rest: readonly string[];
  readonly flags: Flags & { readonly verbose?: boolean };
  readonly io: Io;
}

export interface CliCommand<Flags extends FlagSet = FlagSet> {
  readonly summary: string;
  /** Its output and the output's destination, for its help. */
  readonly description: string;
  /** Its arguments in commander's notation (`<needed>`, `[optional]`, `<several...>`), with descriptions. */
  readonly words?: Readonly<Record<string, string>>;
  /** The name of the command line after `--`, which we do not read. */
  readonly rest?: string;
  /** Without `--verbose`, which every command has. */
  readonly flags: Flags;
  /** The flags that `--help` shows; `--help --all` shows the others too. Default: all. */
  readonly usual?: readonly string[];
  readonly examples: Readonly<Record<string, string>>;
  /** Runs a call; resolves to the exit code, or throws the error for the user. */
  run(call: CallOf<Flags>): Promise<number>;
}

export type Commands = Readonly<Record<string, () => Promise<CliCommand>>>;

export function declareCommand<Flags extends FlagSet>(
  command: CliCommand<Flags> & { readonly usual?: readonly (keyof Flags)[] },
): CliCommand<Flags> {
  return command;
}

export interface Flag<Value> {
  /** In commander's notation: `-p, --port <number>`. */
  readonly spec: string;
  readonly text: string;
  /** Reads a value; `from` is its flag or variable. Throws a usage error with that name. */
  readonly read: (text: string, from: string) => Value;
  /** The environment variables for it; the first set variable wins. */
  readonly variables: readonly string[];
  readonly conflicts: readonly string[];
}

export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags]?: Flags[Name] extends Flag<infer Value> ? Value : never;
};

export type CallOf<Flags extends FlagSet> = CommandCall<FlagValues<Flags>>;

type FlagOptions = Partial<Pick<Flag<unknown>, "variables" | "conflicts">>;

/** If its reader returns a list, the flag is repeatable. Default: the variable `SVC_SANDBOX_<FLAG>` also sets it. */
export function option<Value>(
  spec: string,
  text: string,
  read: Flag<Value>["read"],
  options: FlagOptions = {},
): Flag<Value> {
  const variable = `SVC_SANDBOX_${longForm(spec).slice(2).replaceAll("-", "_").toUpperCase()}`;
  return { spec, text, read, variables: [variable], conflicts: [], ...options };
}

export function plainOption<Value>(spec: string, text: string, read: Flag<Value>["read"]): Flag<Value> {
  return option(spec, text, read, { variables: [] });
}

/** Declares a flag without a value; its variable is `1` or `0`. */
export function toggle(spec: string, text: string, options: FlagOptions = {}): Flag<boolean> {
  return option(spec, text, readSwitch, options);
}

export function plainToggle(spec: string, text: string): Flag<boolean> {
  return plainOption(spec, text, readSwitch);
}

export function longForm(spec: string): string {
  return /--[a-z-]+/.exec(spec)?.[0] ?? spec;
}

/** Creates a reader from a function that returns `undefined` for an invalid value; `expected` describes valid values. */
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

export function wholeNumber(min: number, max: number, meaning = ""): Flag<number>["read"] {
  return reader((text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  }, `a whole number from ${min} to ${max}${meaning}`);
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Flag<Choice>["read"] {
  return reader((text) => choices.find((choice) => choice === text), listed(choices, "or"));
}

export function separated<Value>(read: Flag<Value>["read"]): Flag<readonly Value[]>["read"] {
  return (text, from) => text.split(",").map((one) => read(one.trim(), from));
}

export const fileName = reader((text) => text || undefined, "the name of a file");

const readSwitch = reader((text) => {
  const word = text.toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : undefined;
}, "1 or 0");
