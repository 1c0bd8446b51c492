import { createSandbox } from "../../src/index.js";
import { startServer } from "../../src/node/index.js";

// Prints the heap bytes of one instance, as the mean of two hundred: of a bundled scenario, of one that was sent, and of
// one that has answered twenty requests.

const server = await startServer();

async function create(body: object): Promise<{ base_url: string; keys: Record<string, string> }> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${server.controlUrl}/instances`, init);
  return ((await response.json()) as { data: never }).data;
}

/** Heap bytes after garbage collection. */
async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

async function bytesEach(work: () => Promise<unknown>): Promise<number> {
  // What the first one makes for all does not count.
  await work();
  const before = await heap();
  for (let i = 0; i < 200; i++) await work();
  return Math.round(((await heap()) - before) / 200);
}

const scenario = createSandbox({ scenario: "key-states" }).snapshot();
const measured = {
  bundled: await bytesEach(() => create({ scenario: "key-states" })),
  sent: await bytesEach(() => create({ scenario })),
  used: await bytesEach(async () => {
    const { base_url, keys } = await create({ scenario: "key-states" });
    const headers = { "x-api-key": keys.active as string };
    for (let i = 0; i < 20; i++) await (await fetch(`${base_url}/v1/relying-party/me`, { headers })).text();
  }),
};
await server.close(0);
process.stdout.write(`${JSON.stringify(measured)}\n`);
