import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { serveControl } from "./client.js";

test("lifelines are of the keys that are asked for, at most so many: those used last, then those that end", async () => {
  const scenario = parseScenario(`version: 1
clock: { now: 2026-03-02T09:00:00Z }
population: { organizations: 30, keys_per_organization: 5 }
organizations:
  bank: { type: bank, keys: { ending: { environment: test, expires: 1h }, told: { environment: test } } }
story:
  - request: { key: told }
`);
  const { ask } = await serveControl({ scenario });
  const keysOf = async (query: string) => {
    const { lifelines, left } = (await ask(`/lifelines?${query}`)).body.data;
    return [...lifelines.map(({ key }: { readonly key: string }) => key), left];
  };
  await ask("/send", { method: "POST", json: { key: "organization-30-key-5" } });
  expect(await keysOf("limit=2")).toEqual(["ending", "organization-30-key-5", 150]);
  expect(await keysOf("organization=bank")).toEqual(["ending", "told", 0]);
  expect(await keysOf("key=organization-7-key-2")).toEqual(["organization-7-key-2", 0]);
  expect(await keysOf("story=true")).toEqual(["told", 0]);
  expect(await keysOf("filter=organization-7-key+test")).toHaveLength(6);
  expect((await ask("/lifelines?key=nosuch")).status).toBe(404);
  expect((await ask("/lifelines?organization=nosuch")).status).toBe(404);
});
