import { listed } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import type * as flag from "./flags.js";
import type { Io } from "./io.js";

/** A call of a command, as its command line sets it, and the variables of the user. */
export interface CommandCall<Flags = object> {
  /** The arguments that are not flags. */
  readonly args: readonly string[];
  readonly flags: Flags & { readonly verbose?: boolean };
  /** The words after `--`: the command line of a client. */
  readonly clientCommand: readonly string[];
  /** The whole command line. */
  readonly argv: readonly string[];
  readonly io: Io;
}

/** A command, such as `exec`: its help, its arguments and flags, and what it does. */
export interface CliCommand<Flags extends flag.FlagSet = flag.FlagSet> {
  /** Its line in the help of the program. */
  readonly summary: string;
  /** Its output and the output's destination, for its own help. */
  readonly description: string;
  /** Its arguments (`<needed>`, `[optional]`, `[several...]`), with descriptions. */
  readonly args?: Readonly<Record<string, string>>;
  /** The variables that it reads, and the name of the flag that each sets if the command line does not. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Whether it takes the command line of a client after `--`. Default: no. */
  readonly takesClientCommand?: boolean;
  /** Its flags, except for `--verbose`, which every command has. */
  readonly flags: Flags;
  /** Command lines, each with what it is good for. */
  readonly examples: Readonly<Record<string, string>>;
  /** Runs a call; resolves to the exit code (nothing: 0), or throws the error for the user. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing.
  run(call: CommandCall<flag.FlagValues<Flags>>): Promise<number | void>;
}

/** Infers the types of the flags for `run`, and checks that each variable sets one of them. */
export function declareCommand<Flags extends flag.FlagSet>(
  command: CliCommand<Flags> & { readonly variables?: Readonly<Record<string, keyof Flags & string>> },
): CliCommand<Flags> {
  return command;
}

/** Throws a usage error for flags that a form of their command does not use. */
export function refuseFlags({ flags }: CommandCall, names: readonly string[], form: string): void {
  const unused: string[] = [];
  for (const name of names) {
    const isSet = flags[name as keyof typeof flags] !== undefined; // the flags of any command
    if (isSet) unused.push(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  }
  const them = unused.length === 1 ? "it" : "them";
  if (unused.length > 0) throw usageError(`${form} does not use ${listed(unused, "and")}. Remove ${them}.`);
}
