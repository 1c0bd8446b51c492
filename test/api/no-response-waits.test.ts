import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { Agent as PlainAgent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SandboxServer, startServer } from "../../src/server/index.js";
import { mePath } from "../support/send.js";

/** Whether each response was written to its connection before anything else could happen in the process. */
let writtenAtOnce: boolean[] = [];

// Node publishes it before the server sees the request; a microtask runs as soon as the server is done with it.
function watch(message: unknown): void {
  const { response, socket } = message as { response: ServerResponse; socket: Socket };
  const before = socket.bytesWritten;
  queueMicrotask(() => writtenAtOnce.push(response.writableEnded && socket.bytesWritten > before));
}

beforeAll(() => subscribe("http.server.request.start", watch));
afterAll(() => unsubscribe("http.server.request.start", watch));
beforeEach(() => {
  writtenAtOnce = [];
});

interface Asked {
  readonly key?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const requests: readonly (readonly [outcome: string, asked: Asked])[] = [
  ["401.missing", {}],
  ["401.unknown", { headers: { "x-api-key": "SVC_test_sbxNotKnownToThisSandbox" } }],
  ["401.revoked", { key: "revoked" }],
  ["403.insufficient_scope", { key: "wrong-scope" }],
  ["405.method", { key: "active", method: "DELETE" }],
  ["200.test", { key: "active" }],
  ["200.test", { key: "active", method: "HEAD" }],
  // A body whose end has not come yet.
  ["401.revoked", { key: "revoked", headers: { "transfer-encoding": "chunked" }, body: "x" }],
];

describe.each([false, true])("a server (TLS: %s)", (tls) => {
  let server: SandboxServer;
  const Agent = tls ? TlsAgent : PlainAgent;
  let kept: PlainAgent;
  beforeEach(async () => {
    server = await startServer({ scenario: "key-states", frozen: true, tls });
    kept = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false } as object);
  });
  afterEach(async () => {
    kept.destroy();
    await server.close(0);
  });

  /** Sends a request, and resolves once it is responded to. */
  function ask({ key, path = mePath, method = "GET", headers = {}, body }: Asked, agent: PlainAgent) {
    return new Promise<void>((resolve, reject) => {
      const key_ = key === undefined ? {} : { "x-api-key": server.sandbox.secret(key as never) };
      const options = { agent, method, headers: { ...key_, ...headers } };
      const responded = (response: IncomingMessage) =>
        void response.resume().on("end", resolve).on("error", reject);
      const sending: ClientRequest = (tls ? tlsRequest : request)(server.url + path, options, responded);
      sending.on("error", reject);
      if (body === undefined) sending.end();
      else sending.once("response", () => sending.end()).write(body);
    });
  }

  test.each(requests)("R14 sends a response to %s in the turn that reads it: %j", async (outcome, asked) => {
    for (let i = 0; i < 3; i++) {
      await ask(asked, kept);
      await ask(asked, new Agent({ rejectUnauthorized: false } as object));
    }
    expect(server.sandbox.requests.list().map((one) => one.outcome)).toEqual(Array(6).fill(outcome));
    expect(writtenAtOnce).toEqual(Array(6).fill(true));
  });
});
