import { readFileSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { requestDetailsShape } from "../../api/request-details.js";
import { parseReport, type Report } from "../../report/report-shape.js";
import { readHttpUrl } from "../../rules/base-url.js";
import { SandboxError } from "../../rules/errors.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { mapTexts, redactEncoded } from "../../rules/redact.js";
import { controlPath } from "../../rules/request-path.js";
import { escapeControls } from "../../rules/terminal-text.js";
import { requestShape } from "../../sandbox/view-shapes.js";
import { findMistakes } from "../../schema/check.js";
import { type InJson, inJsonOfAnyVersion, isTooDeep, tryParseJson } from "../../schema/json.js";
import type { Shape, ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import { quote, quoteFile } from "../../schema/words.js";
import { readFailure, requireFile } from "../files/write-file.js";
import { isLoopbackHost } from "../host-names.js";
import { nodePlatform } from "../platform.js";
import { isNoResponse, type NoResponse, type RawResponse, type SendOptions, sendOnce } from "./send-once.js";

/** Where a control plane is, and how to ask it. */
interface ControlAddress {
  /** The base URL of a sandbox, or the URL of its control plane. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Where the token was given, for messages. */
  readonly tokenFrom: string;
  /** A file with a certificate authority (PEM) to trust. */
  readonly ca?: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The response of a control plane; `failed` makes the error of a call that it rejected. */
interface ControlReply {
  readonly status: number;
  readonly data: unknown;
  /** The body's members besides `data`. */
  readonly bare: unknown;
  readonly failed: (why: string) => SandboxError;
}

// The shapes of responses. Any program may listen at the address, so that nothing else is read.
const versionText = s.text({ max: 40, pattern: /^\d+\.\d+\.\d+[\w.+-]*$/ });
const timeText = s.text({ max: 40, pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ });
const runningFields = { scenario: s.text(), started_at: timeText };
const healthShape = s.openMapping({
  status: s.always("ok"),
  version: versionText,
  scenario: s.optional(runningFields.scenario),
  started_at: s.optional(runningFields.started_at),
  now: s.optional(timeText),
});
const stoppingShape = s.openMapping(runningFields);
const controlErrorShape = s.openMapping({
  code: s.text(),
  message: s.text(),
  details: s.optional(s.openMapping({ request: s.optional(s.text()), ref: s.optional(s.text()) })),
});

const runningKeyShape = s.openMapping({
  ref: s.text(),
  /** `null` for `none`. */
  fingerprint: s.nullable(s.text()),
  next_request: s.openMapping({
    outcome: outcomeShape(),
    code: s.nullable(s.text()),
    why: s.nullable(s.text()),
    until: s.nullable(s.text()),
    fault_outcomes: s.list(outcomeShape()),
  }),
});
const keysShape = s.list(runningKeyShape);
type RunningKey = ValueOf<typeof runningKeyShape>;

/** The most bytes of a response. */
const maxResponse = 16 * 1024 * 1024;

const detailsShape = inJsonOfAnyVersion(requestDetailsShape);
const requestsShape = inJsonOfAnyVersion(s.list(requestShape));
type RequestInJson = InJson<ValueOf<typeof requestShape>>;

/** Why a call fails that no control plane gets. */
const noControlPlane =
  "there is no control plane at this URL: the server runs with --no-control, or it is not a sandbox.";

/** The control plane of a running sandbox, of this or another version. Each call throws a `SandboxError` if it gets something else. */
export class ControlClient {
  /** The base URL of the sandbox. */
  readonly url: string;
  readonly #address: ControlAddress;

  constructor(address: ControlAddress) {
    this.url = readSandboxUrl(address.url);
    this.#address = address;
  }

  report(): Promise<Report> {
    return this.#get("get the report from", "/report", "a report", parseReport);
  }

  /** A request with its details, by its id; `last` is the latest one without a 2xx. Throws `not_found` if the journal does not have it. */
  async request(id: string) {
    // Also for an id: a 404 for an unknown request looks like one from a server without a control plane.
    const requests = await this.#requests();
    let wanted = id;
    if (id === "last") {
      const last = requests.findLast(isClientRejection);
      if (last === undefined) {
        const message = `${this.url} has rejected no request. Its journal has ${requests.length}.`;
        throw new SandboxError("not_found", message);
      }
      wanted = last.id;
    }

    const reply = await this.#ask("get the request from", "GET", `/requests/${encodeURIComponent(wanted)}`);
    if (reply.status === 404) {
      const message = `The journal of ${this.url} has no request ${quote(id)}. It keeps the last 1,000 since the start or the last reset; list them with GET ${controlPath}/requests, or use "last" for the latest rejection.`;
      throw new SandboxError("not_found", message);
    }
    const details = readAs(detailsShape, reply.data);
    if (details === undefined) throw reply.failed(unexpectedReply(reply.status, "a request"));
    return details as InJson<ValueOf<typeof requestDetailsShape>>;
  }

  async #requests(): Promise<readonly RequestInJson[]> {
    const readRequests = (data: unknown) => readAs(requestsShape, data);
    const requests = await this.#get("get the requests of", "/requests", "requests", readRequests);
    return requests as readonly RequestInJson[];
  }

  /** Every key, with what its next request gets: a caller looks for one without sending it. */
  async keys() {
    const health = await this.#ask("get the keys of", "GET", "/health");
    const { scenario = "unnamed", now = "an unknown time" } = readAs(healthShape, health.bare) ?? {};

    // Page by page, until one has no further key: a server that ignores the offset repeats its first page.
    const keys = new Map<string, RunningKey>();
    const readPage = (data: unknown) => readAs(keysShape, data);
    let keysBefore: number;
    do {
      keysBefore = keys.size;
      const page = await this.#get("get the keys of", `/keys?offset=${keys.size}`, "keys", readPage);
      for (const key of page) keys.set(key.ref, key);
    } while (keys.size > keysBefore);
    return { url: this.url, scenario: printableText(scenario), now, keys: [...keys.values()] };
  }

  /** A key, or a reserved ref, with what its next request to an endpoint gets. Default: to `/me`. */
  async key(ref: string, endpoint?: string): Promise<RunningKey> {
    let path = `/keys/${encodeURIComponent(ref)}`;
    if (endpoint !== undefined) path += `?endpoint=${encodeURIComponent(endpoint)}`;
    const reply = await this.#ask("get the key from", "GET", path);
    const key = readAs(runningKeyShape, reply.data);
    if (key === undefined) throw reply.failed(unexpectedReply(reply.status, "the key"));
    return key;
  }

  /** Stops the sandbox; resolves once it no longer listens. */
  async stop() {
    const { status, data, failed } = await this.#ask("stop", "POST", "/stop");
    const stopping = readAs(stoppingShape, data);
    if (status === 404) {
      throw failed(
        "nothing can be stopped at this URL: the server runs with --no-control, or it is not a sandbox.",
      );
    }
    if (status !== 200 || stopping === undefined) {
      throw failed(`it returned ${status}, unlike a sandbox of this version.`);
    }

    // It responds before it stops, and then accepts no connections.
    const { timeout } = this.#address;
    const deadline = AbortSignal.timeout(timeout);
    while (isUp(await listenerAt(this.url, timeout))) {
      if (deadline.aborted) throw failed("it has not stopped yet.");
      await wait(20);
    }
    return { url: this.url, ...shownStart(stopping) };
  }

  /** Reads data. `what` and `noun` are for messages: failed to `what` this URL, and `noun` was not in the response. */
  async #get<Value>(
    what: string,
    path: string,
    noun: string,
    read: (data: unknown) => Value | undefined,
  ): Promise<Value> {
    const { status, data, failed } = await this.#ask(what, "GET", path);
    if (status === 404) throw failed(noControlPlane);
    const value = status === 200 ? read(data) : undefined;
    if (value === undefined) throw failed(unexpectedReply(status, noun));
    return value;
  }

  /** Makes a call. Throws if it gets no response, or needs another token. `what` is for messages: failed to `what` this URL. */
  async #ask(what: string, method: "GET" | "POST", path: string): Promise<ControlReply> {
    const { token, tokenFrom, timeout, ca } = this.#address;
    const url = new URL(this.url + controlPath + path);
    // A server may state the token, and outputs end up in logs.
    const hideToken = (text: string) => (token === undefined ? text : text.replaceAll(token, "…"));
    const failed = (why: string) => {
      const target = redactEncoded(method === "GET" ? url.href : this.url);
      return new SandboxError("usage", `Failed to ${what} ${target}: ${hideToken(why)}`);
    };

    const response = await send(url, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      timeout,
      maxBody: maxResponse,
      ca: ca === undefined ? undefined : readAuthority(ca),
    });
    if (isNoResponse(response)) throw failed(`${response.found}. ${response.hint}`);

    const body = mapTexts(replyJson(response), hideToken) as { data?: unknown; error?: unknown };
    const error = readAs(controlErrorShape, body.error);
    if (error?.code === "control_token_required") {
      if (token === undefined) throw failed("it requires its token: give it with --control-token.");
      throw failed(`it rejects the token from ${tokenFrom}. Give its own with --control-token.`);
    }
    const { data, ...bare } = body;
    return { status: response.status, data, bare, failed };
  }
}

/** Whether a request of a client ended without a 2xx. */
function isClientRejection({ status, source }: RequestInJson): boolean {
  const isSuccess = status >= 200 && status <= 299;
  return source === "client" && !isSuccess;
}

/** Why a call failed whose response is not what it asked for. */
function unexpectedReply(status: number, wanted: string): string {
  return `it returned ${status}, without ${wanted}. Is it a sandbox of this version?`;
}

/** A value of another program, if it has the shape. */
function readAs<Of extends Shape>(shape: Of, value: unknown): ValueOf<Of> | undefined {
  return findMistakes(shape, value).length === 0 ? (value as ValueOf<Of>) : undefined;
}

/** The start of a sandbox; empty if it requires a control token. */
function shownStart(shown: Omit<ValueOf<typeof healthShape>, "status" | "version">) {
  if (shown.scenario === undefined) return {};
  return { scenario: printableText(shown.scenario), startedAt: shown.started_at };
}

/** A text of another program, as the terminal may show it. */
function printableText(text: string): string {
  return escapeControls(text.slice(0, 500));
}

interface RunningSandbox {
  readonly url: string;
  readonly version: string;
  /** `undefined` if it requires a control token. */
  readonly scenario?: string;
  readonly startedAt?: string | undefined;
}

/** What is at an address; `silent` accepts connections, and does not respond in time. */
type PortListener =
  | { readonly kind: "sandbox"; readonly sandbox: RunningSandbox }
  | { readonly kind: "silent" | "other" | "nothing" };

/** Milliseconds: on a busy machine, the first call takes more than a second, because it loads the control plane. */
export const longestSearch = 3000;

/** Looks for a svc-sandbox at an address, over HTTP and HTTPS. */
export async function findListener(authority: string, timeout = longestSearch): Promise<PortListener> {
  const startedAt = nodePlatform.stopwatch();
  const plain = await listenerAt(`http://${authority}`, timeout);
  if (isUp(plain)) return plain;

  const left = Math.ceil(timeout - (nodePlatform.stopwatch() - startedAt));
  const secure = await listenerAt(`https://${authority}`, Math.max(1, left));
  // A server of HTTP may wait for the rest of what it cannot read.
  const isOfHttp = plain.kind === "other" && secure.kind === "silent";
  return isOfHttp ? plain : secure;
}

/** Asks for the health of a sandbox, which any version has. */
async function listenerAt(url: string, timeout: number): Promise<PortListener> {
  const response = await send(new URL(`${url}${controlPath}/health`), { timeout, maxBody: 64 * 1024 });
  if (isNoResponse(response)) return { kind: response.isLate ? "silent" : "nothing" };
  const health = response.status === 200 ? readAs(healthShape, replyJson(response)) : undefined;
  if (health === undefined) return { kind: "other" };
  return { kind: "sandbox", sandbox: { url, version: health.version, ...shownStart(health) } };
}

function isUp({ kind }: PortListener): boolean {
  return kind === "sandbox" || kind === "silent";
}

// Accepts any certificate on this machine, where plain HTTP would also be unchecked: most are self-signed.
function send(url: URL, options: SendOptions): Promise<RawResponse | NoResponse> {
  return sendOnce(url, { ...options, anyCertificate: options.ca === undefined && isLoopbackHost(url.host) });
}

/** Reads the file of a certificate authority. Throws `usage`. */
function readAuthority(file: string): string {
  try {
    requireFile(statSync(file));
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SandboxError("usage", `Failed to read --ca ${quoteFile(file)}: ${readFailure(error)}.`);
  }
}

/** Reads the base URL of a sandbox, also from the URL of its control plane. Throws `usage`. */
function readSandboxUrl(text: string): string {
  const url = readHttpUrl(text);
  if (url === undefined) {
    // Without the URL, which may contain a password.
    throw new SandboxError(
      "usage",
      "Invalid sandbox URL. Use its base URL or its control plane's URL, such as http://127.0.0.1:4747.",
    );
  }
  // With a slash at its end, `/__sandbox` is found as a whole part, also as the last one.
  const pathname = `${url.pathname.replace(/\/+$/, "")}/`;
  const [front = ""] = pathname.split(`${controlPath}/`);
  return url.origin + front.replace(/\/+$/, "");
}

/** The body of a response as an object, which is empty if it is anything else. */
function replyJson({ body }: RawResponse): object {
  const json = tryParseJson(new TextDecoder().decode(body));
  const isReadable = typeof json === "object" && json !== null && !isTooDeep(json);
  return isReadable ? json : {};
}
