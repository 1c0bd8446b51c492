import type { SandboxErrorCode } from "../domain/errors.js";

/** What the exit codes of every command mean. */
export const exitCode = {
  fine: 0,
  /** A check did not hold. */
  failed: 1,
  /** The command cannot be carried out as it was given. */
  usage: 2,
  /** A defect of this tool. */
  defect: 3,
} as const;

/** The exit code of each of our own refusals. */
export const exitCodeOf: Readonly<Record<SandboxErrorCode, number>> = {
  usage: exitCode.usage,
  scenario_invalid: exitCode.usage,
  scenario_not_found: exitCode.usage,
  unknown_ref: exitCode.usage,
  file_unreadable: exitCode.usage,
  file_exists: exitCode.usage,
  state_unreadable: exitCode.usage,
  state_mismatch: exitCode.usage,
  state_unwritable: exitCode.usage,
  certificate_unusable: exitCode.usage,
  address_in_use: exitCode.usage,
  address_unavailable: exitCode.usage,
  clock_backwards: exitCode.usage,
  secret_not_kept: exitCode.usage,
  validation_failed: exitCode.usage,
  not_found: exitCode.usage,
  method_not_allowed: exitCode.usage,
  unsupported_media_type: exitCode.usage,
  not_an_administrator: exitCode.usage,
  sandbox_access_off: exitCode.usage,
  live_access_not_approved: exitCode.usage,
  key_limit_reached: exitCode.usage,
  key_not_active: exitCode.usage,
  name_taken: exitCode.usage,
  overlap_out_of_range: exitCode.usage,
  scopes_required: exitCode.usage,
  unknown_scope: exitCode.usage,
  consent_not_open: exitCode.usage,
  attestation_not_open: exitCode.usage,
};
