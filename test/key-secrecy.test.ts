import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeHeapSnapshot } from "node:v8";
import { expect, test } from "vitest";
import { handle } from "../src/api/handle.js";
import { worldState } from "../src/node/control/world-routes.js";
import { createKey } from "../src/sandbox/operations/create-key.js";
import { rotateKey } from "../src/sandbox/operations/rotate-key.js";
import { scenarioSecret, scenarioSecrets } from "../src/sandbox/secrets.js";
import type { World } from "../src/sandbox/world.js";
import { describeDoors, openTestWorld } from "./support/doors.js";

const mePath = "/v1/relying-party/me";

test("R34 R36 no list of the world shows a full key, seeded or created", () => {
  const world = openTestWorld("key-states");
  const { secret } = createKey(world, { organization: "harvest-bank", environment: "test", name: "CI" });
  handle(world, { method: "GET", path: mePath, apiKey: secret });
  const shown = JSON.stringify([worldState(world), world.journal.list(), [...world.registry.keys.values()]]);
  for (const one of [secret, ...Object.values(scenarioSecrets(world))]) expect(shown).not.toContain(one);
  expect(shown).toContain('"ref":"ci"');
});

test("R35 a heap of the running world holds no key that was created at run time, only its hash", () => {
  const world = openTestWorld("key-states");
  const bytes = createAndForget(world);
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-heap-"));
  try {
    const heap = readFileSync(writeHeapSnapshot(join(folder, "heap.heapsnapshot")), "latin1");
    // The hash is there, so the heap is the right one; the key, put together again only here, is not.
    expect(heap).toContain(world.registry.key("ci").key.sha256);
    expect(heap).toContain(world.registry.key("active-2").key.sha256);
    for (const code of bytes)
      expect(heap.includes(Buffer.from(code).reverse().toString("latin1"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// Keeps the secrets as reversed bytes, outside the JavaScript heap and in no form that a search for them finds.
function createAndForget(world: World): Buffer[] {
  const made = createKey(world, { organization: "harvest-bank", environment: "test", name: "CI" }).secret;
  const rotated = rotateKey(world, { key: "active" }).secret;
  for (const apiKey of [made, rotated]) {
    expect(handle(world, { method: "GET", path: mePath, apiKey }).answer.status).toBe(200);
  }
  return [made, rotated].map((secret) => Buffer.from(Buffer.from(secret).reverse()));
}

test("R17 R37 the replacement of a legacy key has the current prefix, and the same name, scopes and limits", () => {
  const world = openTestWorld("key-states");
  const before = world.registry.key("legacy").key;
  const { replacement: key, secret } = rotateKey(world, { key: "legacy" });
  expect(secret).toMatch(/^SVC_test_sbx[0-9A-Za-z]{29}$/);
  expect(key).toMatchObject({
    name: before.name,
    scopes: before.scopes,
    limits: before.limits,
    legacy: false,
  });
});

describeDoors("keys in what the sandbox keeps", (open) => {
  test("R46 a key in the path, in any disguise, does not reach the journal", async () => {
    const door = await open("key-states");
    const key = scenarioSecret(door.world, "active");
    const body = key.slice("SVC_test_".length);
    const disguises = [
      key,
      key.toLowerCase(),
      key.replaceAll("_", "%5F"),
      key.replaceAll("_", "%5f").replace("S", "%53"),
      encodeURIComponent(encodeURIComponent(key.replaceAll("_", "%5F"))),
      `${key}%zz`,
    ];
    for (const one of disguises) {
      await door.send({ path: `/v1/relying-party/me/${one}` });
      await door.send({ path: `${mePath}?api_key=${one}` });
    }
    const journal = JSON.stringify(door.world.journal.list());
    expect(door.world.journal.list()).toHaveLength(disguises.length * 2);
    expect(journal).not.toContain(body);
    expect(journal).not.toContain(body.toLowerCase());
    await door.close();
  });

  test("R46 the journal names a key by its ref and a fingerprint", async () => {
    const door = await open("key-states");
    await door.me({ ref: "active" });
    await door.me({ header: "SVC_live_0123456789abcdef" });
    await door.me(undefined);
    expect(door.world.journal.list()).toMatchObject([
      { key: "active", fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/), pathId: "200.test", code: null },
      {
        key: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
        pathId: "401.unknown",
        code: "unauthorized",
      },
      { key: null, fingerprint: null, pathId: "401.missing", status: 401 },
    ]);
    await door.close();
  });
});
