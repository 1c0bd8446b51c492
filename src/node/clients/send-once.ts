import * as http from "node:http";
import * as https from "node:https";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { NoAnswer, RawAnswer, Send } from "../../check/answer.js";
import { version } from "../package-files.js";
import { describeConnectionError } from "./connection-errors.js";

export interface SendOptions {
  readonly headers: http.OutgoingHttpHeaders;
  /** Milliseconds to wait for the whole answer. */
  readonly timeout: number;
  /** The most bytes of the body that are read. */
  readonly maxBody: number;
}

/** An answer of the API has some hundred bytes. */
const maxApiBody = 64 * 1024;

/** Makes the function that sends the requests of a check. */
export function createSend(url: URL, timeout: number): Send {
  return (apiKey) =>
    sendOnce(url, {
      timeout,
      maxBody: maxApiBody,
      headers: {
        accept: "application/json",
        // An answer that is compared byte by byte should come as it was written.
        "accept-encoding": "identity",
        "user-agent": `svc-sandbox/${version} check`,
        ...(apiKey !== undefined && { "x-api-key": apiKey }),
      },
    });
}

// A timer for longer ends at once.
const longestTimer = 2 ** 31 - 1;

/**
 * Sends one GET on a connection of its own and follows no redirect; never throws.
 *
 * Not by `fetch`, which refuses some ports, follows redirects and does not tell how headers are written.
 */
export function sendOnce(
  url: URL,
  { headers, timeout, maxBody }: SendOptions,
): Promise<RawAnswer | NoAnswer> {
  return new Promise((resolve) => {
    const { request } = url.protocol === "https:" ? https : http;
    const sent = request(url, { agent: false, headers });
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
      readAnswer(response, maxBody, end);
    });
    sent.end();
  });
}

function readAnswer(
  response: http.IncomingMessage,
  maxBody: number,
  end: (reply: RawAnswer | NoAnswer) => void,
): void {
  const { statusCode: status = 0, rawHeaders, headers } = response;
  const chunks: Buffer[] = [];
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length > maxBody) end(tooLarge(maxBody));
  });
  response.on("error", () => end(truncated(length, headers["content-length"])));
  response.on("end", () => {
    if (!response.complete) return end(truncated(length, headers["content-length"]));
    const body = decodedBody(Buffer.concat(chunks), headers["content-encoding"], maxBody);
    end(body === undefined ? tooLarge(maxBody) : { status, headers: pairsOf(rawHeaders), body });
  });
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
  return pairs;
}

const decoders: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * Returns a body without its content encoding, or as it is when that is missing, unknown or broken; `undefined` when it is
 * too long.
 */
function decodedBody(body: Buffer, encoding: string | undefined, maxBody: number): Buffer | undefined {
  const decode = decoders[encoding?.trim().toLowerCase() ?? ""];
  if (decode === undefined) return body;
  try {
    return decode(body, { maxOutputLength: maxBody });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? undefined : body;
  }
}

function tooLarge(maxBody: number): NoAnswer {
  return {
    found: `a body of more than ${maxBody / 1024} kB, which was not read to its end`,
    hint: "An answer of the API has some hundred bytes.",
  };
}

function truncated(length: number, announced: string | undefined): NoAnswer {
  const of = announced === undefined ? "" : ` of ${announced}`;
  return {
    found: `a body that was cut off after ${length}${of} bytes`,
    hint: "The server, or something between, is broken.",
  };
}

function timedOut(timeout: number, begun: boolean): NoAnswer {
  const what = begun ? "the answer did not end" : "no answer came";
  return { found: `${what} within ${timeout / 1000} s`, hint: "--timeout waits longer." };
}
