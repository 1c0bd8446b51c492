import type { Response } from "express";
import { errorBody } from "../../api/reply.js";
import { SandboxError, type SandboxErrorCode } from "../../domain/errors.js";
import { refusals } from "../../domain/outcomes.js";
import { redactEncoded } from "../../domain/redact.js";
import { ScenarioError, type ScenarioProblem } from "../../scenario/problems/scenario-error.js";

/** Sends the API's error body from the control plane. */
export function sendControlError(
  response: Response,
  status: number,
  code: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  // Message and details may quote the client, who may have sent a key (R46).
  const shown = redactValues(details) as Readonly<Record<string, unknown>>;
  const { text } = errorBody(
    code,
    redactEncoded(message),
    Object.keys(shown).length === 0 ? undefined : shown,
  );
  response.status(status).type("application/json").send(text);
}

function redactValues(value: unknown): unknown {
  if (typeof value === "string") return redactEncoded(value);
  if (Array.isArray(value)) return value.map(redactValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redactEncoded(name), redactValues(member)]),
  );
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
  consent_not_open: 409,
  attestation_not_open: 409,
};

/** Answers with an error: refusals by their codes, mistakes of the client with 4xx, the rest with 500. */
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
      status === 415 ? "unsupported_media_type" : "bad_request",
      bodyProblem(type),
    );
    return;
  }
  onDefect(error);
  sendControlError(response, 500, "internal_error", refusals.internal_error);
}

// Over HTTP, everything that is not found has one code.
function codeFor({ code }: SandboxError): string {
  if (code === "unknown_ref" || code === "scenario_not_found") return "not_found";
  return code === "scenario_invalid" ? "validation_failed" : code;
}

function detailsOf(error: SandboxError): Readonly<Record<string, unknown>> {
  if (!(error instanceof ScenarioError)) return error.details;
  return { fields: scenarioFields(error.problems) };
}

function bodyProblem(type: string | undefined): string {
  if (type === "entity.too.large") return "The body is longer than 1 MB.";
  if (type === "entity.parse.failed") return "The body is not valid JSON.";
  if (type === "charset.unsupported") return "The body must be in UTF-8.";
  if (type === "encoding.unsupported") return "The body may be compressed with gzip, deflate or br alone.";
  return refusals.bad_request;
}

/** The problems of a scenario by field, for `details.fields`. */
export function scenarioFields(problems: readonly ScenarioProblem[]): Record<string, string> {
  const fields = new Map<string, string>();
  for (const problem of problems) {
    const field = problem.path || "scenario";
    const earlier = fields.get(field);
    fields.set(field, (earlier === undefined ? "" : `${earlier}; `) + described(problem));
  }
  return Object.fromEntries(fields);
}

function described({ line, column, message, hint }: ScenarioProblem): string {
  const place = line === undefined ? "" : `line ${line}, column ${column}: `;
  return place + message + (hint === undefined ? "" : `: ${hint}`);
}
