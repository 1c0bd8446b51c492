import type { Io } from "../io.js";
import { namesScenario } from "../scenario/open-scenario.js";
import type { CommandLine } from "./command-line.js";

// Where the command line of a client is, for `exec` and `certify`. What is wrong with a line:
//
//   exec key-states -- npm test        none
//   exec key-states --                 no_command
//   exec key-states                    no_dashes
//   exec npm test                      no_dashes
//   exec npm test -- --grep x          no_dashes: this `--` is a word of the client's command
//   exec key-states extra -- npm test  none: `readCall` names the word too many

/** Throws a usage error if the command takes the command line of a client, and it is not after `--`. */
export async function requireClientCommand(
  line: CommandLine,
  args: readonly string[],
  io: Io,
): Promise<void> {
  const problem = clientCommandProblem(line, args, io);
  if (problem === "none") return;
  const { missingCommandError, missingDashesError } = await import("./wrong-words.js");
  if (problem === "no_command") throw missingCommandError(line.name, args, io);
  throw missingDashesError(line.name, args, io);
}

function clientCommandProblem(
  { command, argv, clientCommand }: CommandLine,
  args: readonly string[],
  io: Io,
): "none" | "no_command" | "no_dashes" {
  if (!command.takesClientCommand) return "none";

  const hasCommand = clientCommand.length > 0;
  const hasTooManyArgs = args.length > Object.keys(command.args ?? {}).length;
  // exec key-states -- npm test
  if (!hasTooManyArgs && hasCommand) return "none";
  // exec key-states --
  if (!hasTooManyArgs && argv.includes("--")) return "no_command";
  // exec key-states
  if (!hasTooManyArgs) return "no_dashes";

  const [first = ""] = args;
  const [program = ""] = clientCommand;
  // exec npm test
  if (!hasCommand) return "no_dashes";
  // exec npm test -- --grep x
  if (!namesScenario(first, io) || program.startsWith("-")) return "no_dashes";
  // exec key-states extra -- npm test
  return "none";
}
