import { type Agent, request } from "node:http";
import { isOfTheConnection, mePath, type Send, textOf } from "./send.js";

/** Sends with Node's own client, which sends whatever it is told to; by default each request on its own connection. */
export function sendOnSocket(port: number, agent: Agent | false = false): Send {
  return ({ method = "GET", path = mePath, headers = {}, body }) =>
    new Promise((resolve, reject) => {
      const framed = { ...headers, ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) };
      const sending = request(
        { host: "127.0.0.1", port, method, path, headers: framed as Record<string, string>, agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: pairsOf(response.rawHeaders).filter(([name]) => !isOfTheConnection(name)),
              body: textOf(Buffer.concat(chunks)),
            }),
          );
        },
      );
      sending.on("error", reject);
      sending.end(body);
    });
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string]);
  return pairs;
}
