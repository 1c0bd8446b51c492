import type { ServerResponse } from "node:http";

/**
 * Sends a web `Response`: its status, headers (each cookie on its own), and its body as fast as the client reads it.
 *
 * Throws what the body throws when it breaks off; the connection has to be closed then, so that the client sees it too.
 */
export async function sendWebResponse(
  response: Response,
  to: ServerResponse,
  withBody: boolean,
): Promise<void> {
  // Looked at before the head is sent, while there is still another answer to give.
  if (response.bodyUsed || response.body?.locked) {
    throw new TypeError(
      "The body of the response has been read already. Make a new response for every request.",
    );
  }
  if (response.status < 200) throw new RangeError(`${response.status} is not the status of an answer.`);
  to.writeHead(response.status, response.statusText || undefined, headersOf(response));
  if (response.body !== null && withBody) await sendBody(response.body, to);
  else response.body?.cancel().catch(ignore);
  to.end();
}

// To cancel a body tells whoever makes it that nobody wants the rest. What they say to that is of no interest.
const ignore = () => {};

// By hand, because a stream pipeline does not tell a body that breaks off from a client that goes away.
async function sendBody(body: ReadableStream<Uint8Array>, to: ServerResponse): Promise<void> {
  const reader = body.getReader();
  to.once("close", () => reader.cancel().catch(ignore));
  for (;;) {
    const { done, value } = await reader.read();
    if (done || to.destroyed) return;
    if (!to.write(value)) await drained(to);
  }
}

function drained(to: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      to.off("drain", go).off("close", go);
      resolve();
    };
    to.on("drain", go).on("close", go);
  });
}

function headersOf({ headers }: Response): string[] {
  const flat: string[] = [];
  headers.forEach((value, name) => {
    // msw marks what it mocks with headers that are nobody's business on a real socket.
    if (name !== "set-cookie" && !name.startsWith("x-msw-")) flat.push(name, value);
  });
  for (const cookie of headers.getSetCookie()) flat.push("set-cookie", cookie);
  return flat;
}
