import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { farmerAt } from "../../src/farmers/make-farmers.js";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";

export const goldenFile = new URL("../golden/seeded-data.json", import.meta.url);
const seeds = [1, 7];

/** Says nothing that the seed could give: names are invented here, which the bundled scenarios write out. */
const sparse: Scenario = {
  version: 1,
  name: "Sparse",
  clock: { now: "2026-03-02T09:00:00Z" },
  organizations: {
    "some-bank": { type: "bank", keys: { first: { environment: "test" }, second: { environment: "live" } } },
    "other-bank": { type: "bank", keys: { third: { environment: "test", legacy: true } } },
    "some-insurer": { type: "insurer", keys: { fourth: { environment: "live", legacy: true } } },
    "other-insurer": { type: "insurer" },
  },
};

/** Everything that is derived from the seed, by ref. */
export function derivedFrom(sandbox: Sandbox): Record<string, object> {
  const organizations = sandbox.organizations.list().map((one) => [`organization ${one.ref}`, one] as const);
  const keys = sandbox.keys
    .list()
    .map((one) => [`key ${one.ref}`, { ...one, secret: sandbox.secret(one.ref) }] as const);
  return Object.fromEntries([...organizations, ...keys]);
}

/** The seeded data that users rely on, by seed, as `test/golden/seeded-data.json` has it. Writes nothing. */
export async function goldenData(): Promise<Record<string, object>> {
  const data: Record<string, object> = {};
  for (const seed of seeds) {
    data[`seed ${seed}`] = {
      "key-states": await goldenSandbox(() => createSandbox({ seed, frozen: true })),
      sparse: await goldenSandbox(() => createSandbox({ scenario: sparse, seed, frozen: true })),
      farmers: goldenFarmers(seed),
    };
  }
  return data;
}

/** The first farmers of all locales, and one much later. */
function goldenFarmers(seed: number): object {
  const now = "2026-03-02T09:00:00.000Z";
  const source = { seed, start: Date.parse(now) };
  const indexes = [0, 1, 2, 3, 4, 5, 6, 1_000_000];
  return { seed, now, farmers: indexes.map((index) => ({ index, farmer: farmerAt(source, index) })) };
}

/** Everything of a sandbox that the seed decides, and each key's response when they call in turn. */
async function goldenSandbox(create: () => Sandbox): Promise<object> {
  const sandbox = create();
  const responses: Record<string, object> = {};
  for (const { ref } of sandbox.keys.list()) {
    const response = await sandbox.fetch("https://api.example/v1/relying-party/me", {
      headers: { "x-api-key": sandbox.secret(ref) },
    });
    responses[ref] = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
  }
  const fresh = create();
  return {
    scenario: fresh.name,
    seed: fresh.seed,
    now: fresh.clock.now(),
    unknown_secret: fresh.secret("unknown"),
    organizations: fresh.organizations.list(),
    keys: fresh.keys.list().map((key) => ({ ...key, secret: fresh.secret(key.ref) })),
    request_ids: sandbox.requests.list().map(({ id }) => id),
    responses,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(goldenFile, JSON.stringify(await goldenData(), null, 2));
  execFileSync("npx", ["biome", "format", "--write", fileURLToPath(goldenFile)]);
}
