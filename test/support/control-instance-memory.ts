import { createSandbox } from "../../src/index.js";
import { startServer } from "../../src/node/server/start-server.js";

// Prints what one instance keeps on the heap, as the mean of two hundred: of a bundled scenario, of one that was sent,
// and of one that has answered twenty requests.

const instances = 200;
const server = await startServer();
const scenario = createSandbox({ scenario: "key-states" }).snapshot();

async function create(body: object): Promise<{
  readonly base_url: string;
  readonly keys: Record<string, string>;
}> {
  const response = await fetch(`${server.controlUrl}/instances`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { data: never }).data;
}

/** Bytes on the heap once everything that nobody holds is gone. */
async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

async function bytesEach(work: () => Promise<unknown>): Promise<number> {
  // What is made once, whoever asks first, is not the instances' own.
  await work();
  const before = await heap();
  for (let i = 0; i < instances; i++) await work();
  return Math.round(((await heap()) - before) / instances);
}

const measured = {
  bundled: await bytesEach(() => create({ scenario: "key-states" })),
  sent: await bytesEach(() => create({ scenario })),
  used: await bytesEach(async () => {
    const { base_url, keys } = await create({ scenario: "key-states" });
    const headers = { "x-api-key": keys.active as string };
    for (let i = 0; i < 20; i++) {
      await (await fetch(`${base_url}/v1/relying-party/me`, { headers })).arrayBuffer();
    }
  }),
};
await server.close(0);
process.stdout.write(`${JSON.stringify(measured)}\n`);
