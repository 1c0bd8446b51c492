import type { Response } from "express";
import { errorBody } from "../../api/error-body.js";
import { redactKeys } from "../../domain/api-key.js";
import { refusals } from "../../domain/outcomes.js";
import { SandboxError, type SandboxErrorCode } from "../../domain/sandbox-error.js";
import { ScenarioError } from "../../scenario/scenario-error.js";
import type { ScenarioProblem } from "../../scenario/scenario-problem.js";

/** Sends the API's error body from the control plane. */
export function sendControlError(
  response: Response,
  status: number,
  code: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  const { text } = errorBody(code, message, Object.keys(details).length === 0 ? undefined : details);
  // What a client sent may be quoted in the message or the details, and it may have sent a key (R46).
  response.status(status).type("application/json").send(redactKeys(text));
}

const statusOfCode: Readonly<Partial<Record<SandboxErrorCode, number>>> = {
  not_found: 404,
  unknown_ref: 404,
  scenario_not_found: 404,
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
  key_not_active: 409,
  name_taken: 409,
};

/** Answers with what went wrong: our refusals by their codes, what the client sent wrong with 4xx, the rest with 500. */
export function sendError(response: Response, error: unknown, onDefect: (error: unknown) => void): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error instanceof SandboxError && statusOfCode[error.code] !== undefined) {
    sendControlError(
      response,
      statusOfCode[error.code] as number,
      codeFor(error),
      error.message,
      detailsOf(error),
    );
    return;
  }
  // Express marks what a client did wrong (a body that is no JSON, or too long) with a 4xx status.
  const { status, type } = error as { status?: number; type?: string };
  if (status !== undefined && status >= 400 && status < 500) {
    sendControlError(
      response,
      status,
      "bad_request",
      type === undefined ? refusals.bad_request : bodyProblem(type),
    );
    return;
  }
  onDefect(error);
  sendControlError(response, 500, "internal_error", refusals.internal_error);
}

// What a path or a name leads to and is not there has one code here, whatever it is called inside.
function codeFor({ code }: SandboxError): string {
  if (code === "unknown_ref" || code === "scenario_not_found") return "not_found";
  return code === "scenario_invalid" ? "validation_failed" : code;
}

function detailsOf(error: SandboxError): Readonly<Record<string, unknown>> {
  if (!(error instanceof ScenarioError)) return error.details;
  const place = ({ path, line, column }: ScenarioProblem) =>
    path !== "" ? path : line === undefined ? "scenario" : `line ${line}, column ${column}`;
  return { fields: Object.fromEntries(error.problems.map((problem) => [place(problem), problem.message])) };
}

function bodyProblem(type: string): string {
  if (type === "entity.too.large") return "The body is longer than 1 MB.";
  if (type === "entity.parse.failed") return "The body is not valid JSON.";
  return refusals.bad_request;
}
