import { nearest } from "../../schema/words.js";
import type { CliCommand } from "../command.js";
import { commands } from "../commands.js";
import * as flag from "../flags/flag.js";
import * as shared from "../flags/shared-flags.js";
import { backgroundVariable, type Io } from "../io.js";
import { loadCommand } from "./command-line.js";

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
