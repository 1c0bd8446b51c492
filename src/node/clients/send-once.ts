import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { rootCertificates } from "node:tls";
import { headerPairs } from "../../api/http-messages.js";

export interface RawResponse {
  readonly status: number;
  /** The text after the status, `Unauthorized`; may be empty. */
  readonly reason: string;
  /** Names and values, with their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body is not decoded, since no request allows an encoding. */
  readonly body: Uint8Array;
}

/** Why a request got no response that can be read. */
export interface NoResponse {
  /** What happened, for a message. */
  readonly found: string;
  readonly hint: string;
  /** Whether nothing has failed, but the time was up. */
  readonly isLate?: true;
}

export function isNoResponse(reply: object): reply is NoResponse {
  return "hint" in reply;
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
  /** A certificate authority (PEM) to trust besides this machine's. */
  readonly ca?: string | undefined;
}

/** Milliseconds: Node fires longer timers immediately. */
const longestTimer = 2 ** 31 - 1;

/** Sends one request. Never throws. Does not use `fetch`, which rejects some ports, follows redirects and hides the spelling of headers. */
export async function sendOnce(url: URL, options: SendOptions): Promise<RawResponse | NoResponse> {
  const { timeout, stop } = options;
  const timeUp = AbortSignal.timeout(Math.min(timeout, longestTimer));
  const signal = stop === undefined ? timeUp : AbortSignal.any([timeUp, stop]);
  const outgoing = startRequest(url, options, signal);

  try {
    const [response] = (await once(outgoing, "response")) as [http.IncomingMessage];
    const reply = await readReply(response, options.maxBody);
    return signal.aborted ? lateResponse("the response did not end", timeout) : reply;
  } catch (error) {
    if (signal.aborted) return lateResponse("no response came", timeout);
    return describeConnectionError(error as NodeJS.ErrnoException);
  } finally {
    outgoing.destroy();
  }
}

/** Starts a request on its own connection. */
function startRequest(url: URL, options: SendOptions, signal: AbortSignal): http.ClientRequest {
  const { method = "GET", body = "{}", headers = {}, ca } = options;
  const hasBody = method !== "GET";
  const { request } = url.protocol === "https:" ? https : http;
  const outgoing = request(url, {
    agent: false,
    method,
    headers: hasBody ? { "content-type": "application/json", ...headers } : headers,
    maxHeaderSize: 16 * 1024,
    rejectUnauthorized: !options.anyCertificate,
    signal,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
  });

  // A 101 starts another protocol.
  outgoing.on("upgrade", (_response, socket) => {
    socket.destroy();
    outgoing.emit("error", new Error());
  });
  // The connection can also fail after the response.
  outgoing.on("error", () => {});
  outgoing.end(hasBody ? body : undefined);
  return outgoing;
}

function lateResponse(what: string, timeout: number): NoResponse {
  return { found: `${what} within ${timeout / 1000} s`, hint: "--timeout waits longer.", isLate: true };
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
          found: `a body of more than ${maxBody / 1024} kB, which was not read to its end`,
          hint: "Is it a sandbox, or the API, that responds there?",
        };
      }
    }
  } catch {
    const announced = response.headers["content-length"];
    const whole = announced === undefined ? "" : ` of ${announced}`;
    return {
      found: `a body that was cut off after ${length}${whole} bytes`,
      hint: "The server, or something between, is broken.",
    };
  }

  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage ?? "",
    headers: headerPairs(response.rawHeaders),
    body: Buffer.concat(chunks),
  };
}

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
    "No command of svc-sandbox has one: use an address that does not ask for it.",
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
  [
    /^/,
    "the connection was closed before a response came",
    "Does the port speak HTTPS? If not, the server or something between is broken or rejects this client.",
  ],
];

/** Describes why a connection failed, with a hint. */
export function describeConnectionError(error: NodeJS.ErrnoException): NoResponse {
  // If several addresses were tried, the first error is used for all.
  const [first] = ((error as Partial<AggregateError>).errors ?? []) as NodeJS.ErrnoException[];
  const code = error.code ?? first?.code ?? "";
  const [, found = "", hint = ""] = connectionErrors.find(([codes]) => codes.test(code)) ?? [];
  if (code === "") return { found, hint };
  return { found: `${found} (${code})`, hint };
}
