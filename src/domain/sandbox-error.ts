/** Every reason for which this tool itself refuses something; a closed list, stable for callers. */
export type SandboxErrorCode =
  | "scenario_invalid"
  | "scenario_not_found"
  | "unknown_ref"
  | "usage"
  | "address_in_use"
  | "address_unavailable"
  | "file_unreadable"
  | "file_exists"
  | "state_unreadable"
  | "state_mismatch"
  | "state_unwritable"
  | "certificate_unusable"
  | "clock_backwards"
  | "secret_not_kept"
  | "validation_failed"
  | "not_found"
  | "method_not_allowed"
  | "unsupported_media_type"
  | "not_an_administrator"
  | "sandbox_access_off"
  | "live_access_not_approved"
  | "key_limit_reached"
  | "key_not_active"
  | "name_taken"
  | "overlap_out_of_range"
  | "scopes_required"
  | "unknown_scope";

/**
 * What our tool says when it refuses; never what the pretended API answers.
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
  }
}
