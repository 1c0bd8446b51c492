import type { FlagName, Flags } from "./flags.js";
import type { Io } from "./io.js";

/** One call of a command: what was given to it. */
export interface Call {
  /** What is not a flag, in order. */
  readonly words: readonly string[];
  /** What stands behind `--`, for a command that takes a command line there. */
  readonly rest: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
  /** Whether the command's own name was left out, as in `svc-sandbox key-states`. */
  readonly implied: boolean;
}

/** Carries out a call; resolves to the exit code, or throws what the user is to be told. */
export type Run = (call: Call) => Promise<number>;

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

/** One command: what `--help` says of it, and where its code is. */
export interface CommandRow {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** What it prints and where, for its own help. */
  readonly description: string;
  readonly words: readonly Argument[];
  /** How the command line is called that it takes behind `--`, which is not ours to read. */
  readonly rest?: string;
  readonly flags: readonly FlagName[];
  readonly examples: readonly Example[];
  /** Loads the code; only the command that runs is loaded. */
  readonly load: () => Promise<Run>;
}
