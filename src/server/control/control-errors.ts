import type { Response } from "express";
import { errorBody } from "../../api/http-messages.js";
import { fileFailure, isMachineLimit } from "../../node/files/write-file.js";
import { SandboxError } from "../../rules/errors.js";
import { mapTexts, redact } from "../../rules/keys/redact.js";
import { ScenarioError, type ScenarioProblem } from "../../scenario/problems.js";
import { serverErrors } from "../sockets/connections.js";

/** The errors that only HTTP calls can get, by code: their status, and their cause for the documentation. */
export const httpErrors = {
  bad_request: [400, "The body is not valid JSON, or too deep; with 413, it is longer than 256 kB."],
  control_token_required: [401, "Send the token that the sandbox printed at startup."],
  foreign_host: [403, "The `Host` is not a name of this machine. Allow it with `--allow-host`."],
  foreign_origin: [
    403,
    "A page of another origin sent the request. If that is a proxy's, name it with `--allow-host` or `--public-url`.",
  ],
  not_ready: [503, "From `GET /ready` and `/revision`: the server stops."],
  machine_exhausted: [503, "The machine has reached a limit, such as its number of open files."],
  internal_error: [500, "A defect of svc-sandbox; the log shows more."],
} as const;

export class HttpError extends Error {
  readonly status: number;

  constructor(
    readonly code: keyof typeof httpErrors,
    message: string,
  ) {
    super(message);
    this.status = httpErrors[code][0];
  }
}

/** The status of each error of an operation. Any other code is a defect, because no call can cause it. */
export const statusOfCode: Readonly<Partial<Record<SandboxError["code"], number>>> = {
  not_found: 404,
  unknown_ref: 404,
  scenario_not_found: 404,
  method_not_allowed: 405,
  unsupported_media_type: 415,
  validation_failed: 422,
  scenario_invalid: 422,
  clock_backwards: 422,
  overlap_out_of_range: 422,
  scopes_required: 422,
  unknown_scope: 422,
  not_an_administrator: 403,
  sandbox_access_off: 403,
  live_access_not_approved: 403,
  key_limit_reached: 409,
  expectation_failed: 409,
  state_unwritable: 507,
  key_not_active: 409,
  secret_not_kept: 409,
  name_taken: 409,
};

/** The codes that are others over HTTP, where all missing things have the same one. */
export const codeOverHttp: Readonly<Record<string, string>> = {
  unknown_ref: "not_found",
  scenario_not_found: "not_found",
  scenario_invalid: "validation_failed",
};

/** Sends an error. Returns its code; `undefined` if a response is already on its way, which then ends. */
export function sendControlError(
  response: Response,
  error: unknown,
  onDefect: (error: unknown) => void,
): string | undefined {
  if (response.headersSent) {
    response.destroy();
    return undefined;
  }
  const { status, code, message, details } = toShownError(error, onDefect);
  const { text } = errorBody(code, message, details);
  response.status(status).type("application/json").send(text);
  return code;
}

/** What a response shows of an error: the own error, or what an error of Express or of the machine means. Reports any other as a defect. */
function toShownError(
  error: unknown,
  onDefect: (error: unknown) => void,
): Pick<HttpError, "status" | "message"> & {
  readonly code: string;
  readonly details?: SandboxError["details"];
} {
  if (error instanceof HttpError) return error;

  // An operation rejects the call.
  if (error instanceof SandboxError) {
    const status = statusOfCode[error.code];
    const code = codeOverHttp[error.code] ?? error.code;
    if (status !== undefined) {
      let { details } = error;
      // A problem may quote a key of the scenario (R46).
      if (error instanceof ScenarioError) {
        details = mapTexts({ fields: problemsByField(error.problems) }, redact);
      }
      const hasDetails = Object.keys(details).length > 0;
      return { status, code, message: error.message, ...(hasDetails && { details }) };
    }
  }

  // Express rejects a body that it cannot read: one that is too long, or compressed in an unknown way.
  const { status = 500 } = error as { readonly status?: number };
  if (status >= 400 && status < 500) {
    const code = status === 415 ? "unsupported_media_type" : "bad_request";
    const isTooLong = status === 413;
    const message = isTooLong
      ? "The body is longer than 256 kB, the limit of each call."
      : serverErrors.bad_request;
    return { status, code, message };
  }

  onDefect(error);
  if (isMachineLimit(error)) {
    const message = `The machine has reached a limit: ${fileFailure(error)}. Try again later.`;
    return { status: 503, code: "machine_exhausted", message };
  }
  return { status: 500, code: "internal_error", message: serverErrors.internal_error };
}

/** The problems of each field as one text. */
export function problemsByField(problems: readonly ScenarioProblem[]): Record<string, string> {
  const fields = new Map<string, string>();
  for (const problem of problems) {
    const field = problem.field || "scenario";
    const { line, column, message, hint } = problem;
    let text = line === undefined ? message : `line ${line}, column ${column}: ${message}`;
    if (hint !== undefined) text += `: ${hint}`;
    const earlier = fields.get(field);
    fields.set(field, earlier === undefined ? text : `${earlier}; ${text}`);
  }
  return Object.fromEntries(fields);
}
