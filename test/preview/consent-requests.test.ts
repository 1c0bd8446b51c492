import { expect, test } from "vitest";
import { headerOf } from "../support/doors.js";
import { consentsPath, json, openPreview, purpose } from "./client.js";

test("a consent request is pending for a week at most, and its consent lasts 90 days", async () => {
  const { ask, farmer, get, sandbox } = openPreview();
  const made = await ask("bank", 0, { permissions: ["identity", "loans"] });
  expect(made.status).toBe(201);
  expect(made.json.data).toEqual({
    id: expect.stringMatching(/^consent_\w{20}$/),
    synthetic: true,
    farmer_id: farmer(0),
    status: "pending",
    purpose,
    permissions: ["identity", "loans"],
    created_at: "2026-03-02T09:00:00.000Z",
    respond_by: "2026-03-09T09:00:00.000Z",
    expires_at: "2026-05-31T09:00:00.000Z",
    history: [{ status: "pending", at: "2026-03-02T09:00:00.000Z", by: "relying_party" }],
  });
  const shown = await get("bank-second", made.json.data.id);
  expect([shown.status, shown.json]).toEqual([200, made.json]);
  expect(sandbox.requests.list().map(({ path, status, pathId }) => [path, status, pathId])).toEqual([
    [consentsPath, 201, "200.test"],
    [`${consentsPath}/${made.json.data.id}`, 200, "200.test"],
  ]);
});

test("a consent ends when the relying party asks, up to 365 days ahead", async () => {
  const { ask, get, sandbox } = openPreview();
  for (const [expires_at, shown] of [
    ["2026-03-02T09:00:00.001Z", "2026-03-02T09:00:00.001Z"],
    ["2027-03-02T10:00:00+01:00", "2027-03-02T09:00:00.000Z"],
    ["2026-06-01t00:00:00.123456789z", "2026-06-01T00:00:00.123Z"],
  ]) {
    const { data } = (await ask("bank", 0, { expires_at })).json;
    expect(data.expires_at).toBe(shown);
    expect(data.respond_by <= data.expires_at).toBe(true);
  }
  const soon = (await ask("bank", 0, { expires_at: "2026-03-02T10:00:00Z" })).json.data;
  expect(soon.respond_by).toBe("2026-03-02T10:00:00.000Z");
  sandbox.clock.advance("1h");
  expect((await get("bank", soon.id)).json.data.history).toMatchObject([
    { status: "pending" },
    { status: "expired", at: soon.expires_at, by: "system" },
  ]);
});

test("a request that is cancelled again is refused with its status", async () => {
  const { ask, cancel, get } = openPreview();
  const { id } = (await ask("bank", 2)).json.data;
  const cancelled = await cancel("bank-second", id);
  const { status, json } = await cancel("bank", id);
  expect([status, json.error.code, json.error.details]).toEqual([409, "conflict", { status: "cancelled" }]);
  expect((await get("bank", id)).json).toEqual(cancelled.json);
});

test("an Idempotency-Key makes one request of an organization, however its body is ordered and spaced", async () => {
  const { ask, send, sandbox, farmer } = openPreview();
  const key = { "idempotency-key": "application-7" };
  const made = await ask("bank", 0, {}, key);
  expect(headerOf(made, "idempotent-replayed")).toBeUndefined();
  const again = await send("bank-second", {
    method: "POST",
    path: consentsPath,
    headers: { ...json, "idempotency-key": '"application-7"' },
    body: JSON.stringify({ permissions: ["land"], purpose, farmer_id: farmer(0) }, null, 2),
  });
  expect([again.status, again.json, headerOf(again, "idempotent-replayed")]).toEqual([
    201,
    made.json,
    "true",
  ]);
  const other = await ask("bank", 1, {}, key);
  expect([other.status, other.json.error.code]).toEqual([422, "idempotency_key_reused"]);
  expect((await ask("insurer", 1, {}, key)).status).toBe(201);
  expect(sandbox.consents.list()).toHaveLength(2);
});

test("a request that is sent again shows its status by then, even if its end is past by then", async () => {
  const { ask, sandbox } = openPreview();
  const body = { expires_at: "2026-03-02T12:00:00Z" };
  const made = await ask("bank", 0, body, { "idempotency-key": "k" });
  sandbox.clock.advance("4h");
  const late = await ask("bank", 0, body, { "idempotency-key": "k" });
  expect([late.status, late.json.data.id, late.json.data.status]).toEqual([
    201,
    made.json.data.id,
    "expired",
  ]);
  expect((await ask("bank", 0, body)).status).toBe(422);
});

const longest = "k".repeat(255);
const live = "SVC_live_9f8e7d6c5b4a";
test.each([
  "k",
  '"k"',
  '" "',
  '"a\\"b\\\\"',
  longest,
  `"${longest}"`,
  "a-b_c.d:e/f=+",
])("the Idempotency-Key %s is taken", async (key) => {
  expect((await openPreview().ask("bank", 0, {}, { "idempotency-key": key })).status).toBe(201);
});
test.each([
  '""',
  '"',
  '"a',
  "a b",
  "a,b",
  `${longest}k`,
  `"${longest}k"`,
  live,
  `"x${live}"`,
])("the Idempotency-Key %s is refused", async (key) => {
  const { ask, sandbox } = openPreview();
  const { status, json } = await ask("bank", 0, {}, { "idempotency-key": key });
  expect([status, Object.keys(json.error.details.fields)]).toEqual([422, ["Idempotency-Key"]]);
  expect(sandbox.consents.list()).toEqual([]);
});

test("one scenario and seed give the same ids and answers, another seed gives others", async () => {
  const run = async (seed: number) => {
    const { ask, attestations, sandbox } = openPreview({ seed });
    const bodies = [];
    for (const farmer of [0, 5, 6, 7]) bodies.push((await ask("bank", farmer)).body);
    sandbox.clock.advance("1d");
    return [...bodies, (await attestations("bank")).body].join();
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(1)).not.toBe(await run(2));
});
