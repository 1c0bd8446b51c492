import type { Command as Commander, Option } from "commander";
import { listed, quote } from "../../schema/words.js";
import { type CliCommand, type CommandCall, type Mode, modesOf } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags/flag.js";
import * as shared from "../flags/shared-flags.js";
import type { Io } from "../io.js";

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
