import { expect, test } from "vitest";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import { describeDoors, headerOf, mePath } from "./support/doors.js";
import { oneKey } from "./support/one-key.js";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeDoors("the relying-party API", (open) => {
  test("R1 R2 R4 a permitted key gets the context of the key, and nothing else", async () => {
    const door = await open("key-states");
    const seen = await door.me({ ref: "active" });
    expect(seen.status).toBe(200);
    expect(headerOf(seen, "content-type")).toBe("application/json");
    expect(JSON.parse(seen.body)).toEqual({
      data: {
        organization: { id: expect.stringMatching(uuid), name: "Harvest Cooperative Bank", type: "bank" },
        environment: "test",
        scopes: ["attestations:read"],
        limits: { per_minute: 60, per_day: 1000 },
        usage: { today: 1 },
      },
    });
    await door.close();
  });

  test.each([
    ["active", "test", "SVC_test_"],
    ["live", "live", "SVC_live_"],
    ["legacy", "test", "legacysvc_test_"],
    ["legacy-live", "live", "legacysvc_live_"],
  ])("R3 R16 the environment of %s is %s, as its prefix %s says", async (ref, environment, prefix) => {
    const door = await open("key-states");
    expect(scenarioSecret(door.world, ref).startsWith(prefix)).toBe(true);
    const seen = await door.me({ ref });
    expect(seen.status).toBe(200);
    expect(JSON.parse(seen.body).data.environment).toBe(environment);
    await door.close();
  });

  test("R5 the limits are the key's own", async () => {
    const door = await open("key-states");
    const seen = await door.me({ ref: "replacement" });
    expect(JSON.parse(seen.body).data.limits).toEqual({ per_minute: 120, per_day: 5000 });
    await door.close();
  });

  test("R6 R24 usage.today counts every request of today, the current one included", async () => {
    const door = await open("key-states");
    const todays = [];
    for (let i = 0; i < 3; i++)
      todays.push(JSON.parse((await door.me({ ref: "active" })).body).data.usage.today);
    expect(todays).toEqual([1, 2, 3]);
    // The day ends at midnight UTC, fifteen hours after the scenario's start.
    door.world.clock.advance(15 * 3_600_000);
    expect(JSON.parse((await door.me({ ref: "active" })).body).data.usage.today).toBe(1);
    await door.close();
  });

  test("R7 every 200 carries an X-Request-Id of its own", async () => {
    const door = await open(oneKey({ limits: { per_minute: 1000 } }));
    const ids = new Set<string>();
    for (let i = 0; i < 200; i++) ids.add(headerOf(await door.me({ ref: "key" }), "x-request-id") ?? "");
    expect(ids.size).toBe(200);
    expect(ids.has("")).toBe(false);
    await door.close();
  });

  test("R8 a query string and a body change nothing in the answer", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active"), "content-type": "application/json" };
    const path = `${mePath}?environment=live&x=1`;
    const body = '{"environment":"live"}';
    const plain = await door.send({ headers });
    if (!door.takesGetBody) await expect(door.send({ headers, path, body })).rejects.toThrow(TypeError);
    const loaded = await door.send({ headers, path, ...(door.takesGetBody && { body }) });
    expect(loaded.status).toBe(200);
    expect(JSON.parse(loaded.body).data).toEqual({ ...JSON.parse(plain.body).data, usage: { today: 2 } });
    await door.close();
  });

  test("a body of other letters than ASCII has its length in bytes", async () => {
    const scenario = oneKey({});
    (scenario.organizations as Record<string, { name?: string }>)["test-bank"] = {
      ...scenario.organizations?.["test-bank"],
      name: "Bänk ☂ 𝕏",
    };
    const door = await open(scenario);
    const seen = await door.me({ ref: "key" });
    expect(JSON.parse(seen.body).data.organization.name).toBe("Bänk ☂ 𝕏");
    expect(headerOf(seen, "content-length")).toBe(String(Buffer.byteLength(seen.body)));
    await door.close();
  });

  test("me_scope: null lets a key without scopes for the endpoint in", async () => {
    const door = await open(oneKey({ scopes: ["consents:read"] }, { assumptions: { me_scope: null } }));
    expect((await door.me({ ref: "key" })).status).toBe(200);
    await door.close();
  });
});
