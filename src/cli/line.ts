import type { Command as Commander, Option } from "commander";
import type { SandboxError } from "../rules/errors.js";
import { listed, nearest, quote } from "../schema/words.js";
import { type CliCommand, type CommandCall, type Mode, modesOf } from "./command.js";
import { commands } from "./commands.js";
import { usageError } from "./exit-codes.js";
import * as flag from "./flags.js";
import { backgroundVariable, type Io } from "./io.js";
import { namesScenario } from "./scenario.js";
import * as shared from "./shared-flags.js";

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

/** The values of flags by their names, each as its reader has returned it. */
type FlagsByName = Readonly<Record<string, unknown>>;

/**
 * The mode of a call that Commander has parsed, and the flags that it reads, from the command line and from variables. Throws a
 * usage error that names what the mode does not read.
 */
export function readCall(
  name: string,
  command: CliCommand,
  parsedCommand: Commander,
  io: Io,
): Pick<CommandCall, "mode" | "args" | "flags"> {
  const { args } = parsedCommand;
  const onLine = flagsOnLine(command, parsedCommand);
  const mode = findMode(modesOf(name, command), { args, flags: onLine, io });

  const unused = unusedParts(mode, command, args, onLine);
  if (unused.length > 0) {
    const remove = unused.length === 1 ? "Remove it" : "Remove them";
    throw usageError(`${mode.name} does not use ${listed(unused, "and")}. ${remove}.`);
  }

  const flags = { ...flagsOfVariables(flagsOfMode(mode, command), onLine, io.env), ...onLine };
  return { mode: mode.name, args, flags };
}

/** The first mode that a command line is in: the last one of a command has no condition. */
function findMode(modes: readonly Mode[], line: Parameters<NonNullable<Mode["when"]>>[0]): Mode {
  return modes.find((mode) => mode.when === undefined || mode.when(line)) as Mode;
}

/** The arguments and flags of a command line that a mode does not read, as messages show them. */
function unusedParts(
  mode: Mode,
  command: CliCommand,
  args: readonly string[],
  onLine: FlagsByName,
): string[] {
  const { maxArgs = maxArgsOf(command) } = mode;
  const unused = args.slice(maxArgs).map(quote);
  for (const [flagName, { spec }] of Object.entries(command.flags)) {
    if (flagName in onLine && !mode.flags.includes(flagName)) unused.push(flag.longForm(spec));
  }
  return unused;
}

/** How many arguments a command can have. */
function maxArgsOf({ args = {} }: CliCommand): number {
  const declared = Object.keys(args);
  const takesSeveral = declared.some((arg) => arg.includes("..."));
  return takesSeveral ? Number.POSITIVE_INFINITY : declared.length;
}

/** The flags that a mode reads, with the one that every command has. */
function flagsOfMode(mode: Mode, command: CliCommand): flag.FlagSet {
  const flags: Record<string, flag.Flag<unknown>> = {};
  for (const [flagName, declared] of Object.entries(shared.withVerbose(command.flags))) {
    if (flagName === "verbose" || mode.flags.includes(flagName)) flags[flagName] = declared;
  }
  return flags;
}

/** The values of the flags on the command line. */
function flagsOnLine(command: CliCommand, parsedCommand: Commander): FlagsByName {
  const parsed = parsedCommand.opts<Record<string, unknown>>();
  const values: Record<string, unknown> = {};
  for (const [name, { spec }] of Object.entries(shared.withVerbose(command.flags))) {
    const long = flag.longForm(spec);
    const option = parsedCommand.options.find((one) => one.long === long) as Option; // `createProgram` has declared it
    const attribute = option.attributeName();
    if (parsedCommand.getOptionValueSource(attribute) === "cli") values[name] = parsed[attribute];
  }
  return values;
}

/** The value of a flag that a variable has set. */
interface VariableValue {
  readonly variable: string;
  readonly value: unknown;
}

/**
 * The values of the flags that variables set. A flag on the command line comes before its variable, and before those of
 * flags that it cannot be used with. Throws a usage error if two variables cannot be used together.
 *
 * Commander reads variables, too, but treats an empty value and `0` as set, and allows only one per flag.
 */
function flagsOfVariables(flags: flag.FlagSet, onLine: FlagsByName, env: Io["env"]): FlagsByName {
  const fromVariables = new Map<string, VariableValue>();
  for (const [name, { read, variables }] of Object.entries(flags)) {
    const variable = variables.find((candidate) => (env[candidate] ?? "") !== "");
    if (variable === undefined || name in onLine) continue;

    const isOverruled = rivalsOf(name, flags).some((rival) => rival in onLine);
    if (isOverruled) continue;
    const value = read(env[variable] as string, variable);
    fromVariables.set(name, { variable, value });
  }

  requireNoRivals(fromVariables, flags);
  const values: Record<string, unknown> = {};
  for (const [name, { value }] of fromVariables) values[name] = value;
  return values;
}

/** Throws a usage error if two variables set flags that cannot be used together. */
function requireNoRivals(fromVariables: ReadonlyMap<string, VariableValue>, flags: flag.FlagSet): void {
  for (const [name, { variable, value }] of fromVariables) {
    for (const rivalName of rivalsOf(name, flags)) {
      const rival = fromVariables.get(rivalName);
      // A variable can also turn its flag off.
      if (rival === undefined || rival.value === false || value === false) continue;
      throw usageError(`${variable} and ${rival.variable} cannot be used together. Unset one of them.`);
    }
  }
}

/** The flags that a flag cannot be used with: either of the two may declare it. */
function rivalsOf(name: string, flags: flag.FlagSet): string[] {
  const rivals: string[] = [];
  for (const [other, { conflicts }] of Object.entries(flags)) {
    if (conflicts.includes(name) || flags[name]?.conflicts.includes(other)) rivals.push(other);
  }
  return rivals;
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

const ownPrefix = "SVC_SANDBOX_";

/** `exec` and `certify` set these for their command, and packages of other languages read them. */
const variablesOfRuns = ["SVC_SANDBOX_RUN", "SVC_SANDBOX_BIN"];

/** Warns of each variable with our prefix that no flag of any command has. */
export async function warnOfVariables(command: CliCommand, { env, stderr }: Io): Promise<void> {
  // The process that `start --detach` starts does not repeat it.
  if (env[backgroundVariable] !== undefined) return;
  const effective = [...variablesOfRuns, ...flagVariables(command)];
  const others: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(ownPrefix) && value !== "" && !effective.includes(name)) others.push(name);
  }
  // Usually there are none, and loading every command takes long.
  if (others.length === 0) return;

  const flags: flag.Flag<unknown>[] = [];
  for (const name of Object.keys(commands)) {
    const { flags: declared } = await loadCommand(name);
    flags.push(...Object.values(declared));
  }
  for (const name of others) {
    const isOfOtherCommand = flags.some(({ variables }) => variables.includes(name));
    if (!isOfOtherCommand) stderr.say(`Warning: ${name} has no effect${endOfWarning(name, flags)}\n`);
  }
}

function flagVariables(command: CliCommand): string[] {
  const variables: string[] = [];
  for (const declared of Object.values(shared.withVerbose(command.flags))) {
    variables.push(...declared.variables);
  }
  return variables;
}

/** The end of the sentence about a variable that has no effect: its flag, or a variable with a similar name. */
function endOfWarning(name: string, flags: readonly flag.Flag<unknown>[]): string {
  const ending = name.slice(ownPrefix.length);
  // The flag that it would set: `--port` of `PORT`.
  const longForm = `--${ending.toLowerCase().replaceAll("_", "-")}`;
  if (flags.some(({ spec }) => flag.longForm(spec) === longForm)) {
    return `: no variable sets ${longForm}. Write it on the command line.`;
  }

  const endings: string[] = [];
  for (const { variables } of flags) {
    for (const variable of variables) {
      if (variable.startsWith(ownPrefix)) endings.push(variable.slice(ownPrefix.length));
    }
  }
  const meant = nearest(ending, endings);
  return meant === undefined ? "." : `. Did you mean ${ownPrefix}${meant}?`;
}
