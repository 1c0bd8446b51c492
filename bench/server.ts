import { createServer, type OutgoingHttpHeaders } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { createClient } from "@redis/client";
import { randomStream } from "../src/domain/seed.js";
import { openWorld } from "../src/node/platform.js";
import { serveRuntime } from "../src/node/server/serve-runtime.js";
import { describedKeys } from "../src/sandbox/described.js";
import { createRuntime } from "../src/sandbox/runtime.js";
import { secretOf } from "../src/sandbox/scenario-keys.js";
import type { ServerOrder, ServerReady } from "./messages.js";
import { benchScenario, noLimits, populatedScenario } from "./scenario.js";

const usedKeys = 1000;

type SandboxOrder = Extract<ServerOrder, { kind: "sandbox" }>;

async function serveSandbox({ keys: count, isPopulation = false }: SandboxOrder): Promise<ServerReady> {
  const world = openWorld(isPopulation ? populatedScenario(count) : benchScenario(count));
  const { url } = await serveRuntime(
    createRuntime(() => world),
    { port: 0 },
  );
  const draw = randomStream(1, "bench.keys");
  const described = describedKeys(world.scenario);
  const used = Array.from({ length: Math.min(usedKeys, count) }, () =>
    described.at(Math.floor((draw() / 2 ** 32) * described.size)),
  );
  // A population cannot say so.
  for (const { ref } of isPopulation ? used : []) {
    const entry = world.registry.key(ref);
    entry.key = { ...entry.key, limits: noLimits };
  }
  return { port: Number(new URL(url).port), keys: used.map((one) => secretOf(one, world.seed)) };
}

type BareOrder = Extract<ServerOrder, { kind: "bare" }>;

async function serveBare({ headers, body, redis, tls }: BareOrder): Promise<ServerReady> {
  if (tls !== undefined) return serveBareHttp2({ headers, body, tls });
  const client = redis === undefined ? undefined : await createClient({ url: redis }).connect();
  const server = createServer((_request, response) => {
    const answer = () => {
      response.writeHead(200, headers as string[]);
      response.end(body);
    };
    if (client === undefined) answer();
    else void client.incr("requests").then(answer);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, keys: [] }));
  });
}

function serveBareHttp2({ headers, body, tls }: Omit<BareOrder, "kind">): Promise<ServerReady> {
  const sent: OutgoingHttpHeaders = { ":status": 200 };
  for (let i = 0; i < headers.length; i += 2) sent[(headers[i] as string).toLowerCase()] = headers[i + 1];
  const server = createSecureServer({ ...tls });
  server.on("stream", (stream) => {
    stream.respond(sent);
    stream.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, keys: [] }));
  });
}

/** Bytes in use after a full collection. */
function memoryUsed(): number {
  if (globalThis.gc === undefined) throw new Error("the server was started without --expose-gc");
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

// A bench that fails must not leave its servers behind.
process.once("disconnect", () => process.exit());
process.once("message", (order: ServerOrder) => {
  const serving = order.kind === "bare" ? serveBare(order) : serveSandbox(order);
  serving.then((ready) => {
    process.send?.(ready);
    process.on("message", () => process.send?.(memoryUsed()));
  });
});
