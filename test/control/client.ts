import { Agent, type IncomingHttpHeaders } from "node:http";
import { expect, onTestFinished } from "vitest";
import { stateOf } from "../../src/library/sandbox-api.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { type SandboxServer, type ServerOptions, startServer } from "../../src/server/index.js";
import { snapshot } from "../support/continued.js";
import { exchange } from "../support/exchange.js";
import { expectSafeHeaders } from "./calls.js";

/** What to ask the control plane. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is; its type stands in `headers`. */
  readonly bytes?: string | Buffer;
}

/** A response as it came over the wire. */
interface ControlResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly body: any;
}

/** Asks the control plane; every response must have safe headers. */
export type Ask = (path: string, asking?: Asking) => Promise<ControlResponse>;

/** A server with a client of its control plane. */
export interface ServedControl {
  readonly server: SandboxServer;
  readonly sandbox: SandboxState;
  readonly ask: Ask;
  /** Everything that the control plane has said to this client: status lines, headers and bodies. */
  readonly heard: readonly string[];
  /** What the server has told of its defects; that there are none is checked at the end of the test. */
  readonly defects: unknown[];
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
    sandbox: stateOf(server.sandbox),
    ask: clientOf(server.url, heard),
    heard,
    defects,
  };
}

/** A client of the control plane of a server. */
export function clientOf(url: string, heard: string[] = []): Ask {
  const agent = new Agent({ keepAlive: true });
  return async (path, { method = "GET", headers = {}, json, bytes } = {}) => {
    const body = json === undefined ? bytes : JSON.stringify(json);
    const typed =
      method === "GET" || bytes !== undefined ? headers : { "content-type": "application/json", ...headers };
    const whole = `/__sandbox${path}`;
    const response = await exchange(url, {
      method,
      path: whole,
      headers: typed,
      ...(body !== undefined && { body }),
      agent,
    });
    const text = response.bytes.toString();
    heard.push(`${response.status} ${response.pairs.flat().join("\n")}\n${text}`);
    const seen = { status: response.status, headers: response.headers, text };
    expectSafeHeaders(seen);
    const isJson = text !== "" && response.headers["content-type"]?.startsWith("application/json");
    return { ...seen, body: isJson ? JSON.parse(text) : undefined };
  };
}

/** Does something and expects that it leaves everything as it was: the sandbox, its journal, the events. */
export async function expectUnchanged<Result>(
  { sandbox, server }: ServedControl,
  act: () => Promise<Result>,
): Promise<Result> {
  const seen = () => ({
    snapshot: snapshot(server.sandbox),
    keys: server.sandbox.keys.list(),
    requests: server.sandbox.requests.list(),
  });
  const { registry } = sandbox;
  const before = seen();
  const events: string[] = [];
  const stop = sandbox.journal.subscribe(({ type }) => events.push(type));
  const result = await act();
  stop();
  expect(events).toEqual([]);
  expect(seen()).toEqual(before);
  expect(sandbox.registry).toBe(registry);
  return result;
}
