import { expect, test } from "vitest";
import { permissions } from "../src/domain/attestation.js";
import { advanceClock } from "../src/sandbox/operations/change-world.js";
import { decideConsent, suspendAttestation } from "../src/sandbox/operations/decide-consent.js";
import { attestationsPath, describePreview, type Json } from "./support/preview-client.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const states = ({ json }: { json: Json }) =>
  json.data.map(({ type, production, validity }: Json) => [type, production, validity]);

describePreview("attestations", (open) => {
  test("are made one for each permission once the farmer has granted, and are ready a minute later", async () => {
    const { ask, attestations, get, farmer, door } = await open();
    const consent = (await ask("bank", 0, { permissions: ["livestock", "identity"] })).json.data;
    expect((await attestations("bank")).json).toEqual({ data: [], page: { limit: 20, offset: 0, total: 0 } });
    advanceClock(door.world, 2 * hour);
    expect(states(await attestations("bank"))).toEqual([
      ["livestock", "processing", null],
      ["identity", "processing", null],
    ]);
    advanceClock(door.world, minute - 1);
    expect(states(await attestations("bank"))[0]).toEqual(["livestock", "processing", null]);
    advanceClock(door.world, 1);
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
      subject: {
        farmer_id: farmer(0),
        synthetic: true,
        livestock: door.world.farmers.at(0).livestock,
      },
    });
    expect((await get("bank", `${attestationsPath}/${livestock.id}`)).json.data).toEqual(livestock);
    await door.close();
  });

  test("come in the order in which they are granted, so that pages stay as they are", async () => {
    const { ask, attestations, door } = await open();
    const late = (await ask("bank", 2)).json.data;
    const early = (await ask("bank", 0)).json.data;
    advanceClock(door.world, 3 * hour);
    const before = (await attestations("bank")).json.data;
    decideConsent(door.world, { id: late.id, do: "grant" });
    const after = (await attestations("bank")).json.data;
    expect(after.map((one: Json) => one.consent_request_id)).toEqual([early.id, late.id]);
    expect(after[0]).toEqual(before[0]);
    await door.close();
  });

  test("say what the farmer consented to and nothing more", async () => {
    const { ask, attestations, door } = await open();
    await ask("bank", 0, { permissions });
    advanceClock(door.world, 3 * hour);
    const { data } = (await attestations("bank")).json;
    const members = Object.fromEntries(data.map(({ type, subject }: Json) => [type, Object.keys(subject)]));
    const always = ["farmer_id", "synthetic"];
    expect(members).toEqual({
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
    await door.close();
  });

  test("end with the consent, and show nothing then", async () => {
    const { ask, attestations, cancel, door } = await open();
    const ended = async () =>
      (await attestations("bank")).json.data.map(({ validity, valid_until, subject }: Json) => [
        validity,
        valid_until,
        subject === null,
      ]);
    const cancelled = (await ask("bank", 0)).json.data;
    await ask("bank", 3);
    await ask("bank", 0, { expires_at: "2026-04-06T09:00:00Z" });
    advanceClock(door.world, day);
    await cancel("bank", cancelled.id);
    expect(await ended()).toEqual([
      ["revoked", "2026-03-03T09:00:00.000Z", true],
      ["active", "2026-05-31T09:00:00.000Z", false],
      ["active", "2026-04-06T09:00:00.000Z", false],
    ]);
    advanceClock(door.world, 34 * day);
    expect(await ended()).toEqual([
      ["revoked", "2026-03-03T09:00:00.000Z", true],
      ["revoked", "2026-04-01T11:00:00.000Z", true],
      ["expired", "2026-04-06T09:00:00.000Z", true],
    ]);
    await door.close();
  });

  test("fail for the farmer of whom there are no records, and when the consent ends before they are ready", async () => {
    const { ask, attestations, cancel, door } = await open();
    await ask("bank", 4, { permissions: ["land", "loans"] });
    const overtaken = (await ask("bank", 0)).json.data;
    advanceClock(door.world, 2 * hour + 1000);
    await cancel("bank", overtaken.id);
    advanceClock(door.world, minute);
    const { data } = (await attestations("bank")).json;
    expect(
      data.map(({ production, validity, produced_at }: Json) => [production, validity, produced_at]),
    ).toEqual([
      ["failed", null, "2026-03-02T11:01:00.000Z"],
      ["failed", null, "2026-03-02T11:01:00.000Z"],
      ["failed", null, "2026-03-02T11:00:01.000Z"],
    ]);
    await door.close();
  });

  test("can be suspended, and show nothing until the suspension ends", async () => {
    const { ask, attestations, door } = await open();
    await ask("bank", 0, { permissions: ["land", "loans"] });
    advanceClock(door.world, 3 * hour);
    const [{ id }] = (await attestations("bank")).json.data;
    suspendAttestation(door.world, { id, do: "suspend" });
    const shown = async () =>
      (await attestations("bank")).json.data.map((one: Json) => [one.validity, one.subject === null]);
    expect(await shown()).toEqual([
      ["suspended", true],
      ["active", false],
    ]);
    expect(() => suspendAttestation(door.world, { id, do: "suspend" })).toThrow(
      expect.objectContaining({ code: "attestation_not_open" }),
    );
    suspendAttestation(door.world, { id, do: "resume" });
    expect(await shown()).toEqual([
      ["active", false],
      ["active", false],
    ]);
    await door.close();
  });

  test("are listed page by page, every one once, and by consent request and farmer", async () => {
    const { ask, attestations, farmer, door } = await open();
    const consents = [];
    for (const index of [0, 4, 0]) consents.push((await ask("bank", index, { permissions })).json.data.id);
    advanceClock(door.world, 3 * hour);
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
    expect(await ids(`?farmer_id=${farmer(4)}&consent_request_id=${consents[0]}`)).toEqual([]);
    expect(await ids("?farmer_id=nobody")).toEqual([]);
    expect(await ids("?farmer_id=")).toEqual([]);
    expect((await attestations("bank", "?offset=999999999999999")).json.page.total).toBe(18);
    await door.close();
  });
});
