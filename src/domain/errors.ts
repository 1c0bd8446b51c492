/** The codes of changes that the dashboard rejects. */
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

/** The code of a change that the dashboard rejects. */
export type RefusalCode = (typeof refusalCodes)[number];

/** The cause of each of this tool's own errors, by its code. A closed list, stable for callers. */
export const errorCauses = {
  validation_failed: "A value, field, parameter or header is not valid. `details.fields` names each one.",
  unknown_ref:
    "No key, organization, farmer or record has this ref. `details.known` lists the existing ones.",
  not_an_administrator: "A member requested a change (R33). Send it as an administrator.",
  sandbox_access_off:
    "The organization has no sandbox access, so it cannot get a test key (R30). Turn sandbox access on first.",
  live_access_not_approved:
    "The organization has no approved live access, so it cannot get a live key (R31).",
  key_limit_reached: "The organization has five active keys in that environment (R32). Revoke one first.",
  key_not_active:
    "The key to rotate is not active, or the key to revoke has ended (R42). `details.state` shows its state.",
  name_taken: "A key with this ref already exists. Choose another ref.",
  overlap_out_of_range: "The overlap of a rotation is below 0 or above 7 days (R39).",
  scopes_required: "A key needs at least one scope (R29).",
  unknown_scope: "The scenario does not have this scope (R29). The message lists its scopes.",
  consent_not_open: "The consent request is in a state that does not allow this decision.",
  attestation_not_open: "The attestation to suspend is not active, or the one to resume is not suspended.",
  scenario_invalid:
    "The scenario is not valid. `problems` lists each mistake with its place, its code and a hint.",
  scenario_not_found:
    "No bundled scenario has this name. `svc-sandbox list` shows them all. To name a file, use its path.",
  usage: "A command, flag, variable, URL or argument is not valid. The message shows how to write it.",
  command_unusable: "The command after `--` cannot be started. The message shows the reason.",
  address_in_use:
    "Another program listens on the port. Choose another with `--port`, or any free one with `--port 0`.",
  address_unavailable:
    "The machine does not allow this address or port. Choose another with `--host` or `--port`.",
  file_unreadable:
    "A scenario, certificate or other file cannot be read. The message names the file and the reason.",
  file_exists: "The file already exists. Use `--force`, or name another file.",
  state_unreadable:
    "The file of `--state` does not contain a sandbox of this version. Name another file, or remove this one.",
  state_mismatch:
    "The file of `--state` is of another scenario or major version. Add `--migrate`, or name another file.",
  state_in_use: "A running server uses the file of `--state`. Stop that server, or name another file.",
  state_unwritable:
    "The file of `--state` cannot be written: the disk is full, permission is missing, or the folder does not exist.",
  sandbox_exists:
    "The file or store of `--import` already has a sandbox. Start without `--import`, or name another one.",
  store_unavailable: "The store does not respond. Check that it is running and that the URL is right.",
  store_unusable:
    "The store responds but cannot be used: it is too old, misconfigured, or contains another program's keys.",
  store_mismatch:
    "The store was started with other settings, which the message names. Use the same, `--migrate` or `--store-prefix`.",
  package_unusable:
    "The entry point needs a package that is missing or too old. The message names the version to install.",
  certificate_unusable: "The certificate and the key for HTTPS do not match, or cannot be used.",
  clock_backwards: "The clock cannot run backwards. Move it forward, or reset the sandbox.",
  secret_not_kept:
    "A key's secret is shown only once, in the response that creates the key (R36). Create another key.",
  instance_limit_reached:
    "The maximum number of instances is reached. Remove unused instances, or raise `--max-instances`.",
  memory_limit_reached:
    "The server has no memory for another instance. Remove unused instances, or raise `--max-memory`.",
  capture_impossible:
    "A story cannot repeat the recorded requests, or none are recorded yet. The message shows the reason.",
  not_found: "The path leads nowhere: the route, record or instance does not exist, or the preview is off.",
  method_not_allowed: "The path accepts other methods. The message and `Allow` list them.",
  unsupported_media_type: "The body's type is not accepted. Send `Content-Type: application/json`.",
} satisfies Record<RefusalCode, string> & Record<string, string>;

/** The code of each of this tool's own errors. A closed list, stable for callers. */
export type SandboxErrorCode = keyof typeof errorCauses;

// Registered globally, so that the ES module build and the CommonJS build recognize each other's errors.
const brand = Symbol.for("svc-sandbox.error");

/** Whether a value is a {@link SandboxError} of any build of this package. */
export function isSandboxError(value: unknown): value is SandboxError {
  return typeof value === "object" && value !== null && brand in value;
}

/**
 * An error of this tool; never a response of the API.
 *
 * Test `code`, not `message`: messages may change, codes do not.
 */
export class SandboxError extends Error {
  readonly code: SandboxErrorCode;
  /** Plain data about the error: known refs, allowed values, fields. Never a full key. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: SandboxErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "SandboxError";
    this.code = code;
    this.details = details;
    Object.defineProperty(this, brand, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a user's class that extends this one inherits the method
    if (this === SandboxError) return isSandboxError(value);
    // biome-ignore lint/complexity/noThisInStatic: the same
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}
