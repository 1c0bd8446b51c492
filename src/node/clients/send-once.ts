import { once } from "node:events";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { rootCertificates } from "node:tls";
import { headerPairs } from "../../api/http-messages.js";
import { abortedAfter } from "../timers.js";

export interface RawResponse {
  readonly status: number;
  /** The version of HTTP: `1.1`. */
  readonly version: string;
  /** The text after the status, `Unauthorized`; may be empty. */
  readonly reason: string;
  /** Names and values, with their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body is not decoded, since no request allows an encoding. */
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
  const timeUp = abortedAfter(timeout);
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
    outgoing.emit("error", Object.assign(new Error(), { code: otherProtocolCode }));
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
    return [readFileSync(file, "utf8")];
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
    body: Buffer.concat(chunks),
  };
}

/** The code of a response that starts another protocol: its status. */
export const otherProtocolCode = "101";

/** What a connection's error means, by its code. The first row that matches counts. */
const connectionErrors: readonly (readonly [codes: RegExp, found: string, hint: string])[] = [
  [
    /^(?:ENOTFOUND|EAI_\w+|ENODATA)$/,
    "the host name cannot be resolved",
    "Check its spelling and this machine's DNS.",
  ],
  [
    /^ECONNREFUSED$/,
    "nothing listens at this address and port",
    "Check that it is running. If it uses another port, pass its URL.",
  ],
  [
    /^(?:E(?:HOST|NET)\w+|EADDRNOTAVAIL|EACCES|EPERM|EINVAL|ETIMEDOUT)$/,
    "this host cannot be reached",
    "Check the network, the VPN and the firewall.",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$|^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
    "its certificate is for another name, or not valid today",
    "Use the name in the certificate, and check this machine's clock.",
  ],
  [
    /SELF_SIGNED_CERT|^(?:UNABLE_TO_\w+|CERT_\w+|INVALID_CA|HOSTNAME_MISMATCH)$/,
    "its certificate is not trusted on this machine",
    "If it should be, set NODE_EXTRA_CA_CERTS to a file with its authority's certificate. No flag turns this check off.",
  ],
  [
    /^ERR_SSL_\w*CERTIFICATE_REQUIRED$/,
    "it asks for a certificate of the client (mutual TLS)",
    "Only compare has one, with --cert and --key.",
  ],
  [
    /^ERR_SSL_\w*ALERT_(?:UNKNOWN_CA|\w*CERTIFICATE\w*|ACCESS_DENIED)$/,
    "it rejects the certificate of the client (mutual TLS)",
    "Check that the server trusts the authority of --cert, and that the certificate is valid today.",
  ],
  [
    /^(?:EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    "no secure connection could be made",
    "Does this port speak HTTPS? If it speaks plain HTTP, start the URL with http://.",
  ],
  [
    /^HPE_\w+$/,
    "its response is not valid HTTP",
    "Does this port speak HTTP? If it speaks HTTPS, start the URL with https://.",
  ],
  [/^101$/, "it switches to another protocol", "Is it a sandbox, or the API, that responds there?"],
  [
    /^/,
    "the connection was closed before a response came",
    "Does the port speak HTTPS? If not, the server or something between is broken or rejects this client.",
  ],
];

/** Describes why a connection failed, with a hint. */
export function describeConnectionError(error: NodeJS.ErrnoException): { found: string; hint: string } {
  // If several addresses were tried, the first error is used for all.
  const [first] = ((error as Partial<AggregateError>).errors ?? []) as NodeJS.ErrnoException[];
  const code = error.code ?? first?.code ?? "";
  const [, found = "", hint = ""] = connectionErrors.find(([codes]) => codes.test(code)) ?? [];
  if (code === "") return { found, hint };
  return { found: `${found} (${code})`, hint };
}
