import { expect, test } from "vitest";
import { type Ask, serveControl } from "./client.js";

const scenario = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: Object.fromEntries(["a", "b", "c"].map((ref) => [ref, { environment: "test" as const }])),
    },
  },
} as const;

/** Sends fifty writes at once; answers with the secrets that they made, and how many were done or refused with each code. */
async function fifty(ask: Ask, call: (index: number) => readonly [path: string, json: object]) {
  const sent = Array.from({ length: 50 }, (_, index) => {
    const [path, json] = call(index);
    return ask(path, { method: "POST", json });
  });
  const counts: Record<string, number> = {};
  const secrets: string[] = [];
  for (const { status, body } of await Promise.all(sent)) {
    const outcome = status < 300 ? "done" : body.error.code;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    if (body.data?.secret !== undefined) secrets.push(body.data.secret);
  }
  return { counts, secrets };
}

test("R32 R37 R42 fifty clients at once: never a sixth active key, never a second replacement", async () => {
  const { ask } = await serveControl({ scenario });
  // Three test keys are there: two more are made, and five live ones.
  const created = await fifty(ask, (index) => {
    const environment = index % 2 === 0 ? "test" : "live";
    return ["/keys", { organization: "bank", environment, name: "Made" }];
  });
  expect(created.counts).toEqual({ done: 7, key_limit_reached: 43 });
  const once = { done: 1, key_not_active: 49 };
  const rotate = (ref: string, overlap_minutes: number) =>
    [`/keys/${ref}/rotate`, { overlap_minutes }] as const;
  const rotated = [await fifty(ask, () => rotate("a", 0)), await fifty(ask, () => rotate("b", 60))];
  const either = await fifty(ask, (index) => (index % 2 === 0 ? rotate("c", 0) : ["/keys/c/revoke", {}]));
  expect([...rotated, either].map(({ counts }) => counts)).toEqual(Array(3).fill(once));

  const secrets = [created, ...rotated, either].flatMap((one) => one.secrets);
  expect(new Set(secrets).size).toBe(secrets.length);
  const keys = (await ask("/keys")).body.data as { ref: string; replaces: string | null }[];
  expect(new Set(keys.map(({ ref }) => ref)).size).toBe(3 + secrets.length);
  const replaced = keys.flatMap(({ replaces }) => replaces ?? []);
  expect(replaced.filter((ref) => ref !== "c").sort()).toEqual(["a", "b"]);
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
