import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Option, Command as Parser } from "commander";
import { isScenarioName } from "../scenario/bundled.js";
import { listed, quote } from "../schema/words.js";
import type { CliCommand, CommandCall, CommandLine, Mode } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { usageError } from "./exit-codes.js";
import { type Flag, isPort, longForm } from "./flags.js";
import { type Io, splitAtDashes } from "./io.js";
import { stdinName } from "./scenario.js";
import { withVerbose } from "./shared-flags.js";
import { flagsOfVariables, isSet, warnOfVariables } from "./variables.js";

// A command line is read in three steps: `readLine` finds which command it calls, Commander reads the words of the command
// (`createParser`), and `readCall` finds its mode, and adds the flags that variables set.

/** The command of a line that names none. */
const defaultCommand = "start";

/** Reads which command a line calls. Throws a usage error for a first word that is neither a command nor a scenario. */
export async function readLine(argv: readonly string[], io: Io): Promise<CommandLine> {
  const { argvBeforeDashes, clientCommand } = splitAtDashes(argv);
  // Some editors and chats write a long dash in place of two hyphens.
  const dashed = argvBeforeDashes.find((word) => /^-?[\u2012-\u2015\u2212]/.test(word));
  if (dashed !== undefined) {
    const flagName = dashed.replace(/^[-\u2012-\u2015\u2212]+/, "");
    throw usageError(
      `${quote(dashed)} starts with a long dash, and not with two hyphens. Write --${flagName}.`,
    );
  }

  const [first] = argvBeforeDashes;
  const hasName = first !== undefined && Object.hasOwn(commands, first);
  // In a line that starts with flags, only Commander finds the scenario: it is checked later.
  if (!hasName && !first?.startsWith("-")) await requireScenario(first, io);

  const name = hasName ? first : defaultCommand;
  const command = await loadCommand(name);
  // Commander would read `-port` as `-p ort`. Without `--`, such a word may be one of the client's command.
  const names = Object.values(withVerbose(command.flags)).map(({ spec }) => longForm(spec));
  const short = argvBeforeDashes.find((word) => names.includes(`-${word.replace(/=.*$/, "")}`));
  const mayBeOfClient = command.takesClientCommand === true && clientCommand === undefined;
  if (short !== undefined && !mayBeOfClient) {
    throw usageError(`${quote(short)} starts with one hyphen, and not with two. Write -${short}.`);
  }

  // Commander would read the words of a client's command as arguments of ours.
  const words = command.takesClientCommand ? argvBeforeDashes : argv;
  return { name, command, hasName, words: hasName ? words.slice(1) : words, clientCommand };
}

/** Whether a word is a scenario: a bundled name, a file that exists, or `-` for stdin. */
function namesScenario(word: string, { cwd }: Io): boolean {
  return word === stdinName || isScenarioName(word) || existsSync(resolve(cwd, word));
}

/** Throws a usage error if the word cannot be the scenario of a call without a command. */
async function requireScenario(word: string | undefined, io: Io): Promise<void> {
  if (word === undefined || namesScenario(word, io)) return;
  // A file that is missing has its own message.
  const looksLikeFile = /[\\/]|\.ya?ml$/i.test(word);
  if (!looksLikeFile) throw (await import("./wrong-words.js")).unknownWordError(word, io);
}

/**
 * The mode of a call whose words Commander has read, and the flags that it reads, from the command line and from variables. Throws
 * a usage error that names what is in the wrong place, or what the mode does not read.
 */
export async function readCall(
  line: CommandLine,
  parser: Parser,
  io: Io,
): Promise<Pick<CommandCall, "mode" | "args" | "flags">> {
  const { name, command } = line;
  const { variableOfArgument } = command;
  let args: readonly string[] = parser.args;
  // `readLine` has not seen the scenario of a line that starts with flags.
  if (!line.hasName) await requireScenario(args[0], io);
  const [first = ""] = args;
  const isPortInPlace = "port" in command.flags && isPort(first) && !existsSync(resolve(io.cwd, first));
  if (isPortInPlace) {
    const meant = `${io.program} ${name} --port ${first}`;
    throw usageError(`${quote(first)} is not a bundled scenario or a file here. Did you mean ${meant}?`);
  }
  await requireClientCommand(line, args, io);
  await warnOfVariables(command, io);
  if (args.length === 0 && variableOfArgument !== undefined && isSet(variableOfArgument, io.env)) {
    args = [readScenarioVariable(variableOfArgument, io)];
  }

  const onLine = flagsOnLine(command, parser);
  // The last mode of a command has no condition. One that declares none has one mode, which reads everything.
  const modes: readonly Mode[] = command.modes ?? [{ name, flags: Object.keys(command.flags) }];
  const mode = modes.find(({ when }) => when === undefined || when({ args, flags: onLine, io })) as Mode;

  const unused = unusedParts(mode, command, args, onLine);
  if (unused.length > 0) {
    const remove = unused.length === 1 ? "Remove it" : "Remove them";
    throw usageError(`${mode.name} does not use ${listed(unused, "and")}. ${remove}.`);
  }

  // Every command has --verbose.
  const flagsOfMode: Record<string, Flag<unknown>> = {};
  for (const [flagName, declared] of Object.entries(withVerbose(command.flags))) {
    if (flagName === "verbose" || mode.flags.includes(flagName)) flagsOfMode[flagName] = declared;
  }
  const flags = { ...flagsOfVariables(flagsOfMode, onLine, io.env), ...onLine };
  return { mode: mode.name, args, flags };
}

/** The scenario that a variable names. Throws a usage error if there is none of this name. */
function readScenarioVariable(variable: string, io: Io): string {
  const scenario = io.env[variable] as string;
  if (namesScenario(scenario, io)) return scenario;
  throw usageError(
    `Invalid ${variable}: ${quote(scenario)}. Use a bundled name (\`${io.program} list\`) or the name of a file.`,
  );
}

/** The arguments and flags of a command line that a mode does not read, as messages show them. */
function unusedParts(
  mode: Mode,
  command: CliCommand,
  args: readonly string[],
  onLine: Readonly<Record<string, unknown>>,
): string[] {
  const declared = Object.keys(command.args ?? {});
  const takesSeveral = declared.some((arg) => arg.includes("..."));
  const { maxArgs = takesSeveral ? Number.POSITIVE_INFINITY : declared.length } = mode;
  const unused = args.slice(maxArgs).map(quote);
  for (const [flagName, { spec }] of Object.entries(command.flags)) {
    if (flagName in onLine && !mode.flags.includes(flagName)) unused.push(longForm(spec));
  }
  return unused;
}

/** The values of the flags on the command line, each as its reader has returned it. */
function flagsOnLine(command: CliCommand, parser: Parser): Readonly<Record<string, unknown>> {
  const parsed = parser.opts<Record<string, unknown>>();
  const values: Record<string, unknown> = {};
  for (const [name, { spec }] of Object.entries(withVerbose(command.flags))) {
    const option = parser.options.find(({ long }) => long === longForm(spec)) as Option; // `createParser` has declared it
    const attribute = option.attributeName();
    if (parser.getOptionValueSource(attribute) === "cli") values[name] = parsed[attribute];
  }
  return values;
}

// Where the command line of a client is, for `exec` and `certify`. What is wrong with a line:
//
//   exec key-states -- npm test        none
//   exec key-states --                 no_command
//   exec key-states                    no_dashes
//   exec npm test                      no_dashes
//   exec npm test -- --grep x          no_dashes: this `--` is a word of the client's command
//   exec key-states extra -- npm test  none: `readCall` names the word too many

/** Throws a usage error if the command takes the command line of a client, and it is not after `--`. */
async function requireClientCommand(line: CommandLine, args: readonly string[], io: Io): Promise<void> {
  const problem = clientCommandProblem(line, args, io);
  if (problem === "none") return;
  const { missingCommandError, missingDashesError } = await import("./wrong-words.js");
  if (problem === "no_command") throw missingCommandError(line.name, args, io);
  throw missingDashesError(line.name, args, io);
}

function clientCommandProblem(
  { command, clientCommand }: CommandLine,
  args: readonly string[],
  io: Io,
): "none" | "no_command" | "no_dashes" {
  if (!command.takesClientCommand) return "none";

  const hasCommand = clientCommand !== undefined && clientCommand.length > 0;
  const hasTooManyArgs = args.length > Object.keys(command.args ?? {}).length;
  // exec key-states -- npm test
  if (!hasTooManyArgs && hasCommand) return "none";
  // exec key-states --
  if (!hasTooManyArgs && clientCommand !== undefined) return "no_command";
  // exec key-states
  if (!hasTooManyArgs) return "no_dashes";

  const [first = ""] = args;
  // exec npm test
  if (!hasCommand) return "no_dashes";
  const [program = ""] = clientCommand;
  // exec npm test -- --grep x
  if (!namesScenario(first, io) || program.startsWith("-")) return "no_dashes";
  // exec key-states extra -- npm test
  return "none";
}
