import type { SandboxError } from "../../rules/errors.js";
import type { CliCommand } from "../command.js";
import { commands } from "../commands.js";
import { usageError } from "../exit-codes.js";
import type { Io } from "../io.js";

/** The command of a line that names none. */
export const defaultCommand = "start";

/** A command line in its parts, and the command that it calls. */
export interface CommandLine {
  readonly name: string;
  readonly command: CliCommand;
  /** Whether the line has the name of the command: one without it calls the default command. */
  readonly hasName: boolean;
  /** All words after the program. */
  readonly argv: readonly string[];
  /** The words before `--`. */
  readonly argvBeforeDashes: readonly string[];
  /** The words after `--`: the command line of a client. */
  readonly clientCommand: readonly string[];
}

export function loadCommand(name: string): Promise<CliCommand> {
  return commands[name]?.() as Promise<CliCommand>; // callers have a name of the table
}

/** A usage error that shows where the usage of the command is. */
export function wrongUsage(name: string, sentence: string, { program }: Pick<Io, "program">): SandboxError {
  return usageError(`${sentence}\nRun \`${program} ${name} --help\` for usage.`);
}
