import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { commandLine } from "../report/curl-line.js";
import type { SandboxError } from "../rules/errors.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { didYouMean, nearest, quote } from "../schema/words.js";
import type { CliCommand, CommandCall } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { usageError } from "./exit-codes.js";
import { type Flag, type FlagSet, isOn, longForm, takesValue } from "./flags.js";
import { backgroundVariable, type Io } from "./io.js";
import { stdinName } from "./scenario.js";
import { withVerbose } from "./shared-flags.js";

// A command line is read once: `readLine` finds its command and cuts it into words and flags, whatever they are; `readCall` checks
// them, and adds what variables set. In between, help and the form of errors depend on the line alone.

/** A command line in its parts. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly name: string;
  readonly command: CliCommand;
  /** Whether the line has the name of the command: one without it calls `start`. */
  readonly hasName: boolean;
  /** The words that are not flags. */
  readonly words: readonly string[];
  readonly flags: readonly WrittenFlag[];
  /** The words after `--`: the command line of a client; `undefined` without `--`. */
  readonly clientCommand: readonly string[] | undefined;
  /** The command line of a client that has no `--` before it. */
  readonly misplacedCommand: readonly string[];
}

/** A flag as it is on a command line. */
interface WrittenFlag {
  /** Without hyphens: `port`. */
  readonly name: string;
  /** As it is written: `-p`. */
  readonly text: string;
  readonly value: string | undefined;
}

/** Cuts a command line into its parts. What is wrong with them is found later. */
export async function readLine(argv: readonly string[], io: Pick<Io, "cwd">): Promise<CommandLine> {
  const [first = ""] = argv;
  const hasName = Object.hasOwn(commands, first);
  const name = hasName ? first : "start";
  const command = await loadCommand(name);
  const args = hasName ? argv.slice(1) : argv;

  const { tokens } = parseArgs({ args, options: parserOptions(command), strict: false, tokens: true });
  const end = tokens.findIndex(({ kind }) => kind === "option-terminator");
  const beforeDashes = end === -1 ? [] : tokens.slice(0, end).filter(({ kind }) => kind === "positional");
  const words: string[] = [];
  const flags: WrittenFlag[] = [];
  let misplacedCommand: readonly string[] = [];
  let clientCommand: readonly string[] | undefined;
  for (const token of tokens) {
    const { kind, index } = token;
    if (kind === "option") {
      flags.push({ name: token.name, text: token.rawName, value: token.value });
      continue;
    }
    if (kind === "option-terminator") {
      // The other commands read the words after it as their own.
      if (!command.takesClientCommand) continue;
      clientCommand = args.slice(index + 1);
      break;
    }

    // The only word before the dashes is a scenario, also a misspelled one.
    const isScenario = words.length === 0 && (beforeDashes.length === 1 || mayBeScenario(token.value, io));
    if (command.takesClientCommand && !isScenario) {
      // In `exec pytest -v`, the flag is one of pytest.
      misplacedCommand = args.slice(index);
      break;
    }
    words.push(token.value);
  }
  return { argv, name, command, hasName, words, flags, clientCommand, misplacedCommand };
}

/** The flags of a command, as Node's parser reads them. */
function parserOptions(command: CliCommand) {
  const options: Record<string, { type: "string" | "boolean"; short?: string }> = {
    help: { type: "boolean", short: "h" },
    version: { type: "boolean", short: "v" },
  };
  for (const { spec } of Object.values(withVerbose(command.flags))) {
    const [, short] = /^-(\w),/.exec(spec) ?? [];
    const type = takesValue(spec) ? "string" : "boolean";
    options[longForm(spec).slice(2)] = { type, ...(short !== undefined && { short }) };
  }
  return options;
}

/** Whether a line has a flag. */
export function hasFlag({ flags }: CommandLine, name: string): boolean {
  return flags.some((flag) => flag.name === name);
}

/** How to describe an error: as JSON if a program reads it. */
export function errorForm(line: CommandLine, env: Io["env"]) {
  const { SVC_SANDBOX_VERBOSE: verbose = "", SVC_SANDBOX_JSON: json = "" } = env;
  const hasJsonFormat = line.flags.some(({ name, value }) => name === "format" && value === "json");
  return {
    verbose: hasFlag(line, "verbose") || isOn(verbose),
    json: hasJsonFormat || hasFlag(line, "json") || isOn(json),
  };
}

/** Whether a word is a scenario: a bundled name, a file that exists, or `-` for stdin; or the name of a file that is missing. */
function mayBeScenario(word: string, io: Pick<Io, "cwd">): boolean {
  if (word === stdinName || isScenarioName(word) || /[\\/]|\.ya?ml$/i.test(word)) return true;
  return existsSync(resolve(io.cwd, word));
}

/** Throws a usage error if a line without a command starts with a word that is no scenario either. */
export function requireKnownWord({ hasName, words: [first] }: CommandLine, io: Io): void {
  if (!hasName && first !== undefined && !mayBeScenario(first, io)) throw unknownWord(first, io);
}

/** The call of a line: its arguments, and the flags that it and variables set. Throws a usage error for what is wrong with it. */
export async function readCall(line: CommandLine, io: Io): Promise<CommandCall<Record<string, unknown>>> {
  const { argv, command, words, clientCommand } = line;
  // What comes first on the line is told first.
  if (!argv[0]?.startsWith("-")) requireKnownWord(line, io);
  requireClientCommand(line, io);
  const values = readFlags(line, io);
  requireKnownWord(line, io);

  let args = words;
  const { variableOfArgument } = command;
  const scenario = variableOfArgument === undefined ? undefined : valueIn(variableOfArgument, io.env);
  if (args.length === 0 && scenario !== undefined) {
    if (!mayBeScenario(scenario, io)) {
      throw usageError(
        `Invalid ${variableOfArgument}: ${quote(scenario)}. Use a bundled name (\`${io.program} list\`) or the name of a file.`,
      );
    }
    args = [scenario];
  }
  requireArguments(args, line, io);
  await warnOfVariables(command, io);
  return { ...values, args, clientCommand: clientCommand ?? [], argv, io };
}

/** What to write in place of words that other tools have for a command. */
const otherWords: Readonly<Record<string, string>> = {
  serve: "start",
  mock: "start",
  run: "exec -- npm test",
  test: "exec -- npm test",
  lint: "validate",
};

/** The error for a first word that is neither a command nor a scenario. */
function unknownWord(word: string, { program }: Pick<Io, "program">): SandboxError {
  let hint = didYouMean(word, [...Object.keys(commands), ...Object.keys(bundledScenarios)]);
  if (Object.hasOwn(otherWords, word)) hint = ` Did you mean ${program} ${otherWords[word]}?`;
  if (Object.hasOwn(commands, word)) hint = " A command comes before its flags.";
  return usageError(
    `${quote(word)} is not a command, a bundled scenario or a file here.${hint}\nRun \`${program} --help\` for the commands, or \`${program} list\` for the bundled scenarios.`,
  );
}

/** Throws a usage error if the command takes the command line of a client, and it is not after `--`. */
function requireClientCommand(line: CommandLine, io: Io): void {
  const { name, command, words, clientCommand, misplacedCommand } = line;
  const hasCommand = clientCommand !== undefined && clientCommand.length > 0;
  if (!command.takesClientCommand || hasCommand) return;
  const what = clientCommand === undefined ? "-- before your command" : "a command after --";
  const shown = misplacedCommand.length > 0 ? misplacedCommand : ["npm", "test"];
  const example = `${io.program} ${commandLine([name, ...words])} -- ${commandLine(shown)}`;
  throw wrongUsage(line, `${name} needs ${what}: ${example}`, io);
}

/** Throws a usage error if an argument is missing, or if there is one too many. */
function requireArguments(args: readonly string[], line: CommandLine, io: Io): void {
  const declared = Object.keys(line.command.args ?? {});
  const missing = declared[args.length];
  if (missing?.startsWith("<")) throw wrongUsage(line, `${line.name} needs ${missing}.`, io);
  const takesSeveral = declared.some((arg) => arg.includes("..."));
  const extra = takesSeveral ? undefined : args[declared.length];
  if (extra === undefined) return;
  throw wrongUsage(line, `${line.name} does not use ${quote(extra)}. Remove it.`, io);
}

/** The values of flags, and what has set each: the line, or else a variable. Throws a usage error for two that exclude each other. */
function readFlags(line: CommandLine, io: Io): Pick<CommandCall, "flags" | "sources"> {
  const declared = withVerbose(line.command.flags);
  const values: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const written of line.flags) {
    const [name, { spec, read }] = findFlag(written, line, declared, io);
    const source = longForm(spec);
    const value = read(textOf(written, spec, line, io), source);
    const before = values[name];
    const isSecond = before !== undefined && takesValue(spec) && !Array.isArray(value);
    if (isSecond) throw usageError(`${source} appears more than once. Keep one.`);
    // A flag whose reader returns a list is repeatable.
    values[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
    sources[name] = source;
  }

  // The command line comes before variables: also before that of a flag which excludes one on the line.
  const onLine = Object.keys(values);
  for (const [name, { read, variables }] of Object.entries(declared)) {
    const variable = variables.find((candidate) => valueIn(candidate, io.env) !== undefined);
    const isOverruled = onLine.some((other) => other === name || excludeEachOther(name, other, declared));
    if (variable === undefined || isOverruled) continue;
    values[name] = read(valueIn(variable, io.env) as string, variable);
    sources[name] = variable;
  }

  const set = Object.keys(values).filter((name) => values[name] !== false);
  for (const name of set) {
    const other = set.find((one) => excludeEachOther(name, one, declared));
    if (other === undefined) continue;
    throw wrongUsage(line, `${sources[name]} and ${sources[other]} cannot be used together.`, io);
  }
  return { flags: values, sources };
}

function findFlag(
  written: WrittenFlag,
  line: CommandLine,
  declared: FlagSet,
  io: Io,
): [string, Flag<unknown>] {
  const found = Object.entries(declared).find(([, { spec }]) => longForm(spec) === `--${written.name}`);
  if (found !== undefined) return found;
  const names = Object.values(declared).map(({ spec }) => longForm(spec).slice(2));
  const meant = nearest(written.name, names);
  const hint = meant === undefined ? "" : ` Did you mean --${meant}?`;
  throw wrongUsage(line, `Unknown flag ${quote(written.text)}.${hint}`, io);
}

/** The text that the reader of a flag gets; a switch has none on the line. */
function textOf({ value }: WrittenFlag, spec: string, line: CommandLine, io: Io): string {
  if (takesValue(spec) && value === undefined) throw wrongUsage(line, `${longForm(spec)} needs a value.`, io);
  if (takesValue(spec)) return value as string;
  if (value !== undefined) throw wrongUsage(line, `${longForm(spec)} accepts no value.`, io);
  return "1";
}

/** Whether two flags cannot be used together: either of them may declare it. */
function excludeEachOther(one: string, other: string, flags: FlagSet): boolean {
  return Boolean(flags[one]?.conflicts.includes(other) || flags[other]?.conflicts.includes(one));
}

/** A usage error that shows where the usage of the command is. */
function wrongUsage({ name }: CommandLine, sentence: string, { program }: Io): SandboxError {
  return usageError(`${sentence}\nRun \`${program} ${name} --help\` for usage.`);
}

/** The value of a variable; `undefined` if it is empty, or the address of a Kubernetes Service that is called svc-sandbox. */
function valueIn(name: string, env: Io["env"]): string | undefined {
  const value = env[name] ?? "";
  return value === "" || /^(?:tcp|udp|sctp):\/\//i.test(value) ? undefined : value;
}

const ownPrefix = "SVC_SANDBOX_";

/** `exec` and `certify` set these for their command, and packages of other languages read them. */
const variablesOfRuns = ["SVC_SANDBOX_RUN", "SVC_SANDBOX_BIN"];

/** Warns of each variable with our prefix that no command reads. */
async function warnOfVariables(command: CliCommand, { env, stderr }: Io): Promise<void> {
  const set = Object.keys(env).filter((name) => name.startsWith(ownPrefix) && valueIn(name, env));
  // The process that `start --detach` starts does not repeat it. A Kubernetes Service called svc-sandbox sets many such variables.
  const isInCluster = set.some((name) => name.endsWith("_SERVICE_HOST"));
  if (env[backgroundVariable] !== undefined || isInCluster) return;
  const known = new Set([...variablesOfRuns, ...variablesOf(command)]);
  if (set.every((name) => known.has(name))) return;

  // Usually there are none, and loading every command takes long.
  for (const name of Object.keys(commands)) {
    for (const variable of variablesOf(await loadCommand(name))) known.add(variable);
  }
  for (const name of set) {
    if (!known.has(name)) stderr.say(`Warning: ${name} has no effect.${didYouMean(name, known)}\n`);
  }
}

/** The variables that a command reads for its flags and its argument. */
function variablesOf({ flags, variableOfArgument }: CliCommand): string[] {
  const variables = variableOfArgument === undefined ? [] : [variableOfArgument];
  for (const declared of Object.values(withVerbose(flags))) variables.push(...declared.variables);
  return variables;
}
