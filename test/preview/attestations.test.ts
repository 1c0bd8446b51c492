import { expect, test } from "vitest";
import { attestationsPath, type Json, openPreview } from "./client.js";

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
    id: expect.stringMatching(/^attestation_\w{20}$/),
    synthetic: true,
    type: "livestock",
    farmer_id: farmer(0),
    consent_request_id: consent.id,
    production: "ready",
    validity: "active",
    requested_at: "2026-03-02T11:00:00.000Z",
    produced_at: "2026-03-02T11:01:00.000Z",
    valid_from: "2026-03-02T11:01:00.000Z",
    valid_until: consent.expires_at,
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
    identity: [
      ...always,
      ...["name", "sex", "birth_year", "language", "household", "location", "cooperative"],
    ],
    land: [...always, "farmer_type", "farm_area_ha", "parcels"],
    production: [...always, "crops"],
    livestock: [...always, "livestock"],
    insurance: [...always, "insurance"],
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
  const ids = async (query: string) =>
    (await attestations("bank", query)).json.data.map((one: Json) => one.consent_request_id);
  expect(await ids(`?consent_request_id=${consents[1]}`)).toEqual(Array(6).fill(consents[1]));
  expect(new Set(await ids(`?farmer_id=${farmer(0)}`))).toEqual(new Set([consents[0], consents[2]]));
  for (const query of [
    `farmer_id=${farmer(4)}&consent_request_id=${consents[0]}`,
    "farmer_id=x",
    "farmer_id=",
  ])
    expect(await ids(`?${query}`)).toEqual([]);
  expect((await attestations("bank", "?offset=999999999999999")).json.page.total).toBe(18);
});
