import type { AddressInfo } from "node:net";
import { runtimeKey, type SandboxOptions, sandboxOptions } from "../library/create-sandbox.js";
import type { Sandbox } from "../library/sandbox.js";
import { parseReport, type Report } from "../report/report-shape.js";
import { durationOf, instantOf, isoOf, writtenInstant } from "../sandbox/clock.js";
import type { Actor } from "../sandbox/steps.js";
import type { ControlResponse } from "../server/control/responses.js";
import type { RunningServer } from "../server/serve.js";
import { SandboxError, type SandboxErrorCode } from "../spec/errors.js";
import { requireKnownOptions } from "../spec/schema/check.js";
import { camelCase, parsedJson, snakeCase } from "../spec/schema/json.js";

type JoinedSandbox = ReturnType<typeof joinSandbox>;

const joined = new WeakMap<Sandbox, JoinedSandbox>();

export async function useJoined(
  controlUrl: string,
  given: SandboxOptions,
  use: (sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  requireKnownOptions("create the sandbox", given, sandboxOptions);
  const now = given.now === undefined ? undefined : isoOf(instantOf(given.now));
  const instance = joinSandbox(controlUrl, process.env.SVC_SANDBOX_CONTROL_TOKEN, { ...given, now });
  joined.set(instance.sandbox, instance);
  await use(instance.sandbox);
  await instance.leave();
}

export async function serveJoined(
  sandbox: Sandbox,
  use: (server: Omit<RunningServer, "close">) => Promise<void>,
): Promise<boolean> {
  const instance = joined.get(sandbox);
  if (instance === undefined) return false;
  const { url, close } = await forwardTo(instance.url);
  const { SVC_SANDBOX_CONTROL_TOKEN: controlToken } = process.env;
  await use({ url, localUrl: url, controlUrl: instance.controlUrl, controlToken, certificate: undefined });
  close();
  return true;
}

const http = process.getBuiltinModule("node:http");
const https = process.getBuiltinModule("node:https");

/** A path with a leading slash, such as `/v1/…`, would leave an instance's base URL. Faults reset, hold and cut its connections. */
async function forwardTo(baseUrl: string) {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const { request } = protocol === "https:" ? https : http;
  const server = http.createServer((incoming, outgoing) => {
    const { socket, method, url: path = "/", rawHeaders: headers } = incoming;
    const to = { protocol, hostname, port, path: pathname + path, method, agent: false };
    const sent = request({ ...to, headers: headers as never, setHost: false }, (response) => {
      outgoing.sendDate = false;
      outgoing.writeHead(response.statusCode as number, response.statusMessage, response.rawHeaders);
      // The client gets the head and the received part of the body.
      response.once("error", () => socket.destroySoon()).pipe(outgoing);
    });
    sent.once("error", () => (outgoing.headersSent ? socket.destroySoon() : socket.resetAndDestroy()));
    outgoing.once("close", () => outgoing.writableFinished || sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function joinSandbox(controlUrl: string, token: string | undefined, given: object) {
  const { call, end } = startCalls(token);
  const dataOf = (text: string) => (text === "" ? undefined : JSON.parse(text).data);
  const started: ControlResponse<"Instance"> = dataOf(call("POST", `${controlUrl}/instances`, given));
  const { base_url: url, control_url: control, keys } = started;
  const ask = (method: string, path: string, body?: unknown, by?: { readonly actor?: Actor }) =>
    dataOf(call(method, control + path, body, by?.actor));
  const camel: Camel = (...words) => camelCase(ask(...words)) as never;
  const state = (): ControlResponse<"State"> => ask("GET", "/state");
  const sandbox: Sandbox = {
    get name() {
      return state().scenario;
    },
    get seed() {
      return state().seed;
    },
    get profile() {
      return state().assumptions.profile;
    },
    get assumptions() {
      const { profile: _, ...others } = state().assumptions;
      return others;
    },
    secret(ref) {
      const key = keys[ref];
      if (key !== undefined || ref === "none") return key as never;
      const known = Object.keys(keys).join(", ");
      const message = `There is no key ${JSON.stringify(ref)} in the scenario. Its keys: ${known}.`;
      throw new SandboxError("unknown_ref", message);
    },
    fetch(input, init) {
      const request = new Request(input, init);
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(url + pathname + search, request));
    },
    clock: clockOver(ask),
    keys: keysOver(camel),
    organizations: {
      list: () => camel("GET", "/organizations"),
      get: (ref) => camel("GET", at("/organizations", ref)),
      update: (ref, change, by) => camel("PATCH", at("/organizations", ref), snakeCase(change), by),
    },
    farmers: missing,
    records: missing,
    faults: {
      list: () => ask("GET", "/faults"),
      set: (faults) => ask("PUT", "/faults", { faults }),
    },
    requests: {
      list: (query = {}) => camel("GET", `/requests?${new URLSearchParams(snakeCase(query) as never)}`),
      // An instance's journal contains the last 1,000 requests.
      total: () => ask("GET", "/requests").length,
      clear: () => ask("DELETE", "/requests"),
    },
    expect: (expectation = {}) =>
      ask("GET", `/expect?${new URLSearchParams(snakeCase(expectation) as never)}`).count,
    report: () => parseReport(ask("GET", "/report")) as Report,
    capture: missing,
    snapshot: missing,
    reset: () => ask("POST", "/reset", {}),
  };
  Object.defineProperty(sandbox, runtimeKey, { get: elsewhere });
  return {
    sandbox,
    url,
    controlUrl: control,
    leave() {
      call("DELETE", `${controlUrl}/instances/${started.id}`);
      return end();
    },
  };
}

const at = (folder: string, ref: string) => `${folder}/${encodeURIComponent(ref)}`;

type Ask = (method: string, path: string, body: unknown) => ControlResponse<"Clock">;

function clockOver(ask: Ask): Sandbox["clock"] {
  return {
    now: () => ask("GET", "/clock", undefined).now,
    isFrozen: () => ask("GET", "/clock", undefined).frozen,
    advance: (by) => ask("POST", "/clock/advance", { by: `${durationOf(by)}ms` }).now,
    set: (to) => ask("PUT", "/clock", { now: isoOf(instantOf(to)) }).now,
    freeze: () => ask("PUT", "/clock", { frozen: true }),
    resume: () => ask("PUT", "/clock", { frozen: false }),
  };
}

type Camel = (method: string, path: string, body?: unknown, by?: { readonly actor?: Actor }) => never;

function keysOver(camel: Camel): Sandbox["keys"] {
  return {
    list: () => camel("GET", `/keys?limit=${Number.MAX_SAFE_INTEGER}`),
    get: (ref) => camel("GET", at("/keys", ref)),
    create({ expires, ...creation }, by) {
      const given = { ...(snakeCase(creation) as object), expires: writtenInstant(expires) };
      return camel("POST", "/keys", given, by);
    },
    rotate(ref, { overlap, as } = {}, by) {
      const minutes = overlap === undefined ? undefined : durationOf(overlap) / 60_000;
      return camel("POST", `${at("/keys", ref)}/rotate`, { overlap_minutes: minutes, as }, by);
    },
    revoke: (ref, by) => camel("POST", `${at("/keys", ref)}/revoke`, {}, by),
    expire: (ref, { expires }, by) =>
      camel("POST", `${at("/keys", ref)}/expire`, { expires: writtenInstant(expires) }, by),
  };
}

function elsewhere(): never {
  throw new SandboxError(
    "usage",
    "Under svc-sandbox exec the sandbox runs in another process, without this member. Use server.url, or create one with createSandbox().",
  );
}

/** Throws when it is called, or a member of it is read. */
const missing = new Proxy(elsewhere, { get: elsewhere }) as never;

const { MessageChannel, receiveMessageOnPort, Worker } = process.getBuiltinModule("node:worker_threads");

const longestWait = 30_000;

// A separate thread also protects these calls from a test's msw, undici and fake timers.
const caller = `
const { parentPort } = require("node:worker_threads");
parentPort.on("message", async ({ url, options, port, done }) => {
  const reply = await fetch(url, options).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error) => ({ failure: (error.cause ?? error).message }),
  );
  port.postMessage(reply);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
});`;

type Reply = { readonly status: number; readonly text: string } | { readonly failure: string };

function startCalls(token: string | undefined) {
  const worker = new Worker(caller, { eval: true, execArgv: [] });
  worker.unref();
  return {
    /** Returns the response's text. Throws its `SandboxError`, or `usage` without a response. */
    call(method: string, url: string, body?: unknown, actor?: string): string {
      const headers = {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(actor !== undefined && { "x-sandbox-actor": actor }),
      };
      const options = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const done = new Int32Array(new SharedArrayBuffer(4));
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ url, options, port: port2, done }, [port2]);
      Atomics.wait(done, 0, 0, longestWait);
      const reply = receiveMessageOnPort(port1)?.message as Reply | undefined;
      port1.close();
      if (reply === undefined || "failure" in reply) {
        const why = reply?.failure ?? `no response within ${longestWait / 1000} s`;
        throw new SandboxError("usage", `Failed to call the sandbox of SVC_CONTROL_URL: ${why}.`);
      }
      if (reply.status < 400) return reply.text;
      const { error } = (parsedJson(reply.text) ?? {}) as { error?: SandboxError };
      const { code = "usage", message = `Failed to call the sandbox: it returned ${reply.status}.` } =
        error ?? {};
      throw new SandboxError(code as SandboxErrorCode, message, error?.details);
    },
    end: () => worker.terminate(),
  };
}
