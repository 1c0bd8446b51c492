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

/** The cause of each refusal by this tool itself, by its code; a closed list, stable for callers. */
export const errorCauses = {
  validation_failed:
    "A value, field, parameter or header is not as described; `details.fields` names each one.",
  unknown_ref:
    "There is no key, organization, farmer or record of that ref; `details.known` lists those there are.",
  not_an_administrator: "A member asked for a change (R33). Ask as an administrator.",
  sandbox_access_off:
    "A test key was asked for an organization without sandbox access (R30). Turn it on first.",
  live_access_not_approved: "A live key was asked for an organization without approved live access (R31).",
  key_limit_reached: "The organization has five active keys in that environment (R32). Revoke one first.",
  key_not_active:
    "The key to rotate is not active, or the key to revoke has ended (R42); `details.state` says which.",
  name_taken: "There is a key of that ref already. Choose another ref.",
  overlap_out_of_range: "The overlap of a rotation is below 0 or above 7 days (R39).",
  scopes_required: "A key needs one scope or more (R29).",
  unknown_scope: "The scenario knows no such scope (R29); the message lists those there are.",
  consent_not_open: "The consent request is in a state that does not allow this decision.",
  attestation_not_open: "The attestation to suspend is not active, or the one to resume is not suspended.",
  scenario_invalid: "The scenario has mistakes; `problems` has each one with its place, its code and a hint.",
  scenario_not_found:
    "There is no bundled scenario of that name. `svc-sandbox list` shows them; a file needs a path.",
  usage:
    "The command, flag, variable, URL or argument is not usable as given; the message says how to write it.",
  command_unusable: "The command after `--` cannot be started; the message shows the reason.",
  address_in_use:
    "Another program listens on the port. Choose another with `--port`, or any free one with `--port 0`.",
  address_unavailable:
    "The machine does not let this address or port be used. Choose another with `--host` or `--port`.",
  file_unreadable:
    "A scenario, certificate or other file cannot be read; the message names it and the reason.",
  file_exists: "The file is there already. Use `--force`, or name another file.",
  state_unreadable:
    "The file of `--state` holds no world of this version. Name another file, or remove this one.",
  state_mismatch:
    "The file of `--state` is of another scenario or major version. Add `--migrate`, or name another file.",
  state_in_use: "A running server keeps its world in the file of `--state`. Stop it, or name another file.",
  state_unwritable: "The file of `--state` cannot be written: no room, no permission, or no such folder.",
  sandbox_exists:
    "The file or store of `--import` already has a sandbox. Start without `--import`, or name another one.",
  store_unavailable:
    "The store does not respond at the moment. Check that it runs and that the URL is right.",
  store_unusable: "The store answers and cannot be used: too old, wrongly set, or its keys belong to others.",
  store_mismatch:
    "The store was begun with other things, which the message names. Use the same, or `--store-prefix`.",
  package_unusable:
    "A package of yours that the entry point needs is missing or too old; the message names the version.",
  certificate_unusable: "The certificate and the key for HTTPS do not fit together or cannot be used.",
  clock_backwards: "The clock would run backwards. Move it on, or reset the sandbox.",
  secret_not_kept:
    "The secret of a key made at run time is shown once, when it is made (R36). Create another key.",
  instance_limit_reached:
    "There are as many instances as allowed. Remove unused ones, or raise `--max-instances`.",
  memory_limit_reached:
    "The server has no memory for another instance. Remove unused ones, or raise `--max-memory`.",
  capture_impossible:
    "A story cannot repeat what the sandbox has seen, or it has seen nothing yet; the message says why.",
  not_found: "There is nothing at that path: no such route, record or instance, or the preview is off.",
  method_not_allowed: "The path takes other methods; the message and `Allow` list them.",
  unsupported_media_type: "The body has a type that is not taken. Send `Content-Type: application/json`.",
} satisfies Record<RefusalCode, string> & Record<string, string>;

/** Every reason for which this tool itself refuses something; a closed list, stable for callers. */
export type SandboxErrorCode = keyof typeof errorCauses;

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
