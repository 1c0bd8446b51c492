import type { Response } from "express";
import { errorBody } from "../../api/error-body.js";

/** Sends the API's error body from the control plane. */
export function sendControlError(
  response: Response,
  status: number,
  code: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  const { text } = errorBody(code, message, Object.keys(details).length === 0 ? undefined : details);
  response.status(status).type("application/json").send(text);
}
