import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Sends a web `Response`: its status, headers (each cookie on its own), and its body as fast as the client reads it.
 *
 * Throws what the body throws when it breaks off; the connection is closed then, so that the client sees it too.
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
  if (response.body === null || !withBody) {
    to.end();
    await response.body?.cancel();
    return;
  }
  try {
    await pipeline(Readable.fromWeb(response.body as never), to);
  } catch (error) {
    to.destroy();
    // A client that goes away is no failure of the body.
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
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
