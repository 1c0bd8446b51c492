import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Sends a web `Response`: its status, headers (each cookie on its own), and its body as it comes. */
export async function sendWebResponse(
  response: Response,
  to: ServerResponse,
  withBody: boolean,
): Promise<void> {
  to.writeHead(response.status, response.statusText, headersOf(response));
  if (response.body === null || !withBody) {
    to.end();
    await response.body?.cancel();
    return;
  }
  // A client that goes away, or a body that breaks off, ends this answer and nothing else.
  await pipeline(Readable.fromWeb(response.body as never), to).catch(() => to.destroy());
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
