import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox, type Scenario } from "../src/index.js";
import { startServer } from "../src/node/index.js";
import { serveControl } from "./control/client.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z" },
  population: { organizations: 2, farmers: 1500, locale: "fr" },
} as const satisfies Scenario;

const expected: Sandbox = createSandbox({ scenario });

test("farmers come page by page, and each by its id", async () => {
  const { ask } = await serveControl({ scenario });
  expect((await ask("/farmers")).body).toEqual({ data: expected.farmers.list(), total: 1500 });
  const page = await ask("/farmers?offset=1490&limit=1000");
  expect(page.body).toEqual({ data: expected.farmers.list({ offset: 1490 }), total: 1500 });
  expect((await ask("/farmers?offset=1500")).body).toEqual({ data: [], total: 1500 });
  expect((await ask("/farmers?limit=1000")).body.data).toHaveLength(1000);
  const one = expected.farmers.at(1499);
  expect((await ask(`/farmers/${one.farmer_id}`)).body).toEqual({ data: one });
});

test.each([
  ["offset=-1", { offset: "must be a whole number from 0" }],
  ["limit=ten", { limit: "must be a whole number from 0 to 1000" }],
  ["limit=1001", { limit: "must be a whole number from 0 to 1000" }],
  ["limit=1&limit=2", { limit: "was given more than once" }],
  ["page=2", { page: "is not a parameter; there are offset, limit" }],
])("?%s is refused with what is wrong", async (query, fields) => {
  const { ask } = await serveControl();
  const { status, body } = await ask(`/farmers?${query}`);
  expect([status, body.error.code, body.error.details.fields]).toEqual([422, "validation_failed", fields]);
});

test("a farmer that there is not is not found", async () => {
  const { ask } = await serveControl({ scenario });
  const beyond = createSandbox({
    scenario: { ...scenario, population: { organizations: 1, farmers: 1501 } },
  });
  for (const id of ["farmer_0000000000000000", "nobody", beyond.farmers.at(1500).farmer_id]) {
    const { status, body } = await ask(`/farmers/${id}`);
    expect([status, body.error.code]).toEqual([404, "not_found"]);
  }
  const written = await ask("/farmers", { method: "POST", json: {} });
  expect([written.status, written.headers.allow]).toEqual([405, "GET, HEAD"]);
});

test("an instance has the farmers of its own scenario and seed", async () => {
  const { ask } = await serveControl({ scenario });
  const { body } = await ask("/instances", { method: "POST", json: { scenario: "population", seed: 5 } });
  const base = new URL(body.data.base_url).pathname;
  const own: Sandbox = createSandbox({ scenario: "population", seed: 5 });
  expect((await ask("/farmers?limit=2", { base })).body).toEqual({
    data: own.farmers.list({ limit: 2 }),
    total: 5000,
  });
  expect((await ask("/farmers?limit=2")).body.total).toBe(1500);
});

test("an instance of a population with another seed has other organizations under the same refs", async () => {
  const { ask } = await serveControl({ scenario });
  const { body } = await ask("/instances", { method: "POST", json: { seed: 5 } });
  const base = new URL(body.data.base_url).pathname;
  const own: Sandbox = createSandbox({ scenario, seed: 5 });
  const listed = (await ask("/organizations", { base })).body.data;
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(own.organizations.list().map(({ id }) => id));
  expect(body.data.keys["organization-2-key-1"]).toBe(own.secret("organization-2-key-1"));
});

test("a state keeps the farmers, and what the population has become", async () => {
  const state = join(temporaryFolder(), "state.json");
  const first = await startServer({ scenario, state });
  first.sandbox.clock.advance("700d");
  first.sandbox.keys.revoke("organization-1-key-1");
  await first.close();
  expect(JSON.parse(readFileSync(state, "utf8")).world.population).toEqual({
    farmers: 1500,
    locale: "fr",
    as_of: "2026-03-02T09:00:00.000Z",
  });

  const second = await startServer({ scenario, state });
  const { farmers, keys, clock } = second.sandbox;
  expect([keys.get("organization-1-key-1").state, clock.now().slice(0, 7)]).toEqual(["revoked", "2028-01"]);
  expect(farmers.list()).toEqual(expected.farmers.list());
  second.sandbox.reset();
  expect(keys.get("organization-1-key-1").state).toBe("active");
  await second.close();
});
