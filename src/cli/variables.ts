import { nearest } from "../schema/words.js";
import type { CliCommand } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { usageError } from "./exit-codes.js";
import { type Flag, type FlagSet, longForm } from "./flags.js";
import { backgroundVariable, type Io } from "./io.js";
import { withVerbose } from "./shared-flags.js";

/**
 * The values of the flags that variables set. A flag on the command line comes before its variable, and before those of
 * flags that it cannot be used with. Throws a usage error if two variables cannot be used together.
 *
 * Commander reads variables, too, but treats an empty value and `0` as set, and allows only one per flag.
 */
export function flagsOfVariables(
  flags: FlagSet,
  onLine: Readonly<Record<string, unknown>>,
  env: Io["env"],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const variableOf: Record<string, string> = {};
  for (const [name, { read, variables }] of Object.entries(flags)) {
    const variable = variables.find((candidate) => (env[candidate] ?? "") !== "");
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
export async function warnOfVariables(command: CliCommand, { env, stderr }: Io): Promise<void> {
  // The process that `start --detach` starts does not repeat it.
  if (env[backgroundVariable] !== undefined) return;
  const ownFlags = Object.values(withVerbose(command.flags));
  const effective = [...variablesOfRuns, ...ownFlags.flatMap(({ variables }) => variables)];
  const others: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(ownPrefix) && value !== "" && !effective.includes(name)) others.push(name);
  }
  // Usually there are none, and loading every command takes long.
  if (others.length === 0) return;

  const flags: Flag<unknown>[] = [];
  for (const name of Object.keys(commands)) {
    const { flags: declared } = await loadCommand(name);
    flags.push(...Object.values(declared));
  }
  for (const name of others) {
    const isOfOtherCommand = flags.some(({ variables }) => variables.includes(name));
    if (!isOfOtherCommand) stderr.say(`Warning: ${name} has no effect${endOfWarning(name, flags)}\n`);
  }
}

/** The end of the sentence about a variable that has no effect: its flag, or a variable with a similar name. */
function endOfWarning(name: string, flags: readonly Flag<unknown>[]): string {
  const ending = name.slice(ownPrefix.length);
  // The flag that it would set: `--port` of `PORT`.
  const flagName = `--${ending.toLowerCase().replaceAll("_", "-")}`;
  if (flags.some(({ spec }) => longForm(spec) === flagName)) {
    return `: no variable sets ${flagName}. Write it on the command line.`;
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
