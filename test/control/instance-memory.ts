import { startServer } from "../../src/node/index.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";

// Prints the heap bytes of one instance, as the mean of two hundred: of a bundled scenario, of one that was sent, and of
// one that has answered twenty requests.

const server = await startServer();

async function create(scenario: unknown): Promise<{ base_url: string; keys: Record<string, string> }> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ scenario }) };
  return (await (await fetch(`${server.controlUrl}/instances`, init)).json()).data;
}

async function use(): Promise<void> {
  const { base_url, keys } = await create("key-states");
  const headers = { "x-api-key": keys.active as string };
  for (let i = 0; i < 20; i++) await (await fetch(`${base_url}/v1/relying-party/me`, { headers })).text();
}

/** Heap bytes after garbage collection. */
async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const measured = [];
for (const work of [() => create("key-states"), () => create(bundledScenarios["key-states"]), use]) {
  // What the first one makes for all does not count.
  await work();
  const before = await heap();
  for (let i = 0; i < 200; i++) await work();
  measured.push(Math.round(((await heap()) - before) / 200));
}
await server.close(0);
process.stdout.write(`${JSON.stringify(measured)}\n`);
