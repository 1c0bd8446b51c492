import { nearest } from "../schema/words.js";
import type { CliCommand } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { usageError } from "./exit-codes.js";
import { type FlagSet, longForm } from "./flags.js";
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

/** Whether a variable has a value for this program. */
export function isSet(name: string, env: Io["env"]): boolean {
  const value = env[name] ?? "";
  return value !== "" && !isOfService(name, value);
}

// A Service of Kubernetes sets variables in each pod of its namespace. Those of one that is called svc-sandbox, or svc-sandbox-bank,
// begin like ours, and say nothing to this program. Docker sets some of them for a linked container.
//
//   SVC_SANDBOX_SERVICE_HOST=192.0.2.12        SVC_SANDBOX_PORT=tcp://192.0.2.12:4747
//   SVC_SANDBOX_SERVICE_PORT=4747              SVC_SANDBOX_PORT_4747_TCP=tcp://192.0.2.12:4747
//   SVC_SANDBOX_SERVICE_PORT_HTTP=4747         SVC_SANDBOX_PORT_4747_TCP_ADDR=192.0.2.12, _PROTO, _PORT

const nameOfService = /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?)$/;
const addressOfService = /^(?:tcp|udp|sctp):\/\//i;

function isOfService(name: string, value: string): boolean {
  if (!name.startsWith(ownPrefix)) return false;
  return nameOfService.test(name) || (name.endsWith("_PORT") && addressOfService.test(value));
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
