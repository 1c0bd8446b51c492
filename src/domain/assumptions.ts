/**
 * The choices that the sandbox makes where the specification is silent, under the names that scenarios use.
 *
 * `docs/assumptions.md`, the scenario schema and the control plane are made from {@link assumptionTable}.
 */
export interface Assumptions {
  readonly rate_limit_code: string;
  readonly request_id_on_errors: boolean;
  readonly retry_after: "none" | "seconds" | "date";
  readonly rate_limit_headers: "none" | "draft" | "legacy";
  readonly error_details: boolean;
  readonly me_scope: string | null;
  readonly scopes: readonly string[];
  readonly minute_window: "fixed" | "sliding";
  readonly day_resets_at: string;
  readonly count_refused: boolean;
  readonly retiring_counts_as_active: boolean;
  readonly replacement_usage: "fresh" | "inherited";
  readonly www_authenticate: boolean;
  readonly default_expiry: string;
}

/** The form of an error code. */
export const errorCodePattern = /^[A-Za-z][A-Za-z0-9_.-]*$/;
/** The form of the name of a scope. */
export const scopePattern = /^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$/;

/** The kinds of value that an assumption can have. */
export type AssumptionKind =
  | "boolean"
  | "choice"
  | "code"
  | "time_of_day"
  | "scope_or_null"
  | "scopes"
  | "duration_or_none";

/** One row of the table: what is assumed, the values it can take, and what the specification says instead. */
export interface AssumptionRow<Value> {
  readonly kind: AssumptionKind;
  readonly choices?: readonly string[];
  /** The value in the profile `minimal`: only what the specification promises. */
  readonly minimal: Value;
  /** The value in the profile `typical`: what good gateways do. Default: as in `minimal`. */
  readonly typical?: Value;
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
  request_id_on_errors: {
    kind: "boolean",
    minimal: false,
    typical: true,
    meaning: "Whether error responses carry X-Request-Id, too.",
    gap: "Whether error responses carry X-Request-Id is not stated.",
  },
  retry_after: {
    kind: "choice",
    choices: ["none", "seconds", "date"],
    minimal: "none",
    typical: "seconds",
    meaning: "Whether a 429 says in Retry-After when to try again, and in which of its two forms.",
    gap: "Retry guidance is not shown.",
  },
  rate_limit_headers: {
    kind: "choice",
    choices: ["none", "draft", "legacy"],
    minimal: "none",
    typical: "draft",
    meaning:
      "Which headers tell of limits on 200 and 429: RateLimit and RateLimit-Policy (draft), X-RateLimit-* (legacy), or none.",
    gap: "Rate-limit response headers are not shown.",
  },
  error_details: {
    kind: "boolean",
    minimal: false,
    typical: true,
    meaning: "Whether a 403 and a 429 say more in error.details. A 401 never does.",
    gap: "The content of error.details is not shown, beyond it being an object.",
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
  replacement_usage: {
    kind: "choice",
    choices: ["fresh", "inherited"],
    minimal: "fresh",
    meaning: "Whether the replacement of a rotated key starts with no usage, or with the old key's.",
    gap: "What usage a replacement starts with is not shown.",
  },
  www_authenticate: {
    kind: "boolean",
    minimal: false,
    typical: true,
    meaning: "Whether a 401 carries WWW-Authenticate, as HTTP asks of it (RFC 9110).",
    gap: "No header of a 401 is shown.",
  },
  default_expiry: {
    kind: "duration_or_none",
    minimal: "none",
    meaning: "How long after its creation a key expires that is created or rotated while the sandbox runs.",
    gap: "When and why a key expires is not shown.",
  },
};

/**
 * A named set of assumptions. `varied` assumes what `minimal` does and varies, answer by answer, all that is left open.
 */
export type Profile = "minimal" | "typical" | "varied";
export const profiles: readonly Profile[] = ["minimal", "typical", "varied"];

/** Every assumption as the profile sets it, except those given. */
export function assumptionsFor(profile: Profile, given: Partial<Assumptions> = {}): Assumptions {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(assumptionTable)) {
    values[name] = profile === "typical" && row.typical !== undefined ? row.typical : row.minimal;
  }
  // From JavaScript a member may be there and hold nothing.
  for (const [name, value] of Object.entries(given)) if (value !== undefined) values[name] = value;
  return values as unknown as Assumptions;
}
