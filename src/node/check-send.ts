import * as http from "node:http";
import * as https from "node:https";
import type { NoAnswer, RawAnswer, Send } from "../check/answer.js";
import { decodedBody, maximumBody } from "./check-body.js";
import { describeConnectionError } from "./check-failure.js";
import { version } from "./version.js";

// A timer for longer ends at once.
const longestTimer = 2 ** 31 - 1;

/**
 * Sends each request on a connection of its own, follows no redirect, waits `timeout` milliseconds for the whole
 * answer, and reads no more than {@link maximumBody} bytes of it.
 */
export function createSend(url: URL, timeout: number): Send {
  return (apiKey) =>
    new Promise((resolve) => {
      const { request } = url.protocol === "https:" ? https : http;
      const sent = request(url, { agent: false, headers: headersWith(apiKey) });
      const end = (reply: RawAnswer | NoAnswer) => {
        clearTimeout(timer);
        resolve(reply);
        sent.destroy();
      };
      let begun = false;
      const timer = setTimeout(() => end(timedOut(timeout, begun)), Math.min(timeout, longestTimer));
      sent.on("error", (error: NodeJS.ErrnoException) => end(describeConnectionError(error)));
      sent.on("response", (response) => {
        begun = true;
        readAnswer(response, end);
      });
      sent.end();
    });
}

function headersWith(apiKey: string | undefined): http.OutgoingHttpHeaders {
  return {
    accept: "application/json",
    // An answer that is compared byte by byte should come as it was written.
    "accept-encoding": "identity",
    "user-agent": `svc-sandbox/${version} check`,
    ...(apiKey !== undefined && { "x-api-key": apiKey }),
  };
}

function readAnswer(response: http.IncomingMessage, end: (reply: RawAnswer | NoAnswer) => void): void {
  const { statusCode: status = 0, rawHeaders, headers } = response;
  const chunks: Buffer[] = [];
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length > maximumBody) end(tooLarge);
  });
  response.on("error", () => end(truncated(length, headers["content-length"])));
  response.on("end", () => {
    if (!response.complete) return end(truncated(length, headers["content-length"]));
    const body = decodedBody(Buffer.concat(chunks), headers["content-encoding"]);
    end(body === undefined ? tooLarge : { status, headers: pairsOf(rawHeaders), body });
  });
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
  return pairs;
}

const tooLarge: NoAnswer = {
  found: `a body of more than ${maximumBody / 1024} kB, which was not read to its end`,
  hint: "An answer of the API has some hundred bytes.",
};

function truncated(length: number, announced: string | undefined): NoAnswer {
  const of = announced === undefined ? "" : ` of ${announced}`;
  return {
    found: `a body that was cut off after ${length}${of} bytes`,
    hint: "A server that does so, or something between, is broken.",
  };
}

function timedOut(timeout: number, begun: boolean): NoAnswer {
  const what = begun ? "the answer did not end" : "no answer came";
  return {
    found: `${what} within ${timeout / 1000} s`,
    hint: "--timeout waits longer.",
  };
}
