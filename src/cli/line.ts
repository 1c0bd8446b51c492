import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Option, Command as Parser } from "commander";
import { isScenarioName } from "../scenario/bundled.js";
import { listed, nearest, quote } from "../schema/words.js";
import type { CliCommand, CommandCall, CommandLine, Mode } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { usageError } from "./exit-codes.js";
import { type Flag, type FlagSet, isPort, longForm } from "./flags.js";
import { backgroundVariable, type Io, splitAtDashes } from "./io.js";
import { stdinName } from "./scenario.js";
import { withVerbose } from "./shared-flags.js";

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
export function namesScenario(word: string, { cwd }: Io): boolean {
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
    const scenario = io.env[variableOfArgument] as string;
    if (!namesScenario(scenario, io)) {
      throw usageError(
        `Invalid ${variableOfArgument}: ${quote(scenario)}. Use a bundled name (\`${io.program} list\`) or the name of a file.`,
      );
    }
    args = [scenario];
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

/**
 * The values of the flags that variables set. A flag on the command line comes before its variable, and before those of
 * flags that it cannot be used with. Throws a usage error if two variables cannot be used together.
 *
 * Commander reads variables, too, but treats an empty value and `0` as set, and allows only one per flag.
 */
function flagsOfVariables(
  flags: FlagSet,
  onLine: Readonly<Record<string, unknown>>,
  env: Io["env"],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const variableOf: Record<string, string> = {};
  for (const [name, { read, variables }] of Object.entries(flags)) {
    const variable = variables.find((candidate) => isSet(candidate, env));
    if (variable === undefined || name in onLine) continue;

    const isOverruled = rivalsOf(name, flags).some((rival) => rival in onLine);
    if (isOverruled) continue;
    values[name] = read(env[variable] as string, variable);
    variableOf[name] = variable;
  }

  for (const [name, value] of Object.entries(values)) {
    for (const rival of rivalsOf(name, flags)) {
      // A variable can also turn its flag off.
      if (!(rival in values) || values[rival] === false || value === false) continue;
      const both = `${variableOf[name]} and ${variableOf[rival]}`;
      throw usageError(`${both} cannot be used together. Unset one of them.`);
    }
  }
  return values;
}

// A Service of Kubernetes sets variables in each pod of its namespace. Those of one that is called svc-sandbox, or svc-sandbox-bank,
// begin like ours, and say nothing to this program. Docker sets some of them for a linked container.
//
//   SVC_SANDBOX_SERVICE_HOST=192.0.2.12        SVC_SANDBOX_PORT=tcp://192.0.2.12:4747
//   SVC_SANDBOX_SERVICE_PORT=4747              SVC_SANDBOX_PORT_4747_TCP=tcp://192.0.2.12:4747
//   SVC_SANDBOX_SERVICE_PORT_HTTP=4747         SVC_SANDBOX_PORT_4747_TCP_ADDR=192.0.2.12, _PROTO, _PORT

const nameOfService = /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?)$/;
const addressOfService = /^(?:tcp|udp|sctp):\/\//i;

/** Whether a variable has a value for this program. */
function isSet(name: string, env: Io["env"]): boolean {
  const value = env[name] ?? "";
  if (value === "") return false;
  if (!name.startsWith(ownPrefix)) return true;
  const isOfService = nameOfService.test(name) || (name.endsWith("_PORT") && addressOfService.test(value));
  return !isOfService;
}

/** The flags that a flag cannot be used with: either of the two may declare it. */
function rivalsOf(name: string, flags: FlagSet): string[] {
  const rivals: string[] = [];
  for (const [other, { conflicts }] of Object.entries(flags)) {
    if (conflicts.includes(name) || flags[name]?.conflicts.includes(other)) rivals.push(other);
  }
  return rivals;
}

const ownPrefix = "SVC_SANDBOX_";

/** `exec` and `certify` set these for their command, and packages of other languages read them. */
const variablesOfRuns = ["SVC_SANDBOX_RUN", "SVC_SANDBOX_BIN"];

/** Warns of each variable with our prefix that no flag of any command has. */
async function warnOfVariables(command: CliCommand, { env, stderr }: Io): Promise<void> {
  // The process that `start --detach` starts does not repeat it.
  if (env[backgroundVariable] !== undefined) return;
  const effective = [...variablesOfRuns, ...variablesOf(command)];
  const others: string[] = [];
  for (const name of Object.keys(env)) {
    if (name.startsWith(ownPrefix) && isSet(name, env) && !effective.includes(name)) others.push(name);
  }
  // Usually there are none, and loading every command takes long.
  if (others.length === 0) return;

  const variables = new Set<string>();
  const flagNames = new Set<string>();
  for (const commandName of Object.keys(commands)) {
    const declared = await loadCommand(commandName);
    for (const variable of variablesOf(declared)) variables.add(variable);
    for (const { spec } of Object.values(declared.flags)) flagNames.add(longForm(spec));
  }

  for (const name of others) {
    if (variables.has(name)) continue;
    const ending = name.slice(ownPrefix.length);
    // The flag that it would set: `--format` of `FORMAT`.
    const flagName = `--${ending.toLowerCase().replaceAll("_", "-")}`;
    let hint = ".";
    if (flagNames.has(flagName)) {
      hint = `: no variable sets ${flagName}. Write it on the command line.`;
    } else {
      const ownVariables = [...variables].filter((variable) => variable.startsWith(ownPrefix));
      const endings = ownVariables.map((variable) => variable.slice(ownPrefix.length));
      const meant = nearest(ending, endings);
      if (meant !== undefined) hint = `. Did you mean ${ownPrefix}${meant}?`;
    }
    stderr.say(`Warning: ${name} has no effect${hint}\n`);
  }
}

/** The variables that a command reads for its flags and its argument. */
function variablesOf({ flags, variableOfArgument }: CliCommand): string[] {
  const variables = variableOfArgument === undefined ? [] : [variableOfArgument];
  for (const declared of Object.values(withVerbose(flags))) variables.push(...declared.variables);
  return variables;
}
