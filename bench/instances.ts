import { rm } from "node:fs/promises";
import { join } from "node:path";
import { control } from "../test/support/call-control.js";
import { type Figure, figureOf } from "./figure.js";
import type { Bundle, ServerChild } from "./programs.js";
import { benchScenario, scenarioFile, startClient, startCommand } from "./programs.js";
import { cpuOf, create } from "./replicas.js";
import { type BenchArguments, connections } from "./rounds.js";

const counts = [1, 100, 500] as const;

/** What a change and saving requests cost a server with `--state`, by its number of instances. */
export async function measureInstances(args: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const file = await scenarioFile(bundle, benchScenario(10));
  const stateOf = (count: number) => join(bundle.folder, `state-${count}.json`);
  const alone = await startCommand(args.node, file, []);
  const kept = new Map<number, ServerChild>();
  const bases = new Map<ServerChild, string[]>();
  for (const count of counts)
    kept.set(count, await startCommand(args.node, file, ["--state", stateOf(count)]));
  const all = [alone, ...kept.values()];
  const client = startClient(bundle.client);
  try {
    for (const [count, server] of [[50, alone] as const, ...kept])
      bases.set(server, await createAll(server, count));
    const changes = args.quick ? 200 : 1000;
    const costOfChanges = async (server: ServerChild) => {
      const url = `http://127.0.0.1:${server.port}${(bases.get(server) as string[])[0]}/__sandbox`;
      const before = cpuOf(server.pid);
      for (let n = 0; n < changes; n += 1) await control(url, "PUT /clock", { frozen: n % 2 === 0 });
      return cpuOf(server.pid) - before;
    };
    const costOfRequests = async (server: ServerChild) => {
      const before = cpuOf(server.pid);
      const requests = args.quick ? 5000 : 20_000;
      const own = (bases.get(server) as string[]).slice(0, 50);
      await client.load({ port: server.port, keys: alone.keys, bases: own, connections, requests });
      return cpuOf(server.pid) - before;
    };
    const rounds = { change: [] as number[][], requests: [] as number[][] };
    for (let round = 0; round < (args.quick ? 3 : 7); round += 1) {
      const found: number[] = [];
      for (const server of all) found.push(await costOfChanges(server));
      if (round > 0) rounds.change.push(found);
    }
    for (let round = 0; round < (args.quick ? 3 : 7); round += 1) {
      const found = [await costOfRequests(alone), await costOfRequests(kept.get(100) as ServerChild)];
      if (round > 0) rounds.requests.push(found);
    }
    const ratio = (name: string, of: readonly number[][], one: number, other: number, atMost: number) =>
      figureOf(
        `processor time of ${name}`,
        of.map((all) => (all[one] ?? 0) / (all[other] ?? 1)),
        { atMost },
      );
    return [
      ratio("a change: --state with 1 instance / no --state", rounds.change, 1, 0, 5),
      ratio("a change: 100 instances / 1", rounds.change, 2, 1, 1.2),
      ratio("a change: 500 instances / 1", rounds.change, 3, 1, 1.2),
      ratio("requests to 50 instances: --state / no --state", rounds.requests, 1, 0, 1.1),
    ];
  } finally {
    await Promise.all([client.stop(), ...all.map((one) => one.stop())]);
    for (const count of counts) await rm(`${stateOf(count)}.instances`, { recursive: true, force: true });
  }
}

async function createAll(server: ServerChild, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) made.push(await create(server));
  return made;
}
