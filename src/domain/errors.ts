/** The reasons for which the dashboard refuses to change something. */
export const refusalCodes = [
  "validation_failed",
  "unknown_ref",
  "not_an_administrator",
  "sandbox_access_off",
  "live_access_not_approved",
  "key_limit_reached",
  "key_not_active",
  "name_taken",
  "overlap_out_of_range",
  "scopes_required",
  "unknown_scope",
  "consent_not_open",
  "attestation_not_open",
] as const;

/** The code of a refusal of the dashboard. */
export type RefusalCode = (typeof refusalCodes)[number];

/** Every reason for which this tool itself refuses something; a closed list, stable for callers. */
export type SandboxErrorCode =
  | RefusalCode
  | "scenario_invalid"
  | "scenario_not_found"
  | "usage"
  | "address_in_use"
  | "address_unavailable"
  | "file_unreadable"
  | "file_exists"
  | "state_unreadable"
  | "state_mismatch"
  | "state_in_use"
  | "state_unwritable"
  | "store_unavailable"
  | "store_unusable"
  | "store_mismatch"
  | "certificate_unusable"
  | "clock_backwards"
  | "secret_not_kept"
  | "instance_limit_reached"
  | "not_found"
  | "method_not_allowed"
  | "unsupported_media_type";

// Registered globally, so that the ES module build and the CommonJS build know each other's errors.
const brand = Symbol.for("svc-sandbox.error");

/** Whether a value is a {@link SandboxError} of any build of this package. */
export function isSandboxError(value: unknown): value is SandboxError {
  return typeof value === "object" && value !== null && brand in value;
}

/**
 * A refusal by this tool itself; never an answer of the pretended API.
 *
 * Test `code`, not `message`: the wording may improve, the code stays.
 */
export class SandboxError extends Error {
  readonly code: SandboxErrorCode;
  /** Plain data about the refusal: known refs, allowed values, fields. Never a full key. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: SandboxErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "SandboxError";
    this.code = code;
    this.details = details;
    Object.defineProperty(this, brand, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class of the user's own that extends this one inherits the method
    if (this === SandboxError) return isSandboxError(value);
    // biome-ignore lint/complexity/noThisInStatic: the same
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}
