import { readFileSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { readHttpUrl } from "../../library/base-url.js";
import { parseReport, type Report } from "../../report/report-shape.js";
import { explainedRequestShape } from "../../report/request-text.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath } from "../../rules/known-paths.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { requestShape } from "../../sandbox/journal/exchange.js";
import * as s from "../../schema/shape.js";
import { type InJson, tolerantJsonShape } from "../../schema/spelling.js";
import { quoteFile } from "../../schema/words.js";
import { readFailure, rejectEndlessFile } from "../files/write-file.js";
import { nodePlatform } from "../platform.js";
import {
  healthShape,
  jsonObjectIn,
  listenerAt,
  maybeSandbox,
  printableText,
  readAs,
  sendToSandbox,
  timeText,
} from "./find-listener.js";
import { isNoResponse } from "./send-once.js";

/** The reply of a sandbox that is about to stop. */
const stoppingShape = s.openMapping({ scenario: s.text(), started_at: timeText });

/** A key of a running sandbox, with what its next request gets. */
const runningKeyShape = s.openMapping({
  ref: s.text(),
  /** `null` for `none`. */
  fingerprint: s.orNull(s.text()),
  next_request: s.openMapping({
    outcome: outcomeShape(),
    code: s.orNull(s.text()),
    why: s.orNull(s.text()),
    until: s.orNull(s.text()),
    fault_outcomes: s.list(outcomeShape()),
  }),
});
const runningKeysShape = s.list(runningKeyShape);
type RunningKey = s.ValueOf<typeof runningKeyShape>;

const detailsShape = tolerantJsonShape(explainedRequestShape);
const requestsShape = tolerantJsonShape(s.list(requestShape));
/** A request of the journal. */
type RequestInJson = InJson<s.ValueOf<typeof requestShape>>;

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
    return this.#ask("GET", "/report", ({ data }) => parseReport(data));
  }

  /** A request with its details, by its id; `last` is the latest one without a 2xx. */
  async request(id: string): Promise<InJson<s.ValueOf<typeof explainedRequestShape>>> {
    const path = `/requests/${encodeURIComponent(id === "last" ? await this.#lastRejection() : id)}`;
    const details = await this.#ask("GET", path, ({ data }) => readAs(detailsShape, data));
    return details as InJson<s.ValueOf<typeof explainedRequestShape>>; // the shape is of this type
  }

  async #lastRejection(): Promise<string> {
    const read = ({ data }: ControlResponseBody) =>
      readAs(requestsShape, data) as RequestInJson[] | undefined; // the shape is of this type
    const requests = await this.#ask("GET", "/requests", read);
    const isRejection = (status: number) => status < 200 || status > 299;
    const last = requests.findLast(({ status, source }) => source === "client" && isRejection(status));
    if (last !== undefined) return last.id;
    const message = `${this.url} has rejected no request. Its journal has ${requests.length}.`;
    throw new SandboxError("not_found", message);
  }

  /** Every key, with what its next request gets: a caller looks for one without sending it. */
  async keys() {
    const health = await this.#ask("GET", "/health", (body) => readAs(healthShape, body));
    const { scenario = "unnamed", now = "an unknown time" } = health;

    // Page by page, until one has no further key: a server that ignores the offset repeats its first page.
    const keys = new Map<string, RunningKey>();
    let keysBefore: number;
    do {
      keysBefore = keys.size;
      const read = ({ data }: ControlResponseBody) => readAs(runningKeysShape, data);
      const page = await this.#ask("GET", `/keys?offset=${keys.size}`, read);
      for (const key of page) keys.set(key.ref, key);
    } while (keys.size > keysBefore);
    return { url: this.url, scenario: printableText(scenario), now, keys: [...keys.values()] };
  }

  /** A key, or a reserved ref, with what its next request to an endpoint gets. Default: to `/me`. */
  key(ref: string, endpoint?: string): Promise<RunningKey> {
    let path = `/keys/${encodeURIComponent(ref)}`;
    if (endpoint !== undefined) path += `?endpoint=${encodeURIComponent(endpoint)}`;
    return this.#ask("GET", path, ({ data }) => readAs(runningKeyShape, data));
  }

  /** Stops the sandbox; resolves once it no longer listens. */
  async stop() {
    const stopping = await this.#ask("POST", "/stop", ({ data }) => readAs(stoppingShape, data));
    // It responds before it stops, and then accepts no connections.
    const { timeout } = this.#address;
    const ca = readAuthority(this.#address.ca);
    const endsAt = nodePlatform.stopwatch() + timeout;
    while (maybeSandbox(await listenerAt(this.url, { timeout, ca }))) {
      if (nodePlatform.stopwatch() > endsAt) {
        throw new SandboxError("usage", `Failed to stop ${this.url}: it has not stopped yet.`);
      }
      await wait(20);
    }
    return { url: this.url, scenario: printableText(stopping.scenario), startedAt: stopping.started_at };
  }

  /** Makes a call, and reads its response; `read` returns `undefined` for anything that it does not expect. */
  async #ask<Value>(
    method: "GET" | "POST",
    path: string,
    read: (body: ControlResponseBody) => Value | undefined,
  ): Promise<Value> {
    const { token, tokenFrom, timeout, ca } = this.#address;
    const url = this.url + controlPath + path;
    const response = await sendToSandbox(new URL(url), {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      timeout,
      maxBody: maxResponse,
      ca: readAuthority(ca),
    });
    const failure = (why: string) => new SandboxError("usage", `Failed to call ${url}: ${why}`);
    if (isNoResponse(response)) throw failure(`${response.found}. ${response.hint}`);

    const { status } = response;
    const body: ControlResponseBody = jsonObjectIn(response.body);
    const error = readAs(controlErrorShape, body.error);
    if (error?.code === "control_token_required") {
      const found = token === undefined ? "it requires its token" : `it rejects the token from ${tokenFrom}`;
      throw failure(`${found}. Give its own with --control-token.`);
    }
    // The API of a server without a control plane has errors, too.
    if (status === 404 && !path.startsWith("/requests/")) {
      throw failure(
        "there is no control plane at this URL: the server runs with --no-control, or it is not a sandbox.",
      );
    }
    if (error !== undefined) throw failure(printableText(error.message));
    const value = status === 200 ? read(body) : undefined;
    if (value === undefined) throw failure(`it returned ${status}, unlike a sandbox of this version.`);
    return value;
  }
}

/** The JSON object in the body of a response; empty if there is none. */
interface ControlResponseBody {
  readonly data?: unknown;
  readonly error?: unknown;
}

const controlErrorShape = s.openMapping({ code: s.text(), message: s.text() });

/** The most bytes of a response. */
const maxResponse = 16 * 1024 * 1024;

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
    rejectEndlessFile(statSync(file));
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SandboxError("usage", `Failed to read --ca ${quoteFile(file)}: ${readFailure(error)}.`);
  }
}
