import { setTimeout as wait } from "node:timers/promises";
import { readHttpUrl } from "../../library/base-url.js";
import { parseReport, type Report } from "../../report/report-shape.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath } from "../../rules/paths.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { requestShape } from "../../sandbox/journal/exchange.js";
import { findMismatches } from "../../schema/check.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import * as s from "../../schema/shape.js";
import { type InJson, tolerantJsonShape } from "../../schema/spelling.js";
import { quoteFile } from "../../schema/words.js";
import { fileFailure, readSmallFile } from "../files/write-file.js";
import { isLoopbackHost } from "../host-names.js";
import { nodePlatform } from "../platform.js";
import { isNoResponse, type NoResponse, type SendOptions, sendOnce } from "./send-once.js";

// Any program may listen at the address of a sandbox, so that nothing without its shape is read.

const timeText = s.text({ max: 40, pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ });

/** The health of a sandbox; one that requires a control token hides everything but its version. */
const healthShape = s.openMapping({
  status: s.choice(["ok"]),
  version: s.text({ max: 40, pattern: /^\d{1,9}\.\d{1,9}\.\d{1,9}[\w.+-]*$/ }),
  scenario: s.optional(s.text()),
  started_at: s.optional(timeText),
});

/** The reply of a sandbox that is about to stop. */
const stoppingShape = s.openMapping({ scenario: s.text(), started_at: timeText });

/** A request, or what the next request with a key gets: as text, with the members for machines. */
const explainedShape = s.openMapping({ text: s.text() });
const explainedKeyShape = s.openMapping({
  explained: s.openMapping({ text: s.text(), fingerprint: s.orNull(s.text()) }),
});

const requestsShape = tolerantJsonShape(s.list(requestShape));

const errorBodyShape = s.openMapping({ code: s.text(), message: s.text() });

/** The JSON object in the body of a response; empty if there is none. */
interface ControlResponse {
  readonly status: number;
  readonly body: { readonly data?: unknown; readonly error?: unknown };
}

/** The most bytes of a response. */
const maxResponse = 16 * 1024 * 1024;

/** Makes a call of a control plane. On this machine, where plain HTTP would also be unchecked, any certificate is accepted: most are self-signed. */
async function ask(
  url: string,
  options: Omit<SendOptions, "maxBody" | "anyCertificate">,
): Promise<ControlResponse | NoResponse> {
  const target = new URL(url);
  const anyCertificate = options.ca === undefined && isLoopbackHost(target.host);
  const response = await sendOnce(target, { ...options, maxBody: maxResponse, anyCertificate });
  if (isNoResponse(response)) return response;

  const json = tryParseJson(new TextDecoder().decode(response.body));
  const isReadable = typeof json === "object" && json !== null && !isTooDeep(json);
  return { status: response.status, body: isReadable ? json : {} };
}

/** A value of another program; `undefined` if it does not have the shape. */
function readAs<Of extends s.Shape>(shape: Of, value: unknown): s.ValueOf<Of> | undefined {
  return findMismatches(shape, value).length === 0 ? (value as s.ValueOf<Of>) : undefined;
}

/** A text of another program in a sentence. */
function printableText(text: string): string {
  return oneSafeLine(text.slice(0, 500));
}

/** Milliseconds: on a busy machine, the first call takes more than a second, because it loads the control plane. */
const longestSearch = 3000;

/**
 * Looks for a sandbox at a host and port, over HTTP and HTTPS; `undefined` if another program is there. One that requires a control
 * token does not tell its scenario and its start.
 */
export async function findSandbox(authority: string) {
  for (const scheme of ["http", "https"]) {
    const url = `${scheme}://${authority}`;
    const response = await ask(`${url}${controlPath}/health`, { timeout: longestSearch });
    if (isNoResponse(response)) continue;

    const health = readAs(healthShape, response.body);
    if (health === undefined) return undefined;
    const { version, scenario, started_at: startedAt } = health;
    return { url, version, scenario: scenario && printableText(scenario), startedAt };
  }
  return undefined;
}

/** Where a control plane is, and how to ask it. */
interface ControlAddress {
  /** The base URL of a sandbox, or the URL of its control plane. */
  readonly url: string;
  readonly token?: string | undefined;
  /** A file with a certificate authority (PEM) to trust. */
  readonly ca?: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** How the user starts this program, for messages. */
  readonly program: string;
}

/** The control plane of a running sandbox of this version. Each call throws a `SandboxError` if it gets something else. */
export class ControlClient {
  /** The base URL of the sandbox. */
  readonly url: string;
  readonly #address: ControlAddress;

  constructor(address: ControlAddress) {
    this.url = readSandboxUrl(address.url);
    this.#address = address;
  }

  report(): Promise<Report> {
    return this.#call("GET", "/report", parseReport);
  }

  /** A request of the journal with its details, by its id. Throws `not_found`. */
  request(id: string): Promise<s.ValueOf<typeof explainedShape>> {
    const path = `/requests/${encodeURIComponent(id)}`;
    return this.#call("GET", path, (data) => readAs(explainedShape, data));
  }

  /** The id of the latest request of a client without a 2xx. Throws `not_found`. */
  async lastRejection(): Promise<string> {
    const read = (data: unknown) => {
      return readAs(requestsShape, data) as InJson<s.ValueOf<typeof requestShape>>[] | undefined; // the shape is of this type
    };
    const requests = await this.#call("GET", "/requests", read);
    const isRejection = (status: number) => status < 200 || status > 299;
    const last = requests.findLast(({ status, source }) => source === "client" && isRejection(status));
    if (last !== undefined) return last.id;
    const message = `${this.url} has rejected no request. Its journal has ${requests.length}.`;
    throw new SandboxError("not_found", message);
  }

  /**
   * What the next request with a key gets, by its ref, a reserved ref, or the SHA-256 of the key. Default of the endpoint: `/me`.
   * Throws `not_found`.
   */
  async key(ref: string, endpoint?: string) {
    let path = `/keys/${encodeURIComponent(ref)}`;
    if (endpoint !== undefined) path += `?endpoint=${encodeURIComponent(endpoint)}`;
    const key = await this.#call("GET", path, (data) => readAs(explainedKeyShape, data));
    return key.explained;
  }

  /** Stops the sandbox; resolves once it no longer listens. */
  async stop() {
    const stopping = await this.#call("POST", "/stop", (data) => readAs(stoppingShape, data));
    // It responds before it stops, and then accepts no connections.
    const endsAt = nodePlatform.stopwatch() + this.#address.timeout;
    for (;;) {
      const response = await this.#ask("GET", "/health");
      if (isNoResponse(response)) {
        if (response.noResponse === "failed") break;
      } else if (response.status !== 200) {
        // A proxy responds in its place.
        break;
      }
      if (nodePlatform.stopwatch() > endsAt) {
        throw new SandboxError("usage", `Failed to stop ${this.url}: it has not stopped yet.`);
      }
      await wait(20);
    }
    return { url: this.url, scenario: printableText(stopping.scenario), startedAt: stopping.started_at };
  }

  #ask(method: "GET" | "POST", path: string): Promise<ControlResponse | NoResponse> {
    const { token, timeout, ca } = this.#address;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return ask(this.url + controlPath + path, { method, headers, timeout, ca: readAuthority(ca) });
  }

  /** Makes a call, and reads the data of its response; `read` returns `undefined` for anything that it does not expect. */
  async #call<Value>(
    method: "GET" | "POST",
    path: string,
    read: (data: unknown) => Value | undefined,
  ): Promise<Value> {
    const { token, program } = this.#address;
    const url = this.url + controlPath + path;
    const failure = (why: string) => new SandboxError("usage", `Failed to call ${url}: ${why}`);
    const response = await this.#ask(method, path);
    if (isNoResponse(response)) {
      const { found, hint } = response;
      throw failure(`${found}. ${hint} Start a sandbox with \`${program} start\`.`);
    }

    const { status, body } = response;
    const error = readAs(errorBodyShape, body.error);
    if (error?.code === "control_token_required") {
      const found = token === undefined ? "it requires its token" : "it rejects this token";
      throw failure(`${found}. Give its own with --control-token.`);
    }
    if (status === 404) throw await this.#notFound(error?.message, failure);
    if (error !== undefined) throw failure(printableText(error.message));
    const value = status === 200 ? read(body.data) : undefined;
    if (value === undefined) throw failure(`it returned ${status}, unlike a sandbox of this version.`);
    return value;
  }

  /** The error of a 404: a sandbox does not have what was asked for, or there is none. */
  async #notFound(
    message: string | undefined,
    failure: (why: string) => SandboxError,
  ): Promise<SandboxError> {
    // The API of a server without a control plane has 404s, too.
    const health = await this.#ask("GET", "/health");
    const isSandbox = !isNoResponse(health) && health.status === 200;
    if (isSandbox && message !== undefined) return new SandboxError("not_found", printableText(message));
    return failure(
      "there is no control plane at this URL: the server runs with --no-control, or it is not a sandbox.",
    );
  }
}

/** The base URL of a sandbox, also from the URL of its control plane. Throws `usage`. */
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

/** The certificate authority in a file, if one is named. Throws `usage`. */
function readAuthority(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readSmallFile(file).toString();
  } catch (error) {
    throw new SandboxError("usage", `Failed to read --ca ${quoteFile(file)}: ${fileFailure(error)}.`);
  }
}
