import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { rootCertificates } from "node:tls";
import { headerPairs } from "../../api/http-messages.js";
import { readSmallFile } from "../files/write-file.js";
import { longestTimer } from "../platform.js";
import { describeConnectionError } from "./connection-errors.js";

export interface RawResponse {
  readonly status: number;
  /** The version of HTTP: `1.1`. */
  readonly version: string;
  /** The text after the status, `Unauthorized`; may be empty. */
  readonly reason: string;
  /** Names and values, with their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Headers after the body. */
  readonly trailers?: readonly (readonly [name: string, value: string])[];
  /** As it was sent, not decoded: `compare` asks for no encoding, and a sandbox uses none unless asked. */
  readonly body: Uint8Array;
}

/** Why a request got no response that can be read. */
export interface NoResponse {
  /** Nothing has failed if the time was up, or the caller has stopped the request. */
  readonly noResponse: "failed" | "late" | "stopped";
  /** What happened, for a message. */
  readonly found: string;
  readonly hint: string;
}

export function isNoResponse(reply: object): reply is NoResponse {
  return "noResponse" in reply;
}

export interface SendOptions {
  readonly method?: string;
  /** Default: `{}`, or no body for GET. */
  readonly body?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  /** Milliseconds. */
  readonly timeout: number;
  /** Ends the request before its time is up. */
  readonly stop?: AbortSignal | undefined;
  /** The most bytes of a response's body. */
  readonly maxBody: number;
  /** Whether to accept any certificate. Default: false. */
  readonly anyCertificate?: boolean;
  /** A certificate authority (PEM) to trust besides those that Node trusts. */
  readonly ca?: string | undefined;
  /** The certificate of the client and its key (PEM), for a server that asks for one. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** Sends one request, whose headers must be valid; it never fails otherwise. Does not use `fetch`, which rejects some ports, follows redirects and hides the spelling of headers. */
export async function sendOnce(url: URL, options: SendOptions): Promise<RawResponse | NoResponse> {
  const { timeout, stop } = options;
  const timeUp = AbortSignal.timeout(Math.min(timeout, longestTimer));
  const signal = stop === undefined ? timeUp : AbortSignal.any([timeUp, stop]);
  const outgoing = startRequest(url, options, signal);
  try {
    const [response] = (await once(outgoing, "response")) as [http.IncomingMessage];
    const reply = await readReply(response, options.maxBody);
    if (stop?.aborted) return stoppedReply;
    return timeUp.aborted ? lateReply("the response did not end", timeout) : reply;
  } catch (error) {
    if (stop?.aborted) return stoppedReply;
    if (timeUp.aborted) return lateReply("no response came", timeout);
    return { noResponse: "failed", ...describeConnectionError(error as NodeJS.ErrnoException) };
  } finally {
    outgoing.destroy();
  }
}

/** Starts a request on its own connection. */
function startRequest(url: URL, options: SendOptions, signal: AbortSignal): http.ClientRequest {
  const { method = "GET", body = "{}", headers = {}, ca, certificate } = options;
  const hasBody = method !== "GET";
  const { request } = url.protocol === "https:" ? https : http;
  const outgoing = request(url, {
    agent: false,
    method,
    headers: hasBody ? { "content-type": "application/json", ...headers } : headers,
    maxHeaderSize: 16 * 1024,
    rejectUnauthorized: !options.anyCertificate,
    signal,
    ...(ca !== undefined && { ca: [...rootCertificates, ...extraAuthorities(), ca] }),
    ...certificate,
  });

  outgoing.on("upgrade", (_response, socket) => {
    socket.destroy();
    outgoing.emit("error", new Error("it switches to another protocol (101)"));
  });
  // The connection can also fail after the response.
  outgoing.on("error", () => {});
  outgoing.end(hasBody ? body : undefined);
  return outgoing;
}

/** The certificate authorities in the file of `NODE_EXTRA_CA_CERTS`. Node adds them itself only to a request without `ca`. */
function extraAuthorities(): string[] {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  if (!file) return [];
  try {
    return [readSmallFile(file).toString()];
  } catch {
    // Node has warned of it at the start.
    return [];
  }
}

const stoppedReply: NoResponse = { noResponse: "stopped", found: "the request was stopped", hint: "" };

function lateReply(what: string, timeout: number): NoResponse {
  const late = `${what} within ${timeout / 1000} s`;
  return { noResponse: "late", found: late, hint: "--timeout waits longer." };
}

/** Reads a response to its end. */
async function readReply(response: http.IncomingMessage, maxBody: number): Promise<RawResponse | NoResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBody) {
        return {
          noResponse: "failed",
          found: `a body of more than ${maxBody / 1024} kB, which was not read to its end`,
          hint: "Is it a sandbox, or the API, that responds there?",
        };
      }
    }
  } catch {
    const announced = response.headers["content-length"];
    const whole = announced === undefined ? "" : ` of ${announced}`;
    return {
      noResponse: "failed",
      found: `a body that was cut off after ${length}${whole} bytes`,
      hint: "The server, or something between, is broken.",
    };
  }

  return {
    status: response.statusCode ?? 0,
    version: response.httpVersion,
    reason: response.statusMessage ?? "",
    headers: headerPairs(response.rawHeaders),
    trailers: headerPairs(response.rawTrailers),
    body: Buffer.concat(chunks),
  };
}
