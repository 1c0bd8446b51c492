import { readFileSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { parseReport, type Report } from "../../report/report-shape.js";
import { explainedRequestShape } from "../../report/request-text.js";
import { readHttpUrl } from "../../rules/base-url.js";
import { SandboxError } from "../../rules/errors.js";
import { mapTexts, redact } from "../../rules/keys/redact.js";
import { controlPath } from "../../rules/known-paths.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { requestShape } from "../../sandbox/journal/exchange.js";
import * as s from "../../schema/shape.js";
import { type InJson, tolerantJsonShape } from "../../schema/spelling.js";
import { quote, quoteFile } from "../../schema/words.js";
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
/** A request with its details. */
type DetailsInJson = InJson<s.ValueOf<typeof explainedRequestShape>>;

const requestsShape = tolerantJsonShape(s.list(requestShape));
/** A request of the journal. */
type RequestInJson = InJson<s.ValueOf<typeof requestShape>>;

/** The keys of a running sandbox, each with what its next request gets. */
interface RunningKeys {
  readonly url: string;
  readonly scenario: string;
  /** The time of its clock. */
  readonly now: string;
  readonly keys: readonly RunningKey[];
}

/** A sandbox that has stopped. */
interface StoppedSandbox {
  readonly url: string;
  readonly scenario: string;
  readonly startedAt: string;
}

/** Data that a call reads. */
interface WantedData<Value> {
  readonly path: string;
  /** For messages: failed to `purpose` this URL. */
  readonly purpose: string;
  /** What the response lacks if it has something else. */
  readonly noun: string;
  /** Finds the data; `undefined` if there is something else. */
  readonly read: (data: unknown) => Value | undefined;
}

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
    return this.#get({
      path: "/report",
      purpose: "get the report from",
      noun: "a report",
      read: parseReport,
    });
  }

  /** A request with its details, by its id; `last` is the latest one without a 2xx. Throws `not_found` if the journal does not have it. */
  async request(id: string): Promise<DetailsInJson> {
    // The list comes first: a server without a control plane fails here, so that a 404 below means an unknown request.
    const requests = await this.#get({
      path: "/requests",
      purpose: "get the requests of",
      noun: "requests",
      read: (data) => readAs(requestsShape, data) as readonly RequestInJson[] | undefined, // the shape is of this type
    });
    let wanted = id;
    if (id === "last") {
      const isRejection = (status: number) => status < 200 || status > 299;
      const last = requests.findLast(({ status, source }) => source === "client" && isRejection(status));
      if (last === undefined) {
        const message = `${this.url} has rejected no request. Its journal has ${requests.length}.`;
        throw new SandboxError("not_found", message);
      }
      wanted = last.id;
    }

    const path = `/requests/${encodeURIComponent(wanted)}`;
    const call = new ControlCall(this.#address, "get the request from", { method: "GET", path });
    const { status, body } = await call.send();
    if (status === 404) {
      const message = `The journal of ${this.url} has no request ${quote(id)}. It keeps the last 1,000 since the start or the last reset; list them with GET ${controlPath}/requests, or use "last" for the latest rejection.`;
      throw new SandboxError("not_found", message);
    }
    const details = readAs(detailsShape, body.data) as DetailsInJson | undefined; // the shape is of this type
    if (details === undefined) throw call.errorBecause(unexpectedReply(status, "a request"));
    return details;
  }

  /** Every key, with what its next request gets: a caller looks for one without sending it. */
  async keys(): Promise<RunningKeys> {
    const purpose = "get the keys of";
    const health = await new ControlCall(this.#address, purpose, { method: "GET", path: "/health" }).send();
    const { scenario = "unnamed", now = "an unknown time" } = readAs(healthShape, health.body) ?? {};

    // Page by page, until one has no further key: a server that ignores the offset repeats its first page.
    const keys = new Map<string, RunningKey>();
    let keysBefore: number;
    do {
      keysBefore = keys.size;
      const page = await this.#get({
        path: `/keys?offset=${keys.size}`,
        purpose,
        noun: "keys",
        read: (data) => readAs(runningKeysShape, data),
      });
      for (const key of page) keys.set(key.ref, key);
    } while (keys.size > keysBefore);
    return { url: this.url, scenario: printableText(scenario), now, keys: [...keys.values()] };
  }

  /** A key, or a reserved ref, with what its next request to an endpoint gets. Default: to `/me`. */
  async key(ref: string, endpoint?: string): Promise<RunningKey> {
    let path = `/keys/${encodeURIComponent(ref)}`;
    if (endpoint !== undefined) path += `?endpoint=${encodeURIComponent(endpoint)}`;
    const call = new ControlCall(this.#address, "get the key from", { method: "GET", path });
    const { status, body } = await call.send();
    const key = readAs(runningKeyShape, body.data);
    if (key === undefined) throw call.errorBecause(unexpectedReply(status, "the key"));
    return key;
  }

  /** Stops the sandbox; resolves once it no longer listens. */
  async stop(): Promise<StoppedSandbox> {
    const call = new ControlCall(this.#address, "stop", { method: "POST", path: "/stop" });
    const { status, body } = await call.send();
    if (status === 404) {
      throw call.errorBecause(
        "nothing can be stopped at this URL: the server runs with --no-control, or it is not a sandbox.",
      );
    }
    const stopping = readAs(stoppingShape, body.data);
    if (status !== 200 || stopping === undefined) {
      throw call.errorBecause(`it returned ${status}, unlike a sandbox of this version.`);
    }

    // It responds before it stops, and then accepts no connections.
    const { timeout } = this.#address;
    const ca = readAuthority(this.#address.ca);
    const { stopwatch } = nodePlatform;
    const endsAt = stopwatch() + timeout;
    let timeLeft = timeout;
    while (maybeSandbox(await listenerAt(this.url, { timeout: timeLeft, ca }))) {
      timeLeft = Math.ceil(endsAt - stopwatch());
      if (timeLeft <= 0) throw call.errorBecause("it has not stopped yet.");
      await wait(20);
    }
    return { url: this.url, scenario: printableText(stopping.scenario), startedAt: stopping.started_at };
  }

  async #get<Value>({ path, purpose, noun, read }: WantedData<Value>): Promise<Value> {
    const call = new ControlCall(this.#address, purpose, { method: "GET", path });
    const { status, body } = await call.send();
    if (status === 404) {
      throw call.errorBecause(
        "there is no control plane at this URL: the server runs with --no-control, or it is not a sandbox.",
      );
    }
    const value = status === 200 ? read(body.data) : undefined;
    if (value === undefined) throw call.errorBecause(unexpectedReply(status, noun));
    return value;
  }
}

/** Why a call failed whose response is not what it asked for. */
function unexpectedReply(status: number, wanted: string): string {
  return `it returned ${status}, without ${wanted}. Is it a sandbox of this version?`;
}

/** The response of a control plane to a call that it did not reject for its token. */
interface ControlReply {
  readonly status: number;
  /** The JSON object in the body; empty if there is none. */
  readonly body: { readonly data?: unknown; readonly error?: unknown };
}

const controlErrorShape = s.openMapping({
  code: s.text(),
  message: s.text(),
  details: s.optional(s.openMapping({ request: s.optional(s.text()), ref: s.optional(s.text()) })),
});

/** The most bytes of a response. */
const maxResponse = 16 * 1024 * 1024;

/** One call of a control plane. Its errors start with what failed, and at which URL. */
class ControlCall {
  readonly #address: ControlAddress;
  readonly #method: "GET" | "POST";
  readonly #url: URL;
  /** What the messages of its errors start with: `Failed to stop http://127.0.0.1:4747`. */
  readonly #whatFailed: string;

  /** `purpose` is for messages: failed to `purpose` this URL. */
  constructor(
    address: ControlAddress,
    purpose: string,
    { method, path }: { readonly method: "GET" | "POST"; readonly path: string },
  ) {
    const baseUrl = readSandboxUrl(address.url);
    this.#address = address;
    this.#method = method;
    this.#url = new URL(baseUrl + controlPath + path);
    this.#whatFailed = `Failed to ${purpose} ${redact(method === "GET" ? this.#url.href : baseUrl)}`;
  }

  /** Makes the call. Throws if it gets no response, or needs another token. */
  async send(): Promise<ControlReply> {
    const { token, tokenFrom, timeout, ca } = this.#address;
    const response = await sendToSandbox(this.#url, {
      method: this.#method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      timeout,
      maxBody: maxResponse,
      ca: readAuthority(ca),
    });
    if (isNoResponse(response)) throw this.errorBecause(`${response.found}. ${response.hint}`);

    const hideToken = (text: string) => this.#withoutToken(text);
    const body = mapTexts(jsonObjectIn(response.body), hideToken) as ControlReply["body"]; // the same members
    const error = readAs(controlErrorShape, body.error);
    if (error?.code === "control_token_required") {
      if (token === undefined) {
        throw this.errorBecause("it requires its token: give it with --control-token.");
      }
      throw this.errorBecause(`it rejects the token from ${tokenFrom}. Give its own with --control-token.`);
    }
    return { status: response.status, body };
  }

  /** The error of this call; `why` ends its message. */
  errorBecause(why: string): SandboxError {
    return new SandboxError("usage", `${this.#whatFailed}: ${this.#withoutToken(why)}`);
  }

  /** A server may state the token, and outputs end up in logs. */
  #withoutToken(text: string): string {
    const { token } = this.#address;
    return token === undefined ? text : text.replaceAll(token, "…");
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
    rejectEndlessFile(statSync(file));
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SandboxError("usage", `Failed to read --ca ${quoteFile(file)}: ${readFailure(error)}.`);
  }
}
