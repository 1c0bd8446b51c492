import fc from "fast-check";
import { expect, test } from "vitest";
import { type ControlAnswer, serveControl } from "./control/client.js";
import { propertySeed } from "./support/property-seed.js";

const organizations = ["bank", "insurer"] as const;
const scenario = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: Object.fromEntries(["a", "b", "c"].map((ref) => [ref, { environment: "test" as const }])),
    },
    insurer: {
      type: "insurer",
      live_access: "approved",
      keys: { d: { environment: "live" } },
    },
  },
} as const;

/** What a client does to the world; `key` is a place in the list of keys as it was before. */
const deed = fc.oneof(
  fc.record({
    do: fc.constant("create" as const),
    organization: fc.constantFrom(...organizations),
    environment: fc.constantFrom("test", "live"),
  }),
  fc.record({
    do: fc.constant("rotate" as const),
    key: fc.nat(40),
    overlap: fc.constantFrom(0, 5, 60),
  }),
  fc.record({ do: fc.constant("revoke" as const), key: fc.nat(40) }),
);
type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

interface Key {
  readonly ref: string;
  readonly organization: string;
  readonly environment: string;
  readonly state: string;
  readonly replaced_by: string | null;
  readonly replaces: string | null;
}

function expectFiveActiveAtMost(keys: readonly Key[]): void {
  const active = new Map<string, number>();
  for (const { state, organization, environment } of keys) {
    if (state !== "active") continue;
    const holder = `${organization} ${environment}`;
    active.set(holder, (active.get(holder) ?? 0) + 1);
  }
  for (const [holder, held] of active) expect([holder, Math.max(5, held)]).toEqual([holder, 5]);
}

function expectOneReplacementEach(keys: readonly Key[]): void {
  const replaced = keys.filter(({ replaced_by }) => replaced_by !== null);
  expect(new Set(replaced.map(({ replaced_by }) => replaced_by)).size).toBe(replaced.length);
  for (const { ref, replaced_by } of replaced) {
    expect(keys.find((key) => key.ref === replaced_by)?.replaces).toBe(ref);
  }
  expect(keys.filter(({ replaces }) => replaces !== null)).toHaveLength(replaced.length);
}

test("R32 R37 R42 fifty clients at once: never a sixth active key, never a second replacement, and every answer is true", async () => {
  const { server, ask } = await serveControl({ scenario });
  const keysNow = async () => (await ask("/keys")).body.data as readonly Key[];
  const post = (path: string, json: object) => ask(path, { method: "POST", json });
  const carryOut = (one: Deed, keys: readonly Key[]): Promise<ControlAnswer> => {
    if (one.do === "create") {
      return post("/keys", {
        organization: one.organization,
        environment: one.environment,
        name: "Made",
      });
    }
    const { ref } = keys[one.key % keys.length] as Key;
    return one.do === "rotate"
      ? post(`/keys/${ref}/rotate`, { overlap_minutes: one.overlap })
      : post(`/keys/${ref}/revoke`, {});
  };

  const codes = new Set<string>();
  const secrets = new Map<string, string>();
  const batches = fc.sample(fc.array(deed, { minLength: 50, maxLength: 50 }), {
    numRuns: 20,
    ...propertySeed,
  });
  for (const batch of batches) {
    const before = await keysNow();
    // Half of the time everybody wants the same key, where it is easiest to come in each other's way.
    const aimed = batches.indexOf(batch) % 2 === 0 ? before.findIndex(({ state }) => state === "active") : -1;
    const deeds = batch.map((one) => (one.do === "create" || aimed === -1 ? one : { ...one, key: aimed }));
    const answers = await Promise.all(deeds.map((one) => carryOut(one, before)));
    const after = await keysNow();

    expectFiveActiveAtMost(after);
    expectOneReplacementEach(after);

    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.data);
    expect(after.length - before.length).toBe(made.length);
    expect(new Set(after.map(({ ref }) => ref)).size).toBe(after.length);
    for (const { key, secret } of made) secrets.set(key.ref, secret);
    if (aimed !== -1) {
      // Of all who wanted it, one got it.
      const taken = answers.filter(({ status }, index) => deeds[index]?.do !== "create" && status < 300);
      expect(taken.length).toBe(deeds.some((one) => one.do !== "create") ? 1 : 0);
    }
    for (const { status, body } of answers) if (status >= 400) codes.add(body.error.code);
  }
  expect([...codes].sort()).toEqual(["key_limit_reached", "key_not_active"]);
  expect(new Set(secrets.values()).size).toBe(secrets.size);
  for (const { ref, state } of await keysNow()) {
    const secret = secrets.get(ref) ?? server.sandbox.secret(ref as never);
    const { status } = await server.sandbox.fetch("http://any.example/v1/relying-party/me", {
      headers: { "x-api-key": secret },
    });
    expect([ref, status]).toEqual([ref, ["active", "retiring"].includes(state) ? 200 : 401]);
  }
});

test("instances that come and go at once are all there and all gone", async () => {
  const { ask } = await serveControl();
  const ids = await Promise.all(
    Array.from(
      { length: 50 },
      async () => (await ask("/instances", { method: "POST" })).body.data.id as string,
    ),
  );
  expect(new Set(ids).size).toBe(50);
  const removals = [...ids, ...ids].map((id) => ask(`/instances/${id}`, { method: "DELETE" }));
  const statuses = (await Promise.all(removals)).map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(50).fill(204), ...Array(50).fill(404)]);
  expect((await ask("/instances")).body.data).toEqual([]);
});
