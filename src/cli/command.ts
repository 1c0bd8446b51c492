import type * as flag from "./flags.js";
import type { Io } from "./io.js";

/** A call of a command: the command line and the variables of the user, as the command gets them. */
export interface CommandCall<Flags = object, ModeName extends string = string> {
  /** The name of the command's mode that it is in. */
  readonly mode: ModeName;
  /** The arguments that are not flags. */
  readonly args: readonly string[];
  /** The flags that the mode reads. */
  readonly flags: Flags & { readonly verbose?: boolean };
  /** The words after `--`: the command line of a client. */
  readonly clientCommand: readonly string[];
  /** The whole command line, with the name of the command also if the user has left it out. */
  readonly fullArgv: readonly string[];
  readonly io: Io;
}

/**
 * One way to use a command, such as `init --agent`, with the arguments and flags that it reads. Any other argument or flag of
 * the command is a usage error on a command line of this mode; the variable of such a flag has no effect.
 */
export interface Mode<Flags extends flag.FlagSet = flag.FlagSet, Name extends string = string> {
  /** Its name, which messages show. */
  readonly name: Name;
  /** Whether a command line is in it; variables set no mode. Default: each one that is in no mode before it. */
  when?(line: Pick<CommandCall<flag.FlagValues<Flags>>, "args" | "flags" | "io">): boolean | undefined;
  /** How many arguments it reads. Default: all that the command declares. */
  readonly maxArgs?: number;
  /** The flags that it reads, besides `--verbose`. */
  readonly flags: readonly string[];
}

/** A command, such as `exec`: its help, its arguments and flags, and what it does. */
export interface CliCommand<Flags extends flag.FlagSet = flag.FlagSet, ModeName extends string = string> {
  /** Its line in the help of the program. */
  readonly summary: string;
  /** Its output and the output's destination, for its own help. */
  readonly description: string;
  /** Its arguments in commander's notation (`<needed>`, `[optional]`, `<several...>`), with descriptions. */
  readonly args?: Readonly<Record<string, string>>;
  /** The variable that sets its first argument, for a command line without one. Default: none. */
  readonly variableOfArgument?: string;
  /** Whether it takes the command line of a client after `--`. Default: no. */
  readonly takesClientCommand?: boolean;
  /** Its flags, except for `--verbose`, which every command has. */
  readonly flags: Flags;
  /** The flags that `--help` shows; `--help --all` shows the others too. Default: all. */
  readonly usualFlags?: readonly string[];
  /** Its modes: a call is in the first one that fits. Default: one mode, which reads everything. */
  readonly modes?: readonly Mode<Flags, ModeName>[];
  /** Command lines, each with what it is good for. */
  readonly examples: Readonly<Record<string, string>>;
  /** Runs a call; resolves to the exit code (nothing: 0), or throws the error for the user. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing.
  run(call: CommandCall<flag.FlagValues<Flags>, ModeName>): Promise<number | void>;
}

/** A command line in its parts, and the command that it calls. */
export interface CommandLine {
  readonly name: string;
  readonly command: CliCommand;
  /** Whether the line has the name of the command: one without it calls the default command. */
  readonly hasName: boolean;
  /** The words of the command, without its name and without the command line of a client. */
  readonly words: readonly string[];
  /** The command line of a client, after `--`; `undefined` without `--`. */
  readonly clientCommand: readonly string[] | undefined;
}

/** Infers the types of the flags and modes for `run`. */
export function declareCommand<Flags extends flag.FlagSet, ModeName extends string>(
  command: CliCommand<Flags, ModeName> & {
    readonly usualFlags?: readonly (keyof Flags)[];
    readonly modes?: readonly (Mode<Flags, ModeName> & { readonly flags: readonly (keyof Flags)[] })[];
  },
): CliCommand<Flags, ModeName> {
  return command;
}
