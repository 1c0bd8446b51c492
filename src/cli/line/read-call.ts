import type { Command as Commander, Option } from "commander";
import { listed, quote } from "../../schema/words.js";
import { type CliCommand, type CommandCall, type Mode, type ModeCall, modesOf } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags/flag.js";
import * as shared from "../flags/shared-flags.js";
import type { Io } from "../io.js";

/** The values of flags by their names, each as its reader has returned it. */
type FlagsByName = Readonly<Record<string, unknown>>;

/**
 * The mode of a call that Commander has parsed, and the flags that it reads. Throws a usage error that names what the mode
 * does not read.
 */
export function readCall(
  name: string,
  command: CliCommand,
  commander: Commander,
  io: Io,
): Pick<CommandCall, "mode" | "args" | "flags"> {
  const { args } = commander;
  const onLine = flagsOnLine(command, commander);
  const values = { ...flagsOfVariables(command, commander, onLine, io.env), ...onLine };
  const modes = modesOf(name, command);

  const mode = findMode(modes, { args, flags: values, flagsOnLine: onLine, io });
  if (unusedParts(mode, command, args, onLine).length === 0) return callInMode(mode, args, values);

  // A variable must not choose a mode that does not read the whole command line: here, the line chooses alone.
  const modeOfLine = findMode(modes, { args, flags: onLine, flagsOnLine: onLine, io });
  const unused = unusedParts(modeOfLine, command, args, onLine);
  if (unused.length === 0) return callInMode(modeOfLine, args, values);
  const remove = unused.length === 1 ? "Remove it" : "Remove them";
  throw usageError(`${modeOfLine.name} does not use ${listed(unused, "and")}. ${remove}.`);
}

/** The first mode that a call is in: the last one of a command has no condition. */
function findMode(modes: readonly Mode[], call: ModeCall): Mode {
  return modes.find((mode) => mode.when === undefined || mode.when(call)) as Mode;
}

/** A call in a mode, with the flags that the mode reads. */
function callInMode(mode: Mode, args: readonly string[], values: FlagsByName) {
  const flags: Record<string, unknown> = {};
  for (const [flagName, value] of Object.entries(values)) {
    if (readsFlag(flagName, mode)) flags[flagName] = value;
  }
  return { mode: mode.name, args, flags };
}

function readsFlag(flagName: string, mode: Mode): boolean {
  return flagName === "verbose" || mode.flags.includes(flagName);
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
    if (flagName in onLine && !readsFlag(flagName, mode)) unused.push(flag.longForm(spec));
  }
  return unused;
}

/** How many arguments a command can have. */
function maxArgsOf({ args = {} }: CliCommand): number {
  const declared = Object.keys(args);
  const takesSeveral = declared.some((arg) => arg.includes("..."));
  return takesSeveral ? Number.POSITIVE_INFINITY : declared.length;
}

/** The values of the flags on the command line. */
function flagsOnLine(command: CliCommand, commander: Commander): FlagsByName {
  const parsed = commander.opts<Record<string, unknown>>();
  const values: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(shared.withVerbose(command.flags))) {
    const attribute = optionOf(declared, commander).attributeName();
    if (commander.getOptionValueSource(attribute) === "cli") values[name] = parsed[attribute];
  }
  return values;
}

/** The value of a flag that a variable has set. */
interface VariableValue {
  readonly variable: string;
  readonly value: unknown;
  /** Whether the flag is on: a variable can also turn it off. */
  readonly isOn: boolean;
}

/**
 * The values of the flags that variables set. A flag on the command line comes before its variable, and before those of
 * flags that it cannot be used with. Throws a usage error if two variables cannot be used together.
 *
 * Commander reads variables, too, but treats an empty value and `0` as set, and allows only one per flag.
 */
function flagsOfVariables(
  command: CliCommand,
  commander: Commander,
  onLine: FlagsByName,
  env: Io["env"],
): FlagsByName {
  const fromVariables = new Map<string, VariableValue>();
  const flags = shared.withVerbose(command.flags);
  for (const [name, declared] of Object.entries(flags)) {
    const variable = declared.variables.find((name) => (env[name] ?? "") !== "");
    if (variable === undefined || name in onLine) continue;
    const flagValue = declared.read(env[variable] as string, variable);
    // `--no-control` that is on sets `control` to false.
    const isNegated = optionOf(declared, commander).negate;
    fromVariables.set(name, {
      variable,
      value: isNegated ? !flagValue : flagValue,
      isOn: flagValue !== false,
    });
  }

  const values: Record<string, unknown> = {};
  for (const [name, { variable, value, isOn }] of fromVariables) {
    const conflicting = conflictsOf(name, flags);
    if (conflicting.some((flagName) => flagName in onLine)) continue;
    for (const flagName of conflicting) {
      const rival = fromVariables.get(flagName);
      if (!isOn || !rival?.isOn) continue;
      throw usageError(`${variable} and ${rival.variable} cannot be used together. Unset one of them.`);
    }
    values[name] = value;
  }
  return values;
}

/** The flags that a flag cannot be used with: either of the two may declare it. */
function conflictsOf(name: string, flags: flag.FlagSet): string[] {
  const others: string[] = [];
  for (const [other, { conflicts }] of Object.entries(flags)) {
    if (conflicts.includes(name) || flags[name]?.conflicts.includes(other)) others.push(other);
  }
  return others;
}

function optionOf({ spec }: flag.Flag<unknown>, commander: Commander): Option {
  const long = flag.longForm(spec);
  return commander.options.find((option) => option.long === long) as Option;
}
