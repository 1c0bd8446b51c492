/**
 * The choices that the sandbox makes where the specification is silent, under the names that scenarios use.
 *
 * `docs/assumptions.md`, the scenario schema and the control plane are made from {@link assumptionTable}.
 */
export interface Assumptions {
  readonly rate_limit_code: string;
  readonly me_scope: string | null;
  readonly scopes: readonly string[];
  readonly minute_window: "fixed" | "sliding";
  readonly day_resets_at: string;
  readonly count_refused: boolean;
  readonly retiring_counts_as_active: boolean;
}

/** One row of the table: what is assumed, the values it can take, and what the specification says instead. */
export interface AssumptionRow<Value> {
  /** Which values are allowed: a switch, one of a list, an error code, a time of day, a scope name or `null`, scope names. */
  readonly kind: "boolean" | "choice" | "code" | "time_of_day" | "scope_or_null" | "scopes";
  readonly choices?: readonly string[];
  /** The value in the profile `minimal`: only what the specification promises. */
  readonly minimal: Value;
  readonly meaning: string;
  /** The silence of the specification that makes the assumption necessary. */
  readonly gap: string;
}

export const assumptionTable: { readonly [Name in keyof Assumptions]: AssumptionRow<Assumptions[Name]> } = {
  rate_limit_code: {
    kind: "code",
    minimal: "rate_limited",
    meaning: "The error code of a 429.",
    gap: "The code value for 429 is not shown.",
  },
  me_scope: {
    kind: "scope_or_null",
    minimal: "attestations:read",
    meaning: "The scope that GET /v1/relying-party/me needs; null when it needs none.",
    gap: "The scope needed by this endpoint is not shown.",
  },
  scopes: {
    kind: "scopes",
    minimal: ["attestations:read", "attestations:write", "consents:read", "consents:write"],
    meaning: "All scope names that a key may be given.",
    gap: "The complete list of scope names is not shown.",
  },
  minute_window: {
    kind: "choice",
    choices: ["fixed", "sliding"],
    minimal: "fixed",
    meaning: "How a minute is measured: fixed UTC minutes, or the 60 seconds before each request (sliding).",
    gap: "How the minute of per_minute is measured is not shown.",
  },
  day_resets_at: {
    kind: "time_of_day",
    minimal: "00:00",
    meaning: "The time of day, in UTC, at which usage.today starts again from zero.",
    gap: "When the daily counter resets is not shown.",
  },
  count_refused: {
    kind: "boolean",
    minimal: false,
    meaning:
      "Whether requests that are refused (401, 403, 429) count against the limits of the key they carried.",
    gap: "Whether refused requests count is not shown.",
  },
  retiring_counts_as_active: {
    kind: "boolean",
    minimal: false,
    meaning: "Whether a replaced key that is still in its overlap is one of the five active keys.",
    gap: "Whether a key in its overlap counts as active is not shown.",
  },
};

/** A named set of assumptions. */
export type Profile = "minimal";
export const profiles: readonly Profile[] = ["minimal"];

/** Every assumption as the profile sets it, except those given. */
export function assumptionsFor(_profile: Profile, given: Partial<Assumptions> = {}): Assumptions {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(assumptionTable)) values[name] = row.minimal;
  return { ...values, ...given } as Assumptions;
}
