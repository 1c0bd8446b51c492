import { expect, test } from "vitest";
import { oneKey, openApi } from "../support/api-client.js";
import { headerOf, mePath } from "../support/doors.js";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("R1 R2 R4 a permitted key gets the context of the key, and nothing else", async () => {
  const seen = await openApi("key-states").me({ ref: "active" });
  expect([seen.status, headerOf(seen, "content-type")]).toEqual([200, "application/json"]);
  expect(JSON.parse(seen.body)).toEqual({
    data: {
      organization: { id: expect.stringMatching(uuid), name: "Harvest Cooperative Bank", type: "bank" },
      environment: "test",
      scopes: ["attestations:read"],
      limits: { per_minute: 60, per_day: 1000 },
      usage: { today: 1 },
    },
  });
});

test.each([
  ["active", "test", "SVC_test_"],
  ["live", "live", "SVC_live_"],
  ["legacy", "test", "legacysvc_test_"],
  ["legacy-live", "live", "legacysvc_live_"],
])("R3 R16 the environment of %s is %s, as its prefix %s says", async (ref, environment, prefix) => {
  const { sandbox, data } = openApi("key-states");
  expect(sandbox.secret(ref).startsWith(prefix)).toBe(true);
  expect((await data(ref)).environment).toBe(environment);
});

test("R5 the limits are the key's own", async () => {
  expect((await openApi("key-states").data("replacement")).limits).toEqual({
    per_minute: 120,
    per_day: 5000,
  });
});

test("R6 R24 usage.today counts every request of today, the current one included", async () => {
  const { sandbox, data } = openApi("key-states");
  const today = async () => (await data("active")).usage.today;
  expect([await today(), await today(), await today()]).toEqual([1, 2, 3]);
  // The day ends at midnight UTC, fifteen hours after the scenario's start.
  sandbox.clock.advance("15h");
  expect(await today()).toBe(1);
});

test("R8 a query changes nothing in the answer", async () => {
  const { sandbox, send, data } = openApi("key-states");
  const plain = await data("active");
  const headers = { "x-api-key": sandbox.secret("active"), "content-type": "application/json" };
  const loaded = await send({ headers, path: `${mePath}?environment=live&x=1` });
  expect(JSON.parse(loaded.body).data).toEqual({ ...plain, usage: { today: 2 } });
});

test("me_scope: null lets a key without scopes for the endpoint in", async () => {
  const { status } = openApi(oneKey({ scopes: ["consents:read"] }, { assumptions: { me_scope: null } }));
  expect(await status("key")).toBe(200);
});
