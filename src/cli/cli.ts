import { CommanderError } from "commander";
import type { Call } from "./command.js";
import { commands } from "./commands.js";
import { exitCode } from "./exit-codes.js";
import { describeFailure, exitCodeOfFailure } from "./failure.js";
import type { Io } from "./io.js";
import { understand, versionAsked } from "./program.js";
import { readFlags } from "./read-flags.js";
import { usageError } from "./usage-error.js";
import { isVerbose } from "./verbose.js";

export type { Io } from "./io.js";
export { processIo } from "./process-io.js";

/**
 * Runs one command line (without `node` and the script) and resolves to its exit code. Never throws.
 *
 * @example
 * process.exitCode = await cli(process.argv.slice(2), processIo(process));
 */
export async function cli(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await runCommand(argv, io);
  } catch (error) {
    io.stderr.write(describeFailure(error, { verbose: isVerbose(argv, io.env) }));
    return exitCodeOfFailure(error);
  }
}

async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  await refuseHelpOnNothing(argv);
  const { own, rest = [] } = await splitCommandLine(argv, io);
  const understood = await understandOrExplain(own, io);
  if (understood === undefined) return exitCode.fine;
  const { row, words, given } = understood;
  const implied = !commands.some(({ name }) => name === argv[0]);
  const flags = readFlags(row.flags, given, io.env);
  const call: Call = { words, rest, implied, io, flags };
  await refuseExcess(call, row.name, row.words);
  return (await row.load())(call);
}

// Of most commands everything is ours to read, also what stands behind `--`.
async function splitCommandLine(
  argv: readonly string[],
  io: Io,
): Promise<{ own: readonly string[]; rest?: readonly string[] }> {
  const row = commands.find(({ name, rest }) => name === argv[0] && rest !== undefined);
  if (row === undefined) return { own: argv };
  const { takeRest } = await import("./take-rest.js");
  return takeRest(row, argv, io);
}

async function understandOrExplain(argv: readonly string[], io: Io) {
  try {
    return understand(argv, io);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === versionAsked) {
      const { version } = await import("../node/package-files.js");
      io.stdout.write(`${version}\n`);
      return undefined;
    }
    if (error.exitCode === 0) return undefined;
    throw usageErrorOf(error, argv);
  }
}

// Left to itself, commander prints all of the help about a command that is not there.
async function refuseHelpOnNothing([first, word]: readonly string[]): Promise<void> {
  if (first !== "help" || word === undefined || word.startsWith("-")) return;
  if (word === "help" || commands.some(({ name }) => name === word)) return;
  const { unknownWord } = await import("./unknown-word.js");
  throw unknownWord(word);
}

function usageErrorOf(error: CommanderError, argv: readonly string[]): Error {
  const command = commands.find(({ name }) => name === argv[0]) ?? commands[0];
  const text = error.message
    .replace(/^error: /, "")
    .replace(/\s*\(Did you mean (.*)\?\)$/s, ". Did you mean $1?");
  const sentence = /[.?]$/.test(text) ? text : `${text}.`;
  return usageError(
    `Failed to read the command line: ${sentence}\n\`svc-sandbox ${command?.name} --help\` shows how it is written.`,
  );
}

async function refuseExcess(call: Call, name: string, words: readonly { spec: string }[]): Promise<void> {
  const excess = call.words[words.length];
  if (excess === undefined || words.at(-1)?.spec.includes("...")) return;
  const [first = ""] = call.words;
  if (call.implied) {
    const { isScenario, unknownWord } = await import("./unknown-word.js");
    if (!isScenario(first, call.io)) throw unknownWord(first);
  }
  throw usageError(
    `Failed to read the command line: ${name} takes ${words.length === 0 ? "no words" : words.map(({ spec }) => spec).join(" ")}, and ${JSON.stringify(excess)} is one too many.\n\`svc-sandbox ${name} --help\` shows how it is written.`,
  );
}
