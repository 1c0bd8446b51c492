import { expect, test } from "vitest";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import { describeDoors } from "../support/doors.js";

describeDoors("keys in the journal", (open) => {
  test("R46 a key in path or query, however encoded, does not reach the journal", async () => {
    const door = await open("key-states");
    const key = scenarioSecret(door.world, "active");
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
      await door.send({ path: `/v1/relying-party/me?api_key=${one}` });
    }
    const entries = door.world.journal.list();
    expect(entries).toHaveLength(disguises.length * 2);
    expect(JSON.stringify(entries).toLowerCase()).not.toContain(key.slice("SVC_test_".length).toLowerCase());
    await door.close();
  });

  test("R46 the journal names a key by its ref and a fingerprint", async () => {
    const door = await open("key-states");
    await door.me({ ref: "active" });
    await door.me({ header: "SVC_live_0123456789abcdef" });
    await door.me(undefined);
    const fingerprint = expect.stringMatching(/^[0-9a-f]{12}$/);
    expect(door.world.journal.list()).toMatchObject([
      { key: "active", fingerprint, pathId: "200.test", code: null },
      { key: null, fingerprint, pathId: "401.unknown", code: "unauthorized" },
      { key: null, fingerprint: null, pathId: "401.missing", status: 401 },
    ]);
    await door.close();
  });
});
