import { expect, test } from "vitest";
import { headerOf } from "../support/doors.js";
import { attestationsPath, consentsPath, type Json, json, openPreview, purpose } from "./client.js";

test("a consent request is pending for a week at most, and its consent lasts 90 days", async () => {
  const { ask, farmer, get, sandbox } = openPreview();
  const made = await ask("bank", 0, { permissions: ["identity", "loans"] });
  expect(made.status).toBe(201);
  expect(made.json.data).toEqual({
    ...{ id: expect.stringMatching(/^consent_\w{20}$/), synthetic: true, farmer_id: farmer(0) },
    ...{ status: "pending", purpose, permissions: ["identity", "loans"] },
    ...{ created_at: "2026-03-02T09:00:00.000Z", respond_by: "2026-03-09T09:00:00.000Z" },
    expires_at: "2026-05-31T09:00:00.000Z",
    history: [{ status: "pending", at: "2026-03-02T09:00:00.000Z", by: "relying_party" }],
  });
  const shown = await get("bank-second", made.json.data.id);
  expect([shown.status, shown.json]).toEqual([200, made.json]);
  expect(sandbox.requests.list().map(({ path, status, pathId }) => [path, status, pathId])).toEqual([
    [consentsPath, 201, "201.createConsentRequest"],
    [`${consentsPath}/${made.json.data.id}`, 200, "200.getConsentRequest"],
  ]);
});

test("a consent ends when the relying party requests it, up to 365 days ahead", async () => {
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
  expect([again.status, again.json]).toEqual([201, made.json]);
  expect(headerOf(again, "idempotent-replayed")).toBe("true");
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
  expect(late).toMatchObject({ status: 201, json: { data: { id: made.json.data.id, status: "expired" } } });
  expect((await ask("bank", 0, body)).status).toBe(422);
});

const longest = "k".repeat(255);
const live = "SVC_live_9f8e7d6c5b4a";
const taken = ["k", '"k"', '" "', '"a\\"b\\\\"', longest, `"${longest}"`, "a-b_c.d:e/f=+"];
const refused = ['""', '"', '"a', "a b", "a,b", `${longest}k`, `"${longest}k"`, live, `"x${live}"`];
test.each(taken)("the Idempotency-Key %s is taken", async (key) => {
  expect((await openPreview().ask("bank", 0, {}, { "idempotency-key": key })).status).toBe(201);
});
test.each(refused)("the Idempotency-Key %s is refused", async (key) => {
  const { ask, sandbox } = openPreview();
  const { status, json } = await ask("bank", 0, {}, { "idempotency-key": key });
  expect([status, Object.keys(json.error.details.fields)]).toEqual([422, ["Idempotency-Key"]]);
  expect(sandbox.consents.list()).toEqual([]);
});

test("one scenario and seed give the same ids and responses, another seed gives others", async () => {
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

const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"];

test("a grant makes an attestation for each permission, ready a minute later", async () => {
  const { ask, attestations, get, farmer, sandbox } = openPreview();
  const states = async () =>
    (await attestations("bank")).json.data.map((one: Json) => [one.type, one.production, one.validity]);
  const consent = (await ask("bank", 0, { permissions: ["livestock", "identity"] })).json.data;
  expect((await attestations("bank")).json).toEqual({ data: [], page: { limit: 20, offset: 0, total: 0 } });
  sandbox.clock.advance("2h");
  expect(await states()).toEqual([
    ["livestock", "processing", null],
    ["identity", "processing", null],
  ]);
  sandbox.clock.advance(59_999);
  expect((await states())[0]).toEqual(["livestock", "processing", null]);
  sandbox.clock.advance(1);
  const [livestock] = (await attestations("bank")).json.data;
  expect(livestock).toEqual({
    ...{ id: expect.stringMatching(/^attestation_\w{20}$/), synthetic: true, type: "livestock" },
    ...{ farmer_id: farmer(0), consent_request_id: consent.id, production: "ready", validity: "active" },
    ...{ requested_at: "2026-03-02T11:00:00.000Z", produced_at: "2026-03-02T11:01:00.000Z" },
    ...{ valid_from: "2026-03-02T11:01:00.000Z", valid_until: consent.expires_at },
    as_of: "2026-03-02T09:00:00.000Z",
    subject: { farmer_id: farmer(0), synthetic: true, livestock: sandbox.farmers.at(0).livestock },
  });
  expect((await get("bank", `${attestationsPath}/${livestock.id}`)).json.data).toEqual(livestock);
});

test("an attestation contains the data that the farmer consented to share, and nothing more", async () => {
  const { ask, attestations, sandbox } = openPreview();
  await ask("bank", 0, { permissions });
  sandbox.clock.advance("3h");
  const { data } = (await attestations("bank")).json;
  const always = ["farmer_id", "synthetic"];
  expect(Object.fromEntries(data.map(({ type, subject }: Json) => [type, Object.keys(subject)]))).toEqual({
    identity: [...always, "name", "sex", "birth_year", "language", "household", "location", "cooperative"],
    ...{ land: [...always, "farmer_type", "farm_area_ha", "parcels"], production: [...always, "crops"] },
    ...{ livestock: [...always, "livestock"], insurance: [...always, "insurance"] },
    loans: [...always, "loans"],
  });
  const land = JSON.stringify(data.find(({ type }: Json) => type === "land").subject);
  expect(land).not.toMatch(/crop:|seasons|harvest|name/);
});

test("an attestation ends with its consent, and has no subject then", async () => {
  const { ask, attestations, cancel, sandbox } = openPreview();
  const ends = async () =>
    (await attestations("bank")).json.data.map(({ validity, valid_until, subject }: Json) => [
      validity,
      valid_until,
      subject === null,
    ]);
  const cancelled = (await ask("bank", 0)).json.data;
  await ask("bank", 3);
  await ask("bank", 0, { expires_at: "2026-04-06T09:00:00Z" });
  sandbox.clock.advance("1d");
  await cancel("bank", cancelled.id);
  expect(await ends()).toEqual([
    ["revoked", "2026-03-03T09:00:00.000Z", true],
    ["active", "2026-05-31T09:00:00.000Z", false],
    ["active", "2026-04-06T09:00:00.000Z", false],
  ]);
  sandbox.clock.advance("34d");
  expect(await ends()).toEqual([
    ["revoked", "2026-03-03T09:00:00.000Z", true],
    ["revoked", "2026-04-01T11:00:00.000Z", true],
    ["expired", "2026-04-06T09:00:00.000Z", true],
  ]);
});

test("production fails for the farmer without records, and when the consent ends before it is done", async () => {
  const { ask, attestations, cancel, sandbox } = openPreview();
  await ask("bank", 4, { permissions: ["land", "loans"] });
  const overtaken = (await ask("bank", 0)).json.data;
  sandbox.clock.advance(2 * 3_600_000 + 1000);
  await cancel("bank", overtaken.id);
  sandbox.clock.advance("1m");
  const { data } = (await attestations("bank")).json;
  expect(data.map((one: Json) => [one.production, one.validity, one.produced_at])).toEqual([
    ["failed", null, "2026-03-02T11:01:00.000Z"],
    ["failed", null, "2026-03-02T11:01:00.000Z"],
    ["failed", null, "2026-03-02T11:00:01.000Z"],
  ]);
});

test("attestations are listed page by page, each once, and by consent request and farmer", async () => {
  const { ask, attestations, farmer, sandbox } = openPreview();
  const consents = [];
  for (const index of [0, 4, 0]) consents.push((await ask("bank", index, { permissions })).json.data.id);
  sandbox.clock.advance("3h");
  const all = (await attestations("bank", "?limit=100")).json;
  expect([all.data.length, all.page]).toEqual([18, { limit: 100, offset: 0, total: 18 }]);
  const paged = [];
  for (let offset = 0; offset < 20; offset += 5) {
    const { data, page } = (await attestations("bank-second", `?limit=5&offset=${offset}`)).json;
    expect(page).toEqual({ limit: 5, offset, total: 18 });
    paged.push(...data);
  }
  expect(paged).toEqual(all.data);
  const ids = async (q: string) =>
    (await attestations("bank", q)).json.data.map((one: Json) => one.consent_request_id);
  expect(await ids(`?consent_request_id=${consents[1]}`)).toEqual(Array(6).fill(consents[1]));
  expect(new Set(await ids(`?farmer_id=${farmer(0)}`))).toEqual(new Set([consents[0], consents[2]]));
  for (const q of [`farmer_id=${farmer(4)}&consent_request_id=${consents[0]}`, "farmer_id=x", "farmer_id="])
    expect(await ids(`?${q}`)).toEqual([]);
  expect((await attestations("bank", "?offset=999999999999999")).json.page.total).toBe(18);
});
