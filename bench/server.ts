import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openWorld } from "../src/node/open-world.js";
import { serveWorld } from "../src/node/start-server.js";
import { scenarioSecret } from "../src/sandbox/world.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import type { ServerOrder, ServerReading, ServerReady } from "./messages.js";

/** The world of the bench: keys that are never rate-limited, five for each organization. */
export function benchScenario(keys: number): Scenario {
  const limits = { per_minute: 1e9, per_day: 1e9 };
  const organizations: NonNullable<Scenario["organizations"]> = {};
  for (let i = 0; i < keys; i += 5) {
    const refs = Array.from({ length: Math.min(5, keys - i) }, (_, k) => `key-${i + k}`);
    organizations[`organization-${i / 5}`] = {
      name: "Harvest Cooperative Bank",
      type: "bank",
      keys: Object.fromEntries(refs.map((ref) => [ref, { environment: "test", name: "Core banking", limits }])),
    };
  }
  return { version: 1, name: "Bench", organizations };
}

const usedKeys = 1000;

async function serveSandbox(count: number): Promise<ServerReady> {
  const world = await openWorld(benchScenario(count));
  const { url } = await serveWorld(world, { port: 0 });
  // A fixed step that shares no factor with the count visits keys all over the table, each at most once.
  const step = 7_919;
  const refs = Array.from({ length: Math.min(usedKeys, count) }, (_, i) => `key-${(i * step) % count}`);
  return { port: Number(new URL(url).port), keys: secretsOf(refs) };

  function secretsOf(of: readonly string[]): string[] {
    return of.map((ref) => scenarioSecret(world, ref));
  }
}

function serveBare(headers: readonly string[], body: string): Promise<ServerReady> {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers as string[]);
    response.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, keys: [] }));
  });
}

let cpuBefore = process.cpuUsage();

function read(): ServerReading {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage(cpuBefore);
  cpuBefore = process.cpuUsage();
  return { heap: globalThis.gc === undefined ? 0 : process.memoryUsage().heapUsed, cpu: user + system };
}

process.once("message", (order: ServerOrder) => {
  const serving = order.kind === "bare" ? serveBare(order.headers, order.body) : serveSandbox(order.keys);
  serving.then((ready) => {
    process.send?.(ready);
    process.on("message", (question) => (question === "quit" ? process.exit() : process.send?.(read())));
  });
});
