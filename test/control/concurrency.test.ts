import fc from "fast-check";
import { expect, test } from "vitest";
import { propertySeed } from "../support/property-seed.js";
import { type ControlAnswer, serveControl } from "./client.js";

const scenario = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: Object.fromEntries(["a", "b", "c"].map((ref) => [ref, { environment: "test" as const }])),
    },
    insurer: { type: "insurer", live_access: "approved", keys: { d: { environment: "live" } } },
  },
} as const;

/** A write of a client; `key` is an index into the list of keys before. */
const write = fc.oneof(
  fc.record({
    do: fc.constant("create" as const),
    organization: fc.constantFrom("bank", "insurer"),
    environment: fc.constantFrom("test", "live"),
  }),
  fc.record({ do: fc.constant("rotate" as const), key: fc.nat(40), overlap: fc.constantFrom(0, 5, 60) }),
  fc.record({ do: fc.constant("revoke" as const), key: fc.nat(40) }),
);
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

interface Key {
  readonly ref: string;
  readonly organization: string;
  readonly environment: string;
  readonly state: string;
  readonly replaced_by: string | null;
  readonly replaces: string | null;
}

function expectSound(keys: readonly Key[]): void {
  expect(new Set(keys.map(({ ref }) => ref)).size).toBe(keys.length);
  const active = keys.filter(({ state }) => state === "active");
  const holders = active.map(({ organization, environment }) => `${organization} ${environment}`);
  for (const holder of new Set(holders)) {
    expect(holders.filter((one) => one === holder).length).toBeLessThanOrEqual(5);
  }
  for (const { ref, replaced_by } of keys) {
    const replacements = keys.filter(({ replaces }) => replaces === ref).map((key) => key.ref);
    expect(replacements).toEqual(replaced_by === null ? [] : [replaced_by]);
  }
}

test("R32 R37 R42 fifty clients at once: never a sixth active key, never a second replacement", async () => {
  const { ask } = await serveControl({ scenario });
  const keysNow = async () => (await ask("/keys")).body.data as readonly Key[];
  const send = (one: Write, keys: readonly Key[]): Promise<ControlAnswer> => {
    const post = (path: string, json: object) => ask(path, { method: "POST", json });
    if (one.do === "create") {
      return post("/keys", { organization: one.organization, environment: one.environment, name: "Made" });
    }
    const { ref } = keys[one.key % keys.length] as Key;
    if (one.do === "revoke") return post(`/keys/${ref}/revoke`, {});
    return post(`/keys/${ref}/rotate`, { overlap_minutes: one.overlap });
  };
  const codes = new Set<string>();
  const secrets: string[] = [];
  const fifty = fc.array(write, { minLength: 50, maxLength: 50 });
  for (const [round, batch] of fc.sample(fifty, { numRuns: 20, ...propertySeed }).entries()) {
    const before = await keysNow();
    // In every other round all writes want the same key.
    const aimed = round % 2 === 0 ? before.findIndex(({ state }) => state === "active") : -1;
    const writes = batch.map((one) => (one.do === "create" || aimed === -1 ? one : { ...one, key: aimed }));
    const answers = await Promise.all(writes.map((one) => send(one, before)));
    const after = await keysNow();
    expectSound(after);
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.data);
    expect(after.length - before.length).toBe(made.length);
    secrets.push(...made.map(({ secret }) => secret));
    if (aimed !== -1) {
      const done = answers.filter(({ status }, index) => writes[index]?.do !== "create" && status < 300);
      expect(done.length).toBe(writes.some((one) => one.do !== "create") ? 1 : 0);
    }
    for (const { status, body } of answers) if (status >= 400) codes.add(body.error.code);
  }
  expect([...codes].sort()).toEqual(["key_limit_reached", "key_not_active"]);
  expect(new Set(secrets).size).toBe(secrets.length);
});

test("instances that come and go at once are all there and all gone", async () => {
  const { ask } = await serveControl();
  const create = async () => (await ask("/instances", { method: "POST" })).body.data.id as string;
  const ids = await Promise.all(Array.from({ length: 50 }, create));
  expect(new Set(ids).size).toBe(50);
  const removals = [...ids, ...ids].map((id) => ask(`/instances/${id}`, { method: "DELETE" }));
  const statuses = (await Promise.all(removals)).map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(50).fill(204), ...Array(50).fill(404)]);
  expect((await ask("/instances")).body.data).toEqual([]);
});
