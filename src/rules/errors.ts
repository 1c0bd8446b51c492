import { mapTexts, redact } from "./keys/redact.js";

/** The codes of the changes of a timeline, a story or a call that are rejected. */
export const actionErrorCodes = [
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
] as const;

export type ActionErrorCode = (typeof actionErrorCodes)[number];

/** What each code of this tool's own errors means. */
export const errorCauses = {
  validation_failed: "A field, parameter or header is not valid; see `details.fields`.",
  unknown_ref:
    "Nothing has this ref; `details.known` lists some that exist. In a body, it is 422 `validation_failed`.",
  not_an_administrator: "A member requested a change (R33).",
  sandbox_access_off: "A test key needs sandbox access of the organization (R30).",
  live_access_not_approved: "A live key needs approved live access of the organization (R31).",
  key_limit_reached: "The organization has five active keys in that environment (R32). Revoke one.",
  key_not_active: "The key to rotate is not active, or the key to revoke or expire has ended (R42).",
  name_taken: "A key with this ref already exists.",
  overlap_out_of_range: "The overlap is below 0 or above 7 days (R39).",
  scopes_required: "A key needs at least one scope (R29).",
  unknown_scope: "The scenario does not have this scope (R29).",
  scenario_invalid: "The scenario is not valid. `problems` lists each mistake.",
  scenario_not_found: "No bundled scenario has this name. The command `list` and `scenarioNames` show them.",
  usage: "A command, flag, variable, URL or argument is not valid.",
  command_unusable: "The command after `--` cannot be started.",
  address_in_use: "Another program listens on the port. `--port 0` uses a free one.",
  address_unavailable: "The machine does not allow this `--host` or `--port`.",
  file_unreadable: "A scenario, certificate or other file cannot be read.",
  file_exists: "The file already exists. Use `--force` or another file.",
  state_unreadable: "The file of `--state` is damaged, or in another format.",
  state_mismatch: "The file of `--state` is of another scenario. Start that one, or name another file.",
  state_in_use: "Another process uses the file of `--state`.",
  state_unwritable: "The file of `--state` cannot be written.",
  package_unusable: "The entry point needs a newer version of a package.",
  certificate_unusable: "The certificate and the key for HTTPS do not match, or cannot be used.",
  clock_backwards: "The clock cannot run backwards. Reset the sandbox instead.",
  secret_not_kept: "A key's secret is shown once, when it is created (R36). Create another key.",
  expectation_failed: "The requests differ from the expected ones. `details.found` has their number.",
  not_found: "The route does not exist.",
  method_not_allowed: "The path accepts only the methods in `Allow`.",
  unsupported_media_type:
    "Send `Content-Type: application/json`, and compress it only with gzip, deflate or br.",
} satisfies Record<ActionErrorCode, string> & Record<string, string>;

/** The code of each of this tool's own errors. A closed list, stable for callers. */
export type SandboxErrorCode = keyof typeof errorCauses;

// Registered globally, so that the ES module build and the CommonJS build recognize each other's errors.
const brand = Symbol.for("svc-sandbox.error");

/**
 * An error of this tool; never a response of the API.
 *
 * Test `code`, not `message`: messages may change, codes do not.
 */
export class SandboxError extends Error {
  readonly code: SandboxErrorCode;
  /** Plain data about the error: known refs, allowed values, fields. No full key, except the new one of `state_unwritable`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: SandboxErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(redact(message));
    this.name = "SandboxError";
    this.code = code;
    // With this code, the details have the secret of a new key that was not saved: it exists nowhere else.
    this.details = code === "state_unwritable" ? details : mapTexts(details, redact);
    Object.defineProperty(this, brand, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a user's class that extends this one inherits the method
    if (this === SandboxError) return typeof value === "object" && value !== null && brand in value;
    // biome-ignore lint/complexity/noThisInStatic: the same
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}
