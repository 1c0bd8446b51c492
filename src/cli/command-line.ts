import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { nearest, quote } from "../schema/words.js";
import type { CliCommand, CommandCall } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { usageError } from "./exit-codes.js";
import type { Flag } from "./flags.js";
import type { Io } from "./io.js";
import { stdinName } from "./scenario.js";
import { withVerbose } from "./shared-flags.js";

// A command line is read from left to right, and the error shows its first mistake. The words after `--` are the command line of a client.

/** What people write in place of our words, by habit from other tools. */
const habits: ReadonlyMap<string, string> = new Map([
  ["serve", "start"],
  ["mock", "start"],
  ["run", "exec -- npm test"],
  ["test", "exec -- npm test"],
  ["lint", "validate"],
  // Other commands say more with it, or show their version.
  ["-v", "--verbose"],
  ["--version", "--verbose"],
]);

/** What may be meant by a word or a flag that does not exist: by habit, or else the nearest one, if one is near. */
function hint(written: string, near: string | undefined): string {
  const meant = habits.get(written) ?? near;
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

/** Reads a command line and the variables of its command. Throws a usage error for the first mistake. */
export async function readCommandLine(
  argv: readonly string[],
  io: Io,
): Promise<{ readonly command: CliCommand; readonly call: CommandCall }> {
  const [first = ""] = argv;
  const hasName = Object.hasOwn(commands, first);
  const name = hasName ? first : "start";
  const command = await loadCommand(name);
  const flags = withVerbose(command.flags);
  const seeHelp = `\nRun \`${io.program} ${name} --help\` for usage.`;

  const { line, afterDashes } = cutAtDashes(hasName ? argv.slice(1) : argv);
  if (command.takesClientCommand && afterDashes.length === 0) {
    throw usageError(`${name} needs -- and your command: ${io.program} ${name} -- npm test${seeHelp}`);
  }

  const words: string[] = [];
  const values: Record<string, unknown> = {};
  for (const token of parseTokens(line, Object.values(flags))) {
    if (token.kind === "option") addFlag(token, flags, values, seeHelp);
    if (token.kind !== "positional") continue;
    const isFirst = !hasName && words.length === 0;
    if (isFirst) requireScenario(token.value, io);
    words.push(token.value);
  }

  const args = command.takesClientCommand ? words : [...words, ...afterDashes];
  const wrongArgument = findWrongArgument(args, Object.keys(command.args ?? {}));
  if (wrongArgument !== undefined) throw usageError(`${name} ${wrongArgument}${seeHelp}`);

  const variables = readVariables(command, values, io.env);
  const wrongPair = findConflict({ ...variables, ...values }, flags);
  if (wrongPair !== undefined) throw usageError(`${wrongPair} cannot be used together.${seeHelp}`);
  const call = { flags: { ...variables, ...values }, args, clientCommand: afterDashes, argv, io };
  return { command, call };
}

/** The words before the first `--` of a command line, and those after it. */
export function cutAtDashes(argv: readonly string[]) {
  const dashes = argv.indexOf("--");
  if (dashes === -1) return { line: argv, afterDashes: [] };
  return { line: argv.slice(0, dashes), afterDashes: argv.slice(dashes + 1) };
}

/** The words and flags of a command line, in order. */
function parseTokens(line: readonly string[], flags: readonly Flag<unknown>[]) {
  const options: Record<string, { type: "string" | "boolean"; short?: string }> = {};
  for (const { long, short, hasValue } of flags) {
    options[long.slice(2)] = { type: hasValue ? "string" : "boolean", ...(short && { short }) };
  }
  return parseArgs({ args: [...line], options, strict: false, tokens: true }).tokens;
}

/** A flag of a command line. `inlineValue`: its value follows a `=`. */
interface WrittenFlag {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

/** Adds the value of a flag of a command line. */
function addFlag(
  written: WrittenFlag,
  flags: CliCommand["flags"],
  values: Record<string, unknown>,
  seeHelp: string,
): void {
  const { name, rawName, value: text, inlineValue } = written;
  const [member, flag] = Object.entries(flags).find(([, { long }]) => long === `--${name}`) ?? [];
  if (member === undefined || flag === undefined) {
    const names = Object.values(flags).map(({ long }) => long.slice(2));
    const near = nearest(name, names);
    const whatIsMeant = hint(rawName, near && `--${near}`);
    throw usageError(`Unknown flag ${quote(rawName)}.${whatIsMeant}${seeHelp}`);
  }

  const { long, hasValue } = flag;
  if (!hasValue) {
    if (text !== undefined) throw usageError(`${long} accepts no value.${seeHelp}`);
    values[member] = true;
    return;
  }
  if (text === undefined) throw usageError(`${long} needs a value.${seeHelp}`);
  // In `--state --watch`, the value is missing. A token may start with a dash.
  const isFlag = !inlineValue && Object.values(flags).some((one) => one.long === text);
  if (isFlag) throw usageError(`${long} needs a value, and ${text} is another flag.${seeHelp}`);
  const value = flag.read(text, long);
  const before = values[member];
  if (before === undefined) values[member] = value;
  else if (Array.isArray(before) && Array.isArray(value)) values[member] = [...before, ...value];
  else throw usageError(`${long} appears more than once. Keep one.`);
}

/** Throws a usage error for a first word that is neither a command nor a scenario: a bundled name, `-` for stdin, or a file, also one that is missing. */
export function requireScenario(word: string, { cwd, program }: Pick<Io, "cwd" | "program">): void {
  if (word === stdinName || isScenarioName(word) || /[\\/]|\.ya?ml$/i.test(word)) return;
  if (existsSync(resolve(cwd, word))) return;

  let whatIsMeant = hint(word, nearest(word, [...Object.keys(commands), ...Object.keys(bundledScenarios)]));
  if (Object.hasOwn(commands, word)) whatIsMeant = " A command comes before its flags.";
  throw usageError(
    `${quote(word)} is not a command, a bundled scenario or a file here.${whatIsMeant}\nRun \`${program} --help\` for the commands, or \`${program} list\` for the bundled scenarios.`,
  );
}

/** What is wrong with the arguments of a command: that one is missing, or one too many. */
function findWrongArgument(args: readonly string[], declared: readonly string[]): string | undefined {
  const missing = declared[args.length];
  if (missing?.startsWith("<")) return `needs ${missing}.`;
  const extra = args[declared.length];
  const takesSeveral = declared.some((arg) => arg.includes("..."));
  if (extra !== undefined && !takesSeveral) return `does not use ${quote(extra)}. Remove it.`;
  return undefined;
}

/** The values of the flags that variables set, and the command line does not. */
function readVariables(
  { variables = {}, flags }: CliCommand,
  onLine: Readonly<Record<string, unknown>>,
  env: Io["env"],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [variable, member] of Object.entries(variables)) {
    const text = env[variable] ?? "";
    if (text === "" || onLine[member] !== undefined || values[member] !== undefined) continue;
    values[member] = flags[member]?.read(text, variable);
  }
  return values;
}

/** Two flags that cannot be used together, in words. */
function findConflict(
  values: Readonly<Record<string, unknown>>,
  flags: CliCommand["flags"],
): string | undefined {
  for (const [member, { long, conflicts }] of Object.entries(flags)) {
    if (!values[member]) continue;
    const other = conflicts.find((name) => values[name]);
    if (other !== undefined) return `${long} and ${flags[other]?.long}`;
  }
  return undefined;
}
