import type * as flag from "./flags.js";
import type { Io } from "./io.js";

/** A call of a command: its arguments, the whole line with the command's name, what follows `--`, and the flags. */
export interface CommandCall<Flags = object> {
  readonly words: readonly string[];
  readonly line: readonly string[];
  readonly rest: readonly string[];
  readonly flags: Flags & { readonly verbose?: boolean };
  readonly io: Io;
}

export interface CliCommand<Flags extends flag.FlagSet = flag.FlagSet> {
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
  readonly usualFlags?: readonly string[];
  readonly examples: Readonly<Record<string, string>>;
  /** Runs a call; resolves to the exit code (nothing: 0), or throws the error for the user. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing.
  run(call: CallOf<Flags>): Promise<number | void>;
}

/** Infers the types of the flags for `run`. */
export function declareCommand<Flags extends flag.FlagSet>(
  command: CliCommand<Flags> & { readonly usualFlags?: readonly (keyof Flags)[] },
): CliCommand<Flags> {
  return command;
}

export type CallOf<Flags extends flag.FlagSet> = CommandCall<flag.FlagValues<Flags>>;
