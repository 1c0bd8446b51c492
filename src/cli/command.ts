import type * as flag from "./flags.js";
import type { Io } from "./io.js";

/** A call of a command: what the user has typed, as the command gets it. */
export interface CommandCall<Flags = object> {
  /** The arguments that are not flags. */
  readonly args: readonly string[];
  readonly flags: Flags & { readonly verbose?: boolean };
  /** The words after `--`: the command line of a client. */
  readonly clientCommand: readonly string[];
  /** The whole command line, with the name of the command also if the user has left it out. */
  readonly fullArgv: readonly string[];
  readonly io: Io;
}

/** A command, such as `exec`: its help, its arguments and flags, and what it does. */
export interface CliCommand<Flags extends flag.FlagSet = flag.FlagSet> {
  /** Its line in the help of the program. */
  readonly summary: string;
  /** Its output and the output's destination, for its own help. */
  readonly description: string;
  /** Its arguments in commander's notation (`<needed>`, `[optional]`, `<several...>`), with descriptions. */
  readonly args?: Readonly<Record<string, string>>;
  /** What its help shows after `--`, if it takes the command line of a client there. */
  readonly clientCommandUsage?: string;
  /** Its flags, except for `--verbose`, which every command has. */
  readonly flags: Flags;
  /** The flags that `--help` shows; `--help --all` shows the others too. Default: all. */
  readonly usualFlags?: readonly string[];
  /** Command lines, each with what it is good for. */
  readonly examples: Readonly<Record<string, string>>;
  /** Runs a call; resolves to the exit code (nothing: 0), or throws the error for the user. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing.
  run(call: CallOf<Flags>): Promise<number | void>;
}

export type CallOf<Flags extends flag.FlagSet> = CommandCall<flag.FlagValues<Flags>>;

/** Infers the types of the flags for `run`. */
export function declareCommand<Flags extends flag.FlagSet>(
  command: CliCommand<Flags> & { readonly usualFlags?: readonly (keyof Flags)[] },
): CliCommand<Flags> {
  return command;
}
