import type { FlagSet, FlagValues } from "./flag.js";
import type { Io } from "./io.js";

/** One call of a command: what was given to it. */
export interface Call<Flags = object> {
  /** The arguments that are not flags, in order. */
  readonly words: readonly string[];
  /** What stands behind `--`, for a command that takes a command line there. */
  readonly rest: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
}

/** A word that a command takes. */
export interface Argument {
  /** In commander's notation: `<needed>`, `[optional]`, `<several...>`. */
  readonly spec: string;
  readonly text: string;
}

/** A command line to copy, and what it does. */
export interface Example {
  readonly line: string;
  readonly does: string;
}

/** A command: what `--help` says of it, and what it does. Its name stands in the list of commands. */
export interface Command<Flags extends FlagSet = FlagSet> {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** What it prints and where, for its own help. */
  readonly description: string;
  readonly words: readonly Argument[];
  /** The name of the command line behind `--`, which is not ours to read. */
  readonly rest?: string;
  readonly flags: Flags;
  readonly examples: readonly Example[];
  /** Carries out a call; resolves to the exit code, or throws what the user is to be told. */
  run(call: Call<FlagValues<Flags>>): Promise<number>;
}

/** Declares a command; its call has the values of its flags. */
export function declareCommand<Flags extends FlagSet>(command: Command<Flags>): Command<Flags> {
  return command;
}

/** The scenario that many commands take. */
export const scenarioWord: Argument = {
  spec: "[scenario]",
  text: "a bundled name or a file (default: svc-sandbox.yaml if it is there, else key-states)",
};
