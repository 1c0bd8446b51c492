import { SandboxError } from "../domain/errors.js";
import { version } from "../node/package-files.js";
import type { Command } from "./command.js";
import { commands } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf } from "./exit-codes.js";
import { type Io, isVerbose } from "./io.js";
import { misplacedRest, parse, printHelp, unknownWord } from "./program.js";

export type { Io } from "./io.js";
export { processIo } from "./io.js";

/**
 * Runs one command line (without `node` and the script) and resolves to its exit code. Never throws.
 *
 * @example
 * process.exitCode = await cli(process.argv.slice(2), processIo(process));
 */
export async function cli(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    io.stderr.write(describeFailure(error, { verbose: isVerbose(argv, io.env) }));
    return exitCodeOf(error);
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  // Behind `--` stands the command line of another program.
  const end = argv.indexOf("--");
  const before = end === -1 ? argv : argv.slice(0, end);
  const [first = ""] = before;
  const asks = (...flags: string[]) => before.some((word) => flags.includes(word));
  if (asks("-V", "--version")) {
    io.stdout.write(`${version}\n`);
    return exitCode.fine;
  }
  if (first === "help") return printHelpOf(before[1], io);
  const implied = !Object.hasOwn(commands, first);
  if (implied && asks("-h", "--help")) return printHelpOf(undefined, io);
  const [name, given] = implied ? [Object.keys(commands)[0] as string, argv] : [first, argv.slice(1)];
  const command = await load(name);
  const [own, rest] = command.rest === undefined ? [given, []] : cut(given);
  if (command.rest !== undefined && !asks("-h", "--help")) {
    const error = misplacedRest(name, command, { own, rest }, io);
    if (error !== undefined) throw error;
  }
  const parsed = parse(name, command, own, { io, implied });
  if (parsed === undefined) return exitCode.fine;
  try {
    return await command.run({ ...parsed, rest, io });
  } catch (error) {
    throw implied && isUnknownWord(error, parsed.words) ? unknownWord(parsed.words[0] as string) : error;
  }
}

// A word that stands where a command could stand, and is no path, may be a misspelt command.
function isUnknownWord(error: unknown, [word = ""]: readonly string[]): boolean {
  if (!(error instanceof SandboxError) || error.code !== "scenario_not_found") return false;
  return error.details.given === word && !/[\\/]|\.ya?ml$/i.test(word);
}

async function printHelpOf(name: string | undefined, io: Io): Promise<number> {
  if (name === undefined || name === "help" || name.startsWith("-")) await printHelp(io);
  else if (!Object.hasOwn(commands, name)) throw unknownWord(name);
  else parse(name, await load(name), ["--help"], { io });
  return exitCode.fine;
}

async function load(name: string): Promise<Command> {
  const module = await commands[name]?.();
  if (module === undefined) throw unknownWord(name);
  return module.command;
}

function cut(argv: readonly string[]): [own: readonly string[], rest: readonly string[]] {
  const at = argv.indexOf("--");
  return at === -1 ? [argv, []] : [argv.slice(0, at), argv.slice(at + 1)];
}
