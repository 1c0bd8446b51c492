import { bundledScenarios } from "../../src/scenario/bundled.js";
import { startServer } from "../../src/server/index.js";

// Prints the heap bytes of an instance with a scenario that was sent, which has responded to twenty requests, as the mean
// of fifty.

const server = await startServer();
const headers = { "content-type": "application/json" };
const body = JSON.stringify({ scenario: bundledScenarios["key-states"] });

async function useInstance(): Promise<void> {
  const made = await fetch(`${server.controlUrl}/instances`, { method: "POST", headers, body });
  const { base_url, keys } = (await made.json()).data;
  const init = { headers: { "x-api-key": keys.active } };
  for (let i = 0; i < 20; i++) await (await fetch(`${base_url}/v1/relying-party/me`, init)).text();
}

/** Heap bytes after garbage collection. */
async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

// What the first one makes for all does not count.
await useInstance();
const before = await heap();
for (let i = 0; i < 50; i++) await useInstance();
process.stdout.write(String(Math.round(((await heap()) - before) / 50)));
await server.close(0);
