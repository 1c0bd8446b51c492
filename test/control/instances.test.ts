import { describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { withStory } from "../../src/scenario/stories.js";
import { coverage } from "../support/coverage.js";
import { type Ask, serveControl } from "./client.js";

const mePath = "/v1/relying-party/me";
const callMe = (base: string, key: string) => fetch(base + mePath, { headers: { "x-api-key": key } });

async function create(ask: Ask, json: object = {}) {
  const { status, body } = await ask("/instances", { method: "POST", json });
  expect(status).toBe(201);
  return body.data;
}

function secretsOf(sandbox: Sandbox): Record<string, string> {
  const refs = [...sandbox.keys.list().map(({ ref }) => ref), "unknown", "malformed"];
  return Object.fromEntries(refs.map((ref) => [ref, sandbox.secret(ref)]));
}

test("a scenario that is sent makes no more keys than the server can make without a pause", async () => {
  const { ask } = await serveControl();
  const population = { organizations: 4001, keys_per_organization: 5 };
  const headers = { "content-type": "application/yaml" };
  const bytes = `version: 1\npopulation: ${JSON.stringify(population)}`;
  const before = (await ask("/state")).text;
  for (const response of [
    await ask("/scenario", { method: "PUT", headers, bytes }),
    await ask("/instances", { method: "POST", json: { scenario: { version: 1, population } } }),
  ])
    expect([response.status, Object.keys(response.body.error.details.fields)]).toEqual([422, ["population"]]);
  expect((await ask("/state")).text).toBe(before);
});

describe("an instance", () => {
  test("has the requested scenario, seed, clock and profile, and its keys work", async () => {
    const { ask } = await serveControl({ scenario: "rotation" });
    const options = { seed: 7, now: "2030-01-01T00:00:00Z", frozen: true, profile: "typical" };
    const { id, keys, token, claim_url, ...made } = await create(ask, {
      scenario: "key-states",
      label: "ключи, 鍵 [mark-1]: überlappt (1/2)",
      ...options,
    });
    const base = `/i/${id}`;
    expect(made).toEqual({
      ...{ base_url: expect.stringMatching(`${base}$`), control_url: `${made.base_url}/__sandbox` },
      ...{ scenario: "key-states", seed: 7, label: "ключи, 鍵 [mark-1]: überlappt (1/2)" },
      created_at: expect.stringMatching(/Z$/),
      ...{ expires_at: null, requests_per_minute: null },
    });
    expect([token, claim_url]).toEqual([expect.any(String), expect.any(String)]);
    expect(Math.abs(Date.parse(made.created_at) - Date.now())).toBeLessThan(600_000);
    expect(keys).toEqual(secretsOf(createSandbox({ scenario: "key-states", seed: 7 })));
    expect((await ask("/state", { base })).body.data).toMatchObject({
      ...{ scenario: "key-states", seed: 7, clock: { now: "2030-01-01T00:00:00.000Z", frozen: true } },
      assumptions: { profile: "typical", retry_after: "seconds" },
    });
    const response = await callMe(made.base_url, keys.active);
    expect([response.status, response.headers.has("ratelimit-policy")]).toEqual([200, true]);
    const [listed] = (await ask("/instances")).body.data;
    const traffic = { requests: 1, errors: 0, coverage: coverage(1).percent, last_path_id: "200.test" };
    const account = expect.objectContaining({ bytes_kept: expect.any(Number) });
    expect(listed).toEqual({ id, ...made, idle_seconds: expect.any(Number), traffic, account });
    expect(listed.idle_seconds).toBeLessThan(600);
    await callMe(made.base_url, "wrong");
    expect((await ask("/instances")).body.data[0].traffic).toMatchObject({ requests: 2, errors: 1 });
  });

  test("has the server's own scenario by default, as it was at its start", async () => {
    const control = await serveControl({ scenario: "rotation", seed: 5 });
    await control.ask("/keys/replacement/revoke", { method: "POST" });
    const { id, scenario, seed, keys } = await create(control.ask, { seed: 5 });
    expect([scenario, seed]).toEqual(["rotation", 5]);
    expect(keys).toEqual(secretsOf(createSandbox({ scenario: "rotation", seed: 5 })));
    const { body } = await control.ask("/keys/replacement", { base: `/i/${id}` });
    expect(body.data.state).toBe("active");
  });

  test("has keys of its own: without a seed, one is drawn", async () => {
    const { ask, server } = await serveControl();
    const made = [
      await create(ask),
      await create(ask, { label: "partner" }),
      await create(ask, { scenario: "key-states" }),
    ];
    const active = [server.sandbox.secret("active"), ...made.map(({ keys }) => keys.active)];
    expect(new Set(active).size).toBe(4);
    const again = await create(ask, { seed: made[0].seed });
    expect(again.keys).toEqual(made[0].keys);
  });

  test("has the story of its bundled scenario", async () => {
    const { ask } = await serveControl();
    const { id } = await create(ask, { scenario: "revoked" });
    const base = `/i/${id}`;
    expect((await ask("/story", { base })).body.data.steps).toBe(withStory("revoked").story?.length);
  });

  test("shares nothing with others: clock, keys, requests, scenario, instances", async () => {
    const { server, ask } = await serveControl();
    const [one, other] = [await create(ask), await create(ask)];
    const base = `/i/${one.id}`;
    const before = createSandbox().keys.list();
    await ask("/clock/advance", { base, method: "POST", json: { by: "1h" } });
    await ask("/keys/active/revoke", { base, method: "POST" });
    await ask("/scenario", { base, method: "PUT", json: { name: "rotation" } });
    const state = async (where: string) => (await ask("/state", { base: where })).body.data;
    for (const where of ["", `/i/${other.id}`]) {
      const { scenario, keys } = await state(where);
      expect(scenario).toBe("key-states");
      expect(keys).toMatchObject(before.map(({ ref, state: is }) => ({ ref, state: is })));
    }
    expect((await state(base)).scenario).toBe("rotation");
    for (const [method, path] of [
      ["GET", "/instances"],
      ["POST", "/instances"],
      ["DELETE", `/instances/${other.id}`],
    ] as const)
      expect((await ask(path, { method, base })).status).toBe(404);
    expect((await fetch(`${server.url}${base}/i/${other.id}${mePath}`)).status).toBe(404);
    expect((await ask("/instances")).body.data).toHaveLength(2);
  });

  test("is gone after it is removed, and its address shows when", async () => {
    const { ask } = await serveControl();
    const { id, base_url, keys } = await create(ask);
    expect((await callMe(base_url, keys.active)).status).toBe(200);
    const remove = () => ask(`/instances/${id}`, { method: "DELETE" });
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    const gone = await callMe(base_url, keys.active);
    const { error } = (await gone.json()) as { error: object };
    const message = expect.stringMatching(/^This sandbox was removed at 20/);
    expect([gone.status, error]).toEqual([
      404,
      { code: "not_found", message, details: { ended: "removed", at: expect.any(String) } },
    ]);
    // People see a page, which shows them why.
    const statuses = ["", "health"].map(
      async (path) => (await fetch(`${base_url}/__sandbox/${path}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404]);
  });

  test("goes after it has not been used for its time to live, and stays while it is used", async () => {
    const { ask } = await serveControl({ instanceTtl: 1000 });
    const [idle, used] = [await create(ask), await create(ask)];
    const listed = async () => {
      await ask("/health", { base: `/i/${used.id}` });
      // Listing them is no use of them.
      return ((await ask("/instances")).body.data as { id: string }[]).map(({ id }) => id);
    };
    // Ends with the test's own time if it never goes.
    while ((await listed()).includes(idle.id));
    expect(await listed()).toEqual([used.id]);
    expect((await fetch(`${idle.base_url}/__sandbox/health`)).status).toBe(404);
  });

  test("is found by a part of its label or id, or by its errors, among all, newest first or sorted, in pages", async () => {
    const { ask, server } = await serveControl();
    const ids = [];
    for (const label of ["Bank 1", "Bank 2", "Farm 3", "Bank 4"])
      ids.unshift((await create(ask, { label, ...(label === "Bank 1" && { expires: "1h" }) })).id);
    const found = async (query: string) => {
      const { data, total } = (await ask(`/instances?${query}`)).body;
      return [total, ...data.map(({ label }: { label: string }) => label)];
    };
    expect(await found("")).toEqual([4, "Bank 4", "Farm 3", "Bank 2", "Bank 1"]);
    expect(await found("label=bank&offset=1&limit=1")).toEqual([3, "Bank 2"]);
    expect(await found(`label=${ids[1]}`)).toEqual([1, "Farm 3"]);
    await fetch(`${server.url}/i/${ids[2]}${mePath}`);
    expect(await found("errors=true")).toEqual([1, "Bank 2"]);
    for (const sort of ["errors", "last_request"])
      expect(await found(`sort=${sort}`)).toEqual([4, "Bank 2", "Bank 4", "Farm 3", "Bank 1"]);
    expect(await found("sort=expiry")).toEqual([4, "Bank 1", "Bank 4", "Farm 3", "Bank 2"]);
  });

  test("is rejected above --max-instances, until another one is removed", async () => {
    const { ask } = await serveControl({ maxInstances: 2 });
    const { id, label } = await create(ask);
    expect(label).toBeNull();
    const named = await create(ask, { label: "mine" });
    expect((await ask("/health", { base: `/i/${named.id}` })).body.label).toBe("mine");
    const { status, body } = await ask("/instances", { method: "POST" });
    expect([status, body.error.code]).toEqual([409, "instance_limit_reached"]);
    await ask(`/instances/${id}`, { method: "DELETE" });
    await create(ask);
    expect((await ask("/instances")).body.data).toHaveLength(2);
  });

  test("is rejected above --max-memory, and readiness and metrics show why", async () => {
    const { server, ask } = await serveControl({ maxMemory: 1e6 });
    const { status, body } = await ask("/instances", { method: "POST" });
    expect([status, body.error.code]).toEqual([507, "memory_limit_reached"]);
    expect((await ask("/ready")).body.memory).toBe("full");
    expect((await ask("/metrics")).text).toMatch(/^svc_sandbox_memory_budget_bytes 1000000$/m);
    expect((await callMe(server.url, server.sandbox.secret("active"))).status).toBe(200);
  });

  test("has a random id with every seed", async () => {
    const ids = new Set<string>();
    const { ask } = await serveControl({ seed: 1 });
    for (let i = 0; i < 200; i++) ids.add((await create(ask, { seed: 1 })).id);
    expect(ids.size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{12}$/);
    // Each position takes each kind of character: 71 bits, not a counter or a clock.
    for (let index = 0; index < 12; index++)
      expect(new Set([...ids].map((id) => id[index])).size).toBeGreaterThan(30);
  });
});
