import { Agent, request } from "node:http";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startClient, startCommand } from "./children.js";
import { type Figure, figureOf, median } from "./figure.js";
import { noLimits, scenarioFile } from "./scenario.js";

const mePath = "/v1/relying-party/me";
/** The connections of the partner who floods, with one request in progress on each. */
const connections = 64;

interface Made {
  readonly id: string;
  readonly keys: Readonly<Record<"free" | "limited", string>>;
}

/**
 * Compares the median response time of one partner while another one floods with requests that get 429, and while nobody
 * does: once the other's instance has a limit, and once only its key.
 */
export async function measureFairness({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const limits = { per_minute: noLimits.perMinute, per_day: noLimits.perDay };
  const keys = {
    free: { environment: "test" as const, limits },
    limited: { environment: "test" as const, limits: { per_minute: 0 } },
  };
  const scenario = { version: 1 as const, organizations: { bank: { type: "bank" as const, keys } } };
  const server = await startCommand(node, await scenarioFile(bundle, scenario));
  const control = `http://127.0.0.1:${server.port}/__sandbox/instances`;
  const create = async (body: object): Promise<Made> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(control, { method: "POST", headers, body: JSON.stringify(body) });
    return ((await response.json()) as { data: Made }).data;
  };
  const [partner, limited, free] = [
    await create({}),
    await create({ requests_per_minute: 60 }),
    await create({}),
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const measure = async () => {
    const times: number[] = [];
    for (let n = 0; n < (quick ? 300 : 1000); n += 1) times.push(await timeOf(agent, server.port, partner));
    return median(times);
  };
  const whileFlooding = async ({ id, keys }: Made) => {
    const client = startClient(bundle.client);
    const order = {
      port: server.port,
      connections,
      bases: [`/i/${id}`],
      keys: [keys.limited],
      statuses: [429],
      closing: "}}",
    };
    // Its process runs, and the limit is reached.
    await client.load({ ...order, requests: 2 * connections });
    client.load({ ...order, requests: 5e6 }).catch(() => {});
    const found = await measure();
    await client.stop();
    return found;
  };
  await measure();
  const rounds = { limited: [] as number[], free: [] as number[] };
  for (let round = 0; round < (quick ? 3 : 7); round += 1) {
    const alone = await measure();
    rounds.limited.push((await whileFlooding(limited)) / alone);
    rounds.free.push((await whileFlooding(free)) / alone);
  }
  agent.destroy();
  await server.stop();
  return [
    figureOf("fairness, median beside a flood / alone", rounds.limited, { atMost: 2 }),
    figureOf("fairness, the same without requests_per_minute", rounds.free),
  ];
}

/** Milliseconds from a request to the end of its response. */
function timeOf(agent: Agent, port: number, { id, keys }: Made): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const headers = { "x-api-key": keys.free };
    request({ agent, port, path: `/i/${id}${mePath}`, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`expected a 200 and got ${response.statusCode}`));
      response.resume().once("end", () => resolve(performance.now() - started));
    })
      .once("error", reject)
      .end();
  });
}
