import { populatedRef } from "../src/scenario/population.js";
import { control } from "../test/support/call-control.js";
import { type Figure, figureOf, median } from "./figure.js";
import { type Bundle, type ServerChild, scenarioFile, startCommand } from "./programs.js";
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

const acts: Readonly<Record<string, Act>> = {
  "POST /keys and revoke": createAndRevoke,
  "GET /report?story=true": read("/report?story=true"),
  "GET /upcoming": read("/upcoming"),
  "GET /keys?limit=50": read("/keys?limit=50"),
  "GET /keys": read("/keys"),
};

/** How the costs of calls grow with the number of keys, and with what earlier calls have left. */
export async function measureGrowth(args: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const start = async (keys: number) => {
    const population = { organizations: keys / 5, keys_per_organization: 5 };
    return startCommand(await scenarioFile(bundle, { version: 1, population }), []);
  };
  const [small, large] = [await start(few), await start(many)];
  try {
    const figures: Figure[] = [];
    for (const [name, act] of Object.entries(acts)) {
      const found = await ratios(args, act, large, small);
      figures.push(figureOf(`${name}: ${many} keys / ${few}`, found, { atMost: 2 }));
    }
    const later = await times(args.quick ? 500 : 8000, createAndRevoke, small);
    const tenth = Math.ceil(later.length / 10);
    const grown = median(later.slice(-tenth)) / median(later.slice(0, tenth));
    figures.push(
      figureOf(`POST /keys and revoke: the last tenth of ${later.length} / the first`, [grown], {
        atMost: 2,
      }),
    );
    return figures;
  } finally {
    await Promise.all([small.stop(), large.stop()]);
  }
}

async function ratios({ quick }: BenchArguments, act: Act, one: ServerChild, other: ServerChild) {
  const found: number[] = [];
  for (let round = 0; round < (quick ? 3 : 9); round += 1) {
    const [large, small] = [await times(20, act, one), await times(20, act, other)];
    if (round > 0) found.push(median(large) / median(small));
  }
  return found;
}

async function times(count: number, act: Act, { port }: Pick<ServerChild, "port">): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const started = performance.now();
    await act(`http://127.0.0.1:${port}`);
    all.push(performance.now() - started);
  }
  return all;
}
