import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pick, randomStream } from "../src/domain/seed.js";
import { openWorld } from "../src/node/platform.js";
import { secretOf } from "../src/scenario/generated-values.js";
import { describedKeys } from "../src/scenario/population.js";
import { serveRuntime } from "../src/serve/serve.js";
import { createRuntime } from "../src/world/runtime.js";
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
  const described = [...describedKeys(world.scenario)];
  const used = Array.from({ length: Math.min(usedKeys, count) }, () => pick(draw, described));
  // A population cannot say so.
  for (const { ref } of isPopulation ? used : []) {
    const entry = world.registry.key(ref);
    entry.key = { ...entry.key, limits: noLimits };
  }
  return { port: Number(new URL(url).port), keys: used.map((one) => secretOf(one, world.seed)) };
}

function serveBare({ headers, body }: Extract<ServerOrder, { kind: "bare" }>): Promise<ServerReady> {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers as string[]);
    response.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, keys: [] }));
  });
}

// A bench that fails must not leave its servers behind.
process.once("disconnect", () => process.exit());
process.once("message", async (order: ServerOrder) => {
  process.send?.(await (order.kind === "bare" ? serveBare(order) : serveSandbox(order)));
});
