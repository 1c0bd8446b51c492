import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { requestDetailsShape } from "../../api/request-details.js";
import { parseReport, type Report } from "../../report/report-shape.js";
import { SandboxError } from "../../rules/errors.js";
import { escapeControls, redactEncoded, redactValue } from "../../rules/redact.js";
import { mistakesIn } from "../../rules/schema/check.js";
import { type InJson, inJsonOfAnyVersion, isTooDeep, parsedJson } from "../../rules/schema/json.js";
import type { Shape, ValueOf } from "../../rules/schema/shape.js";
import * as s from "../../rules/schema/shape.js";
import { quote } from "../../rules/schema/words.js";
import { viewShapes } from "../../sandbox/view-shapes.js";
import { controlPath, isLoopbackHost, readHttpUrl } from "../addresses.js";
import { readFailure } from "../files/write-file.js";
import { isNoResponse, type NoResponse, type RawResponse, type SendOptions, sendOnce } from "./send-once.js";

interface ControlAddress {
  /** The base URL of a sandbox or an instance, or the URL of its control plane. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly tokenFrom: string;
  /** A file with a certificate authority (PEM) to trust. */
  readonly ca?: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

// Any program may listen at the address, so responses are read only in these shapes.
const versionText = s.text({ max: 40, pattern: /^\d+\.\d+\.\d+[\w.+-]*$/ });
const timeText = s.text({ max: 40, pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ });
const running = { scenario: s.text(), started_at: timeText };
const healthShape = s.openMapping({
  status: s.always("ok"),
  version: versionText,
  scenario: s.optional(running.scenario),
  started_at: s.optional(running.started_at),
});
const stoppingShape = s.openMapping(running);
const errorShape = s.openMapping({
  code: s.text(),
  message: s.text(),
  details: s.optional(s.openMapping({ request: s.optional(s.text()), ref: s.optional(s.text()) })),
});

// None is in a file of a sandbox, which escapes them. C1 may be in its texts.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no terminal may get
const controls = /[\0-\x08\x0B-\x1F\x7F]/;

const maxResponse = 16 * 1024 * 1024;
/** Enough for a state with the journals of a thousand instances. */
const maxState = 512 * 1024 * 1024;

const detailsShape = inJsonOfAnyVersion(requestDetailsShape);
const requestsShape = inJsonOfAnyVersion(s.list(viewShapes.request));

/** The control plane of a running sandbox, of this or another version. Each call throws a `SandboxError` if it gets something else. */
export class ControlClient {
  readonly #address: ControlAddress;

  constructor(address: ControlAddress) {
    this.#address = address;
  }

  async report(): Promise<Report> {
    const { status, data, failed } = await this.#ask("get the report from", "GET", "/report");
    const report = status === 200 ? parseReport(data) : undefined;
    if (report !== undefined) return report;
    throw failed(status === 404 ? noControlPlane : isNot(status, "a report"));
  }

  /** `last` is the latest one without a 2xx. Throws `not_found` if the journal does not have it. */
  async request(id: string) {
    const all = await this.#ask("get the requests of", "GET", "/requests");
    const requests = readAs(requestsShape, all.data) as
      | readonly InJson<ValueOf<typeof viewShapes.request>>[]
      | undefined;
    if (all.status !== 200 || requests === undefined)
      throw all.failed(all.status === 404 ? noControlPlane : isNot(all.status, "requests"));
    const last = requests.findLast(
      ({ status, source }) => (status < 200 || status > 299) && source === "client",
    );
    if (id === "last" && last === undefined)
      throw new SandboxError(
        "not_found",
        `${all.url} has rejected no request. Its journal has ${requests.length}.`,
      );
    const wanted = id === "last" ? (last?.id ?? "") : id;
    const reply = await this.#ask("get the request from", "GET", `/requests/${encodeURIComponent(wanted)}`);
    if (reply.status === 404) {
      const message = `The journal of ${all.url} has no request ${quote(id)}. It keeps the last 1,000 since the start or the last reset; list them with GET ${controlPath}/requests, or use "last" for the latest rejection.`;
      throw new SandboxError("not_found", message);
    }
    const details = readAs(detailsShape, reply.data) as
      | InJson<ValueOf<typeof requestDetailsShape>>
      | undefined;
    if (details === undefined) throw reply.failed(isNot(reply.status, "a request"));
    return details;
  }

  async export(): Promise<string> {
    const { status, text, failed } = await this.#ask("export", "GET", "/export", { maxBody: maxState });
    if (status === 200 && text.startsWith('{"svc_sandbox_state":') && !controls.test(text)) return text;
    const ofInstance = `${noControlPlane} An instance cannot be exported, only its server.`;
    throw failed(status === 404 ? ofInstance : isNot(status, "a state"));
  }

  /** Resolves once it no longer listens. */
  async stop() {
    const { url, status, data, failed } = await this.#ask("stop", "POST", "/stop");
    const stopping = readAs(stoppingShape, data);
    if (status === 404) {
      throw failed(
        "nothing can be stopped at this URL: the server runs with --no-control, or it is an instance (stop its server), or not a sandbox.",
      );
    }
    if (status !== 200 || stopping === undefined) {
      throw failed(`it returned ${status}, unlike a sandbox of this version.`);
    }
    // It responds before it stops, and then accepts no connections.
    const deadline = AbortSignal.timeout(this.#address.timeout);
    while ((await healthOf(url, this.#address.timeout)) !== undefined) {
      if (deadline.aborted) throw failed("it has not stopped yet.");
      await wait(20);
    }
    return { url, ...shown(stopping) };
  }

  async createInstance(settings: NewInstance) {
    const reply = await this.#ask("create an instance at", "POST", "/instances", { json: settings });
    return readOrFail(linkShape, reply, 201);
  }

  async instances() {
    const listed = await this.#ask("list the instances of", "GET", "/instances");
    const instances = readOrFail(listedShape, listed, 200);
    const { broken } = parsedJson(listed.text) as { readonly broken?: unknown };
    return { instances, broken: (readAs(brokenShape, broken) ?? []).map((one) => one.id) };
  }

  async link(id: string): Promise<string> {
    const path = `/instances/${encodeURIComponent(id)}/link`;
    return readOrFail(linkShape, await this.#ask("make a link at", "POST", path), 201).claim_url;
  }

  async remove(id: string): Promise<void> {
    const path = `/instances/${encodeURIComponent(id)}`;
    const { status, error, failed } = await this.#ask("remove an instance of", "DELETE", path);
    if (status !== 204) throw failed(error?.message ?? noControlPlane);
  }

  /** Exchanges the link of an instance, which works once. */
  static async claim(link: string, address: Omit<ControlAddress, "url" | "token">) {
    const { url, id, code } = readLink(link);
    const client = new ControlClient({ ...address, url });
    const reply = await client.#ask("claim the link at", "POST", `/instances/${id}/claim`, {
      json: { code },
    });
    const instance = readOrFail(claimedShape, reply, 200);
    const wrong = Object.entries(instance.environment).find(
      ([name, value]) => readAs(name.endsWith("_URL") ? urlText : keyText, value) === undefined,
    );
    if (wrong !== undefined)
      throw reply.failed(`its ${wrong[0]} is not ${wrong[0].endsWith("_URL") ? "a URL" : "a key"}.`);
    return instance;
  }

  async #ask(
    what: string,
    method: "GET" | "POST" | "DELETE",
    path: string,
    { maxBody = maxResponse, json }: { readonly maxBody?: number; readonly json?: object } = {},
  ): Promise<ControlReply> {
    const { url: given, token, tokenFrom, timeout, ca } = this.#address;
    const base = baseUrlIn(given);
    const url = new URL(base + controlPath + path);
    // A server may state it, and outputs end up in logs.
    const hide = (text: string) => (token === undefined ? text : text.replaceAll(token, "…"));
    const failed = (why: string) =>
      new SandboxError(
        "usage",
        `Failed to ${what} ${redactEncoded(method === "GET" ? url.href : base)}: ${hide(why)}`,
      );
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await send(url, {
      method,
      headers,
      timeout,
      maxBody,
      ca: ca === undefined ? undefined : authorityIn(ca),
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    if (isNoResponse(response)) throw failed(`${response.found}. ${response.hint}`);
    const { data, ...rest } = redactValue(jsonOf(response), hide) as { data?: unknown; error?: unknown };
    const rejection = readAs(errorShape, rest.error);
    const error = rejection && { ...rejection, message: line(rejection.message) };
    if (error?.code === "control_token_required") {
      throw failed(
        token === undefined
          ? "it requires its token: give it with --control-token."
          : `it rejects the token from ${tokenFrom}. Give its own with --control-token.`,
      );
    }
    const body = hide(new TextDecoder().decode(response.body));
    return { url: base, status: response.status, data, error, text: body, failed };
  }
}

function isNot(status: number, wanted: string): string {
  return `it returned ${status}, without ${wanted}. Is it a sandbox of this version?`;
}

const noControlPlane =
  "there is no control plane at this URL: the server runs with --no-control, the instance is gone, or it is not a sandbox.";

function readAs<Of extends Shape>(shape: Of, value: unknown): ValueOf<Of> | undefined {
  return mistakesIn(shape, value).length === 0 ? (value as ValueOf<Of>) : undefined;
}

function shown({ scenario, started_at: startedAt }: Omit<ValueOf<typeof healthShape>, "status" | "version">) {
  return scenario === undefined ? {} : { scenario: line(scenario), startedAt };
}

function line(given: string): string {
  return escapeControls(given.slice(0, 500));
}

/** Finds the svc-sandbox at an address, over HTTP or HTTPS; only its version is known without its control token. */
export async function findSandbox(authority: string) {
  for (const scheme of ["http", "https"]) {
    const url = `${scheme}://${authority}`;
    const health = await healthOf(url, 1000);
    if (health !== undefined) return { url, ...health };
  }
  return undefined;
}

async function healthOf(base: string, timeout: number) {
  const response = await send(new URL(`${base}${controlPath}/health`), { timeout, maxBody: 64 * 1024 });
  if (isNoResponse(response) || response.status !== 200) return undefined;
  const health = readAs(healthShape, jsonOf(response));
  return health && { version: health.version, ...shown(health) };
}

/** The response of a control plane; `failed` makes the error of a call that it rejected. */
interface ControlReply {
  readonly url: string;
  readonly status: number;
  readonly data: unknown;
  readonly error: ValueOf<typeof errorShape> | undefined;
  readonly text: string;
  readonly failed: (why: string) => SandboxError;
}

// Accepts any certificate on this machine, where plain HTTP would also be unchecked: most are self-signed.
function send(url: URL, options: SendOptions): Promise<RawResponse | NoResponse> {
  return sendOnce(url, { ...options, anyCertificate: options.ca === undefined && isLoopbackHost(url.host) });
}

function authorityIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SandboxError("usage", `Failed to read --ca ${quote(file)}: ${readFailure(error)}.`);
  }
}

function baseUrlIn(given: string): string {
  const url = readHttpUrl(given);
  if (url === undefined) {
    // Without the URL, which may contain a password.
    throw new SandboxError(
      "usage",
      "Invalid sandbox URL. Use its base URL or its control plane's URL, such as http://127.0.0.1:4747.",
    );
  }
  const [front = ""] = `${url.pathname.replace(/\/+$/, "")}/`.split(`${controlPath}/`);
  return url.origin + front.replace(/\/+$/, "");
}

function jsonOf({ body }: RawResponse): object {
  const json = parsedJson(new TextDecoder().decode(body));
  return typeof json === "object" && json !== null && !isTooDeep(json) ? json : {};
}

const plain = (max: number) => s.text({ max, pattern: /^[\x20-\x7E]*$/ });
const linkShape = s.openMapping({ claim_url: plain(600) });
const id = s.text({ max: 40, pattern: /^[\w-]+$/ });
const listedShape = s.list(
  s.openMapping({
    id,
    label: s.nullable(s.text()),
    expires_at: s.nullable(timeText),
    traffic: s.nullable(
      s.openMapping({ requests: s.count(), coverage: s.count(), last_path_id: s.nullable(plain(80)) }),
    ),
  }),
);
const brokenShape = s.list(s.openMapping({ id }));
// Nothing else may get into a file that a shell reads, and later commands of ours.
const urlText = s.text({ max: 500, pattern: /^https?:\/\/[\w.~/:@[\]%-]+$/ });
const keyText = s.text({ max: 200, pattern: /^[\w.~-]+$/ });
const claimedShape = s.openMapping({
  base_url: plain(500),
  control_url: plain(500),
  token: s.text({ max: 200, pattern: /^[\w.~+/=-]+$/ }),
  environment: s.record(
    s.text(),
    s.text({ pattern: /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_[A-Z0-9_]+)$/ }),
  ),
});

export type InstanceSummary = ValueOf<typeof listedShape>[number];

interface NewInstance {
  readonly label?: string | undefined;
  readonly expires?: string | undefined;
  readonly scenario?: string | undefined;
  readonly seed?: number | undefined;
}

/** The address in a claim link, with the id of its instance and its code. */
function readLink(link: string) {
  // The Windows command prompt keeps single quotes.
  const url = readHttpUrl(link.replace(/^'(.*)'$/, "$1").replace(/#.*$/, ""));
  const [, code] = /#code=(\w{1,80})'?$/.exec(link) ?? [];
  const [, base, id] = /^(.*)\/i\/([\w-]{1,40})\/__sandbox\/?$/.exec(url?.pathname ?? "") ?? [];
  if (url !== undefined && code !== undefined && id !== undefined)
    return { url: url.origin + base, id, code };
  // Without the link, whose code may be valid.
  throw new SandboxError(
    "usage",
    `Invalid link. Use the whole link in quotes, such as 'https://sandbox.example/i/aB3/__sandbox/#code=xY4'.`,
  );
}

function readOrFail<Of extends Shape>(
  shape: Of,
  { status, data, error, failed }: ControlReply,
  wanted: number,
): ValueOf<Of> {
  const content = status === wanted ? readAs(shape, data) : undefined;
  if (content !== undefined) return content;
  throw failed(error?.message ?? (status === 404 ? noControlPlane : isNot(status, "an instance")));
}
