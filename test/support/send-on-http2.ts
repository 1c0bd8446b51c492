import { type ClientHttp2Session, connect } from "node:http2";
import { isOfTheConnection, mePath, type Send, textOf } from "./send.js";

/** Sends over HTTP/2, all requests on one connection that trusts this certificate alone. */
export function sendOnHttp2(
  url: string,
  ca: string,
): { readonly send: Send; readonly session: ClientHttp2Session } {
  const session = connect(url, { ca, settings: { maxHeaderListSize: 64 * 1024 } });
  session.on("error", () => {});
  const send: Send = async ({ method = "GET", path = mePath, headers = {}, body }) => {
    const given = Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      // White space around a value is none of HTTP/2.
      [value].flat().map((one) => (one as string).trim()),
    ]);
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const stream = session.request(
      { ...length, ...Object.fromEntries(given), ":method": method, ":path": path },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    return new Promise((resolve, reject) => {
      stream.on("error", reject);
      stream.on("close", () => reject(new Error("the stream was closed")));
      stream.on("response", async (head, _flags, raw: string[] = []) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk) => chunks.push(chunk));
        stream.on("end", () => {
          const pairs = raw.flatMap((name, i) =>
            i % 2 === 0 ? [[name, raw[i + 1] as string] as const] : [],
          );
          resolve({
            status: head[":status"] ?? 0,
            headers: pairs.filter(([name]) => !name.startsWith(":") && !isOfTheConnection(name)),
            body: textOf(Buffer.concat(chunks)),
          });
        });
      });
    });
  };
  return { send, session };
}
