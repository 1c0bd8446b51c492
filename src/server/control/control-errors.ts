import type { Response } from "express";
import { errorBody } from "../../api/http-messages.js";
import { fileFailure, isOfMachine } from "../../node/files/write-file.js";
import { SandboxError, type SandboxErrorCode } from "../../rules/errors.js";
import { redactEncoded, redactValue } from "../../rules/redact.js";
import { ScenarioError, type ScenarioProblem } from "../../scenario/problems.js";
import { serverErrors } from "../sockets/send-response.js";

/** The errors that only HTTP calls can get, by code: status and cause. */
export const httpErrors = {
  bad_request: [400, "The body is not valid JSON, or too deep; with 413, it is longer than 256 kB."],
  control_token_required: [401, "Send the token that the sandbox printed at startup."],
  foreign_host: [403, "The `Host` is not a name of this machine. Allow it with `--allow-host`."],
  foreign_origin: [403, "A page of another origin sent the request."],
  not_ready: [503, "From `GET /ready` and `GET /revision`: the server stops."],
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

export const statusOfCode: Readonly<Partial<Record<SandboxErrorCode, number>>> = {
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

// Over HTTP, all missing things have the same code.
export const codeOverHttp: Readonly<Record<string, string>> = {
  unknown_ref: "not_found",
  scenario_not_found: "not_found",
  scenario_invalid: "validation_failed",
};

const bodyProblems: Readonly<Record<string, (limit: number) => string>> = {
  "entity.too.large": (limit) => `The body is longer than ${limit / 1000} kB, the limit of each call.`,
  "encoding.unsupported": () => "The body can be compressed only with gzip, deflate or br.",
};

/** Returns the code of the error; `undefined` if a response is already on its way, which then ends. */
export function sendControlError(
  response: Response,
  error: unknown,
  onDefect: (error: unknown) => void,
): string | undefined {
  if (response.headersSent) {
    response.destroy();
    return undefined;
  }
  const { status, code, message, details = {} } = shownErrorOf(error, onDefect);
  // They may quote a key that the client sent (R46); the secret of a change that was not saved exists nowhere else.
  const clean = code === "state_unwritable" ? details : redactValue(details, redactEncoded);
  const shownDetails = Object.keys(details).length === 0 ? undefined : clean;
  const { text } = errorBody(code, redactEncoded(message), shownDetails as typeof details);
  response.status(status).type("application/json").send(text);
  return code;
}

type ShownError = Pick<HttpError, "status" | "message"> & {
  code: string;
  details?: SandboxError["details"];
};

function shownErrorOf(error: unknown, onDefect: (error: unknown) => void): ShownError {
  if (error instanceof HttpError) return error;
  if (error instanceof SandboxError && statusOfCode[error.code] !== undefined) {
    const { message, code } = error;
    const details =
      error instanceof ScenarioError ? { fields: scenarioFields(error.problems) } : error.details;
    return { status: statusOfCode[code] as number, code: codeOverHttp[code] ?? code, message, details };
  }
  const {
    status = 500,
    type = "",
    limit = 0,
  } = error as Partial<{ status: number; type: string; limit: number }>;
  if (status >= 400 && status < 500) {
    const code = status === 415 ? "unsupported_media_type" : "bad_request";
    return { status, code, message: bodyProblems[type]?.(limit) ?? serverErrors.bad_request };
  }
  onDefect(error);
  if (isOfMachine(error)) {
    const message = `The machine has reached a limit: ${fileFailure(error)}. Try again later.`;
    return { status: 503, code: "machine_exhausted", message };
  }
  return { status: 500, code: "internal_error", message: serverErrors.internal_error };
}

export function scenarioFields(problems: readonly ScenarioProblem[]): Record<string, string> {
  const fields = new Map<string, string>();
  for (const { field: name, line, column, message, hint } of problems) {
    const place = line === undefined ? "" : `line ${line}, column ${column}: `;
    const text = place + message + (hint === undefined ? "" : `: ${hint}`);
    const field = name || "scenario";
    const earlier = fields.get(field);
    fields.set(field, earlier === undefined ? text : `${earlier}; ${text}`);
  }
  return Object.fromEntries(fields);
}
