import type { IncomingMessage } from "node:http";
import {
  bodyOf,
  longestBody,
  noBody,
  type ReadBody,
  type RequestContent,
  tooLongBody,
} from "../api/request-input.js";
import { queryOf } from "./read-request.js";

/**
 * Reads what an endpoint takes of a request, and calls `then` with it: at once where that takes no body.
 *
 * Of a body that is too long no more is read. Never calls when the client goes away first.
 */
export function readContent(
  request: IncomingMessage,
  takesBody: boolean,
  then: (content: RequestContent) => void,
): void {
  const content = {
    query: queryOf(request.url ?? "").slice(1),
    contentType: headerOf(request, "content-type"),
    idempotencyKey: headerOf(request, "idempotency-key"),
  };
  if (takesBody) readBody(request, (body) => then({ ...content, body }));
  else then({ ...content, body: noBody });
}

function readBody(request: IncomingMessage, then: (body: ReadBody) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const settle = (body: ReadBody) => {
    request.off("data", gather).off("end", finish);
    then(body);
  };
  const gather = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= longestBody) chunks.push(chunk);
    // Node throws the rest away once the answer is sent, as with every body that nobody reads.
    else settle(tooLongBody);
  };
  const finish = () => settle(bodyOf(Buffer.concat(chunks)));
  // Node tells of a client that goes away only those who ask.
  request.on("data", gather).on("end", finish).on("error", ignore);
}

const ignore = () => {};

// Several of them are a list (RFC 9110), white space around each stripped.
function headerOf({ rawHeaders }: IncomingMessage, wanted: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] as string).toLowerCase() !== wanted) continue;
    value = value === undefined ? (rawHeaders[i + 1] as string) : `${value}, ${rawHeaders[i + 1]}`;
  }
  return value;
}
