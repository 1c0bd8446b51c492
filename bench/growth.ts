import { readFileSync, statSync } from "node:fs";
import { populatedRef } from "../src/scenario/keys.js";
import { control } from "../test/support/call-control.js";
import { type Figure, figureOf } from "./figure.js";
import { type Bundle, benchScenario, type ServerChild, scenarioFile, startCommand } from "./programs.js";
import type { BenchArguments } from "./rounds.js";

const [few, many] = [1000, 100_000];

type Act = (url: string) => Promise<unknown>;

const read =
  (path: string): Act =>
  async (url) =>
    void (await (await fetch(`${url}/__sandbox${path}`)).text());

const createAndRevoke: Act = async (url) => {
  const creation = { organization: populatedRef(1), environment: "live", name: "Growth" };
  const { status, body } = await control(`${url}/__sandbox`, "POST /keys", creation);
  if (status !== 201) throw new Error(`POST /keys: ${status} ${JSON.stringify(body)}`);
  await control(`${url}/__sandbox`, `POST /keys/${body.data.key.ref}/revoke`, {});
};

const rows: readonly (readonly [name: string, act: Act, atMost: number])[] = [
  ["POST /keys and revoke", createAndRevoke, 2],
  ["GET /report?story=true", read("/report?story=true"), 2],
  ["GET /upcoming", read("/upcoming"), 2],
  ["GET /keys?limit=50", read("/keys?limit=50"), 1.3],
  ["GET /keys", read("/keys"), 1.3],
  ["GET /directory", read("/directory"), 1.3],
];

/** How the costs of calls grow with the number of keys, and with what earlier calls have left. */
export async function* measureGrowth(args: BenchArguments, bundle: Bundle): AsyncGenerator<Figure> {
  const start = async (keys: number) => {
    const population = { organizations: keys / 5, keys_per_organization: 5 };
    return startCommand(await scenarioFile(bundle, { version: 1, population }), []);
  };
  const [small, large] = [await start(few), await start(many)];
  try {
    for (const [name, act, atMost] of rows) {
      const rounds = await ratios(args, act, large, small);
      yield figureOf(`${name}: ${many} keys / ${few}`, rounds, { atMost });
    }
    const tenth = args.quick ? 50 : 800;
    const costs: number[] = [];
    for (let n = 0; n < 10; n += 1) costs.push(await costOf(tenth, createAndRevoke, small));
    const grown = (costs[9] as number) / (costs[0] as number);
    yield figureOf(`POST /keys and revoke: the last tenth of ${10 * tenth} / the first`, [grown], {
      atMost: 2,
    });
  } finally {
    await Promise.all([small.stop(), large.stop()]);
  }
}

/** What `--state` costs with many keys: the memory, and the longest wait of a client in five seconds that contain a save. */
export async function* measureState(args: BenchArguments, bundle: Bundle): AsyncGenerator<Figure> {
  for (const keys of args.quick ? [few] : [few, 10_000, many - 5]) {
    const population = { organizations: keys / 5, keys_per_organization: 5 };
    const file = await scenarioFile(bundle, { ...benchScenario(5), population });
    const state = `${file}.json`;
    for (const flags of [[], ["--state", state]]) {
      const server = await startCommand(file, flags);
      const savedAt = () => statSync(state, { throwIfNoEntry: false })?.mtimeMs;
      const firstAt = savedAt();
      const waits: number[] = [];
      const started = performance.now();
      const isOver = () =>
        performance.now() - started > 5000 && (flags.length === 0 || savedAt() !== firstAt);
      while (!isOver()) waits.push(await waitOf(server));
      const what = `${keys} keys, ${flags[0] ?? "no state"}`;
      yield figureOf(`longest wait, ms: ${what}`, [Math.max(...waits)]);
      yield figureOf(`memory that is not shared, MB: ${what}`, [memoryOf(server.pid)]);
      await server.stop();
    }
  }
}

async function waitOf({ port, keys }: ServerChild): Promise<number> {
  const started = performance.now();
  // A connection of its own: an idle one may close during a save.
  const headers = { "x-api-key": keys[0] as string, connection: "close" };
  await (await fetch(`http://127.0.0.1:${port}/v1/relying-party/me`, { headers })).text();
  return performance.now() - started;
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

async function ratios({ quick }: BenchArguments, act: Act, one: ServerChild, other: ServerChild) {
  const rounds: number[] = [];
  for (let round = 0; round < (quick ? 3 : 9); round += 1) {
    const [large, small] = [await costOf(20, act, one), await costOf(20, act, other)];
    if (round > 0) rounds.push(large / small);
  }
  return rounds;
}

/** The milliseconds that a server needs for so many calls, one after the other. */
async function costOf(count: number, act: Act, { port, pid }: ServerChild): Promise<number> {
  const started = cpuTime(pid);
  for (let n = 0; n < count; n += 1) await act(`http://127.0.0.1:${port}`);
  return cpuTime(pid) - started;
}

/** The CPU time of a process's main thread, which other work of the machine does not change; the time that passes if the system does not list it. */
function cpuTime(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
