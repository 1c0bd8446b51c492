import { headerPairs, reasonPhrases } from "../api/http-messages.js";
import { failures } from "../rules/failures.js";
import type { ApiResponse } from "../sandbox/call.js";

/** The reason phrases of HTTP, as Node's server sends them; browsers have no such list. */
const statusTexts: Readonly<Record<number, string>> = {
  ...reasonPhrases,
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  ...Object.fromEntries(Object.entries(failures).map(([status, { reason }]) => [status, reason])),
};

/** A web `Response`; `body` in place of its own one. */
export function toResponse(
  response: ApiResponse,
  method: string,
  body: string | ReadableStream<Uint8Array> = response.body,
): Response {
  const { status } = response;
  const statusText = statusTexts[status] ?? "";
  const headers = headerPairs(response.headers);
  // The platform gives any text a media type, also an empty one.
  const isEmpty = method === "HEAD" || response.body === "";
  return new Response(isEmpty ? null : (body as BodyInit), { status, statusText, headers });
}
