import { readSwitch } from "./flag-values.js";
import { type Flag, type FlagName, type Flags, flags } from "./flags.js";
import type { Io } from "./io.js";

/**
 * Looks up what the command line says of a flag: its text, or its texts when it can be given more than once; `true` for
 * a switch; `undefined` when it is not there.
 */
export type GivenFlag = (name: FlagName) => string | readonly string[] | boolean | undefined;

/**
 * The flags of a command: from the command line, else from the environment.
 *
 * Throws a usage error that names the flag or the variable.
 */
export function readFlags(names: readonly FlagName[], given: GivenFlag, env: Io["env"]): Flags {
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const value = flagValue(flags[name], given(name), env);
    if (value === undefined) continue;
    // The one flag that is written as a denial is easier to read without it.
    if (name === "noControl") values.control = !value;
    else values[name] = value;
  }
  return values as Flags;
}

/** The long form of a flag, without its value: `--port`. */
export function longForm({ spec }: Flag): string {
  return /--[a-z-]+/.exec(spec)?.[0] ?? spec;
}

function flagValue(flag: Flag, given: ReturnType<GivenFlag>, env: Io["env"]): unknown {
  if (typeof given === "string") return flag.read?.(given, longForm(flag));
  if (typeof given === "object") return given.map((one) => flag.read?.(one, longForm(flag)));
  if (given !== undefined) return given;
  // An empty variable is the usual way to unset one.
  const variable = flag.variables.find((one) => (env[one] ?? "") !== "");
  if (variable === undefined) return undefined;
  const value = (flag.read ?? readSwitch)(env[variable] as string, variable);
  return flag.repeatable ? [value] : value;
}
