import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { expect, onTestFinished } from "vitest";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import { type SandboxServer, type ServerOptions, startServer } from "../../src/node/server/start-server.js";
import type { Runtime } from "../../src/sandbox/runtime.js";
import { expectDescribed } from "./described.js";

/** What to ask the control plane. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is; its type stands in `headers`. */
  readonly bytes?: string | Buffer;
  /** Where the control plane is an instance's: `/i/…`. */
  readonly base?: string;
}

/** An answer as it came over the wire. */
export interface ControlAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly body: any;
}

/** Asks the control plane; every answer is checked against the description. */
export type Ask = (path: string, asking?: Asking) => Promise<ControlAnswer>;

/** A server with a client of its control plane. */
export interface ServedControl {
  readonly server: SandboxServer;
  readonly runtime: Runtime;
  readonly ask: Ask;
  /** Everything that the control plane has said to this client: status lines, headers and bodies. */
  readonly heard: readonly string[];
  /** What the server has told of its defects; that there are none is checked at the end of the test. */
  readonly defects: readonly unknown[];
}

/** Serves a sandbox, frozen unless told otherwise, until the test is over. */
export async function serveControl(options: ServerOptions = {}): Promise<ServedControl> {
  const defects: unknown[] = [];
  const onDefect = (error: unknown) => defects.push(error);
  const server = await startServer({ frozen: true, ...options, onDefect });
  onTestFinished(async () => {
    await server.close(0);
    expect(defects).toEqual([]);
  });
  const heard: string[] = [];
  return {
    server: server as SandboxServer,
    runtime: runtimeOf(server.sandbox),
    ask: clientOf(server.url, heard),
    heard,
    defects,
  };
}

/** A client of the control plane of a server. Not `fetch`, which would not send a foreign `Host` or a wrong body. */
export function clientOf(url: string, heard: string[] = []): Ask {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true });
  return (path, { method = "GET", headers = {}, json, bytes, base = "" } = {}) => {
    const body = json === undefined ? bytes : JSON.stringify(json);
    const sent = {
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
      ...(headers as Record<string, string>),
    };
    const whole = `${base}/__sandbox${path}`;
    return new Promise((resolve, reject) => {
      const sending = httpRequest(
        { host: hostname, port, path: whole, method, headers: sent, agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString();
            heard.push(`${response.statusCode} ${response.rawHeaders.join("\n")}\n${text}`);
            const answer = { status: response.statusCode ?? 0, headers: response.headers, text };
            const type = (sent as Record<string, string>)["content-type"];
            try {
              const sent = { type, json: json ?? jsonOf(bytes) };
              expectDescribed({ ...answer, method, path: whole, sent });
              resolve({ ...answer, body: isJson(answer) ? JSON.parse(text) : undefined });
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      sending.on("error", reject);
      sending.end(body);
    });
  };
}

function isJson({ headers, text }: Pick<ControlAnswer, "headers" | "text">): boolean {
  return text !== "" && String(headers["content-type"]).startsWith("application/json");
}

function jsonOf(bytes: string | Buffer | undefined): unknown {
  try {
    return JSON.parse(String(bytes ?? "{}"));
  } catch {
    return undefined;
  }
}

/** Does something and expects that it leaves everything as it was: the world, its journal, the instances, the events. */
export async function expectUnchanged<Result>(
  { runtime, server, ask }: ServedControl,
  act: () => Promise<Result>,
): Promise<Result> {
  const seen = async () => ({
    snapshot: server.sandbox.snapshot(),
    keys: server.sandbox.keys.list(),
    requests: server.sandbox.requests.list(),
    instances: (await ask("/instances", tokenOf(server))).body.data,
  });
  const world = runtime.world();
  const before = await seen();
  const events: string[] = [];
  const stop = runtime.subscribe(({ type }) => events.push(type));
  const result = await act();
  stop();
  expect(events).toEqual([]);
  expect(await seen()).toEqual(before);
  expect(runtime.world()).toBe(world);
  return result;
}

function tokenOf({ controlToken }: SandboxServer): Asking {
  return controlToken === undefined ? {} : { headers: { authorization: `Bearer ${controlToken}` } };
}
