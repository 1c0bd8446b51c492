import { type FlagReader, readSwitch } from "./readers.js";

/** A flag of a command. */
export interface Flag<Value> {
  /** In commander's notation: `-p, --port <number>`. */
  readonly spec: string;
  /** What the help says about it. */
  readonly help: string;
  readonly read: FlagReader<Value>;
  /** The environment variables for it; the first set variable wins. */
  readonly variables: readonly string[];
  /** The flags that it cannot be used with, as commander names them: `untilStdinEnds`. */
  readonly conflicts: readonly string[];
}

/** The flags of a command, by the names of their values. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags, each with the type that its reader returns. */
export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags]?: Flags[Name] extends Flag<infer Value> ? Value : never;
};

type FlagOptions = Partial<Pick<Flag<unknown>, "variables" | "conflicts">>;

/** Declares a flag with a value, which the variable `SVC_SANDBOX_<FLAG>` also sets by default. If its reader returns a list, the flag is repeatable. */
export function option<Value>(
  spec: string,
  help: string,
  read: FlagReader<Value>,
  options: FlagOptions = {},
): Flag<Value> {
  const variable = `SVC_SANDBOX_${longForm(spec).slice(2).replaceAll("-", "_").toUpperCase()}`;
  return { spec, help, read, variables: [variable], conflicts: [], ...options };
}

/** Declares a flag with a value that no variable sets. */
export function cliOnlyOption<Value>(spec: string, help: string, read: FlagReader<Value>): Flag<Value> {
  return option(spec, help, read, { variables: [] });
}

/** Declares a flag without a value; its variable is `1` or `0`. */
export function toggle(spec: string, help: string, options: FlagOptions = {}): Flag<boolean> {
  return option(spec, help, readSwitch, options);
}

/** Declares a flag without a value that no variable sets. */
export function cliOnlyToggle(spec: string, help: string): Flag<boolean> {
  return cliOnlyOption(spec, help, readSwitch);
}

/** The name of a flag in messages: `--port` of `-p, --port <number>`. */
export function longForm(spec: string): string {
  return /--[a-z-]+/.exec(spec)?.[0] ?? spec;
}

/** The names of flags, except for some: the modes of a command list what they read. */
export function flagNamesOf<Name extends string, Excepted extends Name = never>(
  flags: Readonly<Record<Name, Flag<unknown>>>,
  except: readonly Excepted[] = [],
): Exclude<Name, Excepted>[] {
  const excepted: readonly string[] = except;
  const names = Object.keys(flags).filter((name) => !excepted.includes(name));
  return names as Exclude<Name, Excepted>[]; // `Object.keys` returns texts
}
