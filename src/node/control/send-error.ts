import type { Response } from "express";
import { errorBody } from "../../api/error-body.js";
import { redactKeys } from "../../domain/api-key.js";

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
