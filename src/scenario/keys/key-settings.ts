import type { KeyLimits, KeySettings } from "../../rules/key-state.js";

/** The scopes of a key without its own. */
export const defaultScopes: readonly string[] = ["attestations:read"];

const defaultLimits: KeyLimits = { perMinute: 60, perDay: 1000 };

/** The settings of a key as a scenario has them. */
export interface WrittenSettings {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly limits?:
    | { readonly per_minute?: number | undefined; readonly per_day?: number | undefined }
    | undefined;
}

/** Returns the settings for a key's record. A name that the scenario leaves out is invented by the caller. */
export function readSettings(name: string, { scopes = defaultScopes, limits }: WrittenSettings): KeySettings {
  return { name, scopes, limits: readLimits(limits) };
}

export function readLimits(limits: WrittenSettings["limits"]): KeyLimits {
  // One object for the many keys of a population.
  if (limits === undefined) return defaultLimits;
  const { per_minute = defaultLimits.perMinute, per_day = defaultLimits.perDay } = limits;
  return { perMinute: per_minute, perDay: per_day };
}
