import type { ServerResponse } from "node:http";
import type { ApiResponse } from "../../sandbox/call.js";
import type { AddedHeaders } from "./added-headers.js";
import { canSendAtOnce, sendAtOnce } from "./send-at-once.js";

/** Sends a response with the headers that the server adds. */
export function sendResponse(message: ApiResponse, added: AddedHeaders, response: ServerResponse): void {
  const length = lengthIn(message.headers);
  if (length !== undefined && canSendAtOnce(message.body, response)) {
    sendAtOnce(message, Number(length), added, response);
    return;
  }
  response.writeHead(message.status, [...message.headers, ...added.list]);
  response.end(message.body);
}

/** How many bytes a body has, as headers say it; `undefined` if they don't. Node sends such a body in chunks. */
function lengthIn(headers: readonly string[]): string | undefined {
  // The length is nearly always the last header.
  if (headers.at(-2) === "Content-Length") return headers.at(-1);
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === "content-length") return headers[index + 1];
  }
  return undefined;
}
