import { expect, test } from "vitest";
import { endpoints } from "../src/api/routes.js";
import { permissions } from "../src/domain/attestation.js";
import { createSandbox } from "../src/index.js";
import { advanceClock } from "../src/sandbox/operations/change-world.js";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import { farmerId } from "../src/synthetic/farmer-id.js";
import { describeDoors } from "./support/doors.js";
import { attestationsPath, describePreview, type Json, purpose } from "./support/preview-client.js";
import { previewScenario } from "./support/preview-scenario.js";

const hour = 3_600_000;

/** Everything in a JSON value that is a farmer's: ids and whoever is named. */
function farmersIn(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/farmer_[0-9a-f]{16}/g)].map(([id]) => id);
}

describePreview("keys and farmers", (open) => {
  test("R44 a test key gets records of synthetic farmers alone, and each of them says so", async () => {
    const { ask, attestations, get, farmer, door } = await open();
    for (const index of [0, 5, 6, 7, 8, 9]) await ask("bank", index, { permissions });
    advanceClock(door.world, 3 * hour);
    const { data } = (await attestations("bank", "?limit=100")).json;
    expect(data.length).toBeGreaterThan(5);
    const synthetic = new Set(Array.from({ length: 50 }, (_, index) => farmer(index)));
    for (const shown of data) {
      const again = (await get("bank", `${attestationsPath}/${shown.id}`)).json.data;
      for (const one of [shown, again]) {
        expect(one.synthetic).toBe(true);
        expect(one.subject === null || one.subject.synthetic === true).toBe(true);
        expect(farmersIn(one).filter((id) => !synthetic.has(id))).toEqual([]);
      }
    }
    await door.close();
  });

  test("R45 a live key reaches no farmer: not by id, not in a list, not by a guess, not by what a test key has made", async () => {
    const { ask, attestations, cancel, get, send, farmer, door } = await open();
    const { id } = (await ask("bank", 0, { permissions }, { "idempotency-key": "k" })).json.data;
    advanceClock(door.world, 3 * hour);
    const all = (await attestations("bank")).json.data;
    const before = JSON.stringify(door.world.consents.all);
    for (const key of ["bank-live", "insurer-live"]) {
      const seen = [
        await ask(key, 0),
        await ask(key, 0, {}, { "idempotency-key": "k" }),
        await ask(key, 49),
        await ask(key, 0, { farmer_id: "farmer_0000000000000000" }),
        await get(key, id),
        await cancel(key, id),
        ...(await Promise.all(all.map((one: Json) => get(key, `${attestationsPath}/${one.id}`)))),
      ];
      expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 404));
      for (const query of ["", "?limit=100", `?farmer_id=${farmer(0)}`, `?consent_request_id=${id}`]) {
        const { json, status } = await attestations(key, query);
        expect([query, status, json.data, json.page.total]).toEqual([query, 200, [], 0]);
        seen.push(await attestations(key, query));
      }
      const bodies = seen.map(({ body }) => body);
      expect(farmersIn(bodies)).toEqual([]);
      expect(bodies.join()).not.toMatch(/consent_\w{20}|attestation_\w{20}|surname|parcel/);
      // Whether there is one is not told either.
      expect(new Set([seen[0], seen[2], seen[3]].map((one) => one?.body)).size).toBe(1);
      expect((await get(key, id)).body).toBe((await get(key, "consent_nothing")).body);
      expect((await send(key, { path: "/v1/relying-party/consent-requests" })).status).toBe(405);
    }
    expect(JSON.stringify(door.world.consents.all)).toBe(before);
    await door.close();
  });

  test("R45 what one organization has asked another one cannot see, and not tell from what there is not", async () => {
    const { ask, attestations, cancel, get, door } = await open();
    const { id } = (await ask("bank", 0, { permissions })).json.data;
    advanceClock(door.world, 3 * hour);
    const [first] = (await attestations("bank")).json.data;
    const [mine, none] = [await get("insurer", id), await get("insurer", "consent_00000000000000000000")];
    expect([mine.status, mine.body]).toEqual([404, none.body]);
    expect((await cancel("insurer", id)).body).toBe(none.body);
    const other = await get("insurer", `${attestationsPath}/${first.id}`);
    expect([other.status, other.body]).toEqual([
      404,
      (await get("insurer", `${attestationsPath}/attestation_00000000000000000000`)).body,
    ]);
    for (const query of ["", `?consent_request_id=${id}`, `?farmer_id=${first.farmer_id}`]) {
      expect((await attestations("insurer", query)).json).toMatchObject({ data: [], page: { total: 0 } });
    }
    expect((await get("bank", id)).json.data.status).toBe("granted");
    await door.close();
  });
});

const { preview: _, consents: __, ...released } = previewScenario;
const methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"];
const previewPaths = endpoints
  .filter(({ preview }) => preview === true)
  .map(({ path }) => path.replace("{id}", "consent_DueHy7u0Wg5syrccR8CS"));

describeDoors("without the preview", (open) => {
  test.each([
    "minimal",
    "typical",
  ] as const)("R49 every announced path answers every method, body and query as an unknown path does, byte for byte (%s)", async (profile) => {
    const door = await open({ ...released, assumptions: { profile } });
    const headers = {
      "x-api-key": scenarioSecret(door.world, "bank"),
      "content-type": "application/json",
      "idempotency-key": "k",
    };
    const body = JSON.stringify({ farmer_id: farmerId(1, 0), purpose, permissions: ["land"] });
    const withoutId = (seen: object) => JSON.stringify(seen).replace(/req_\w+/, "");
    for (const path of new Set(previewPaths)) {
      for (const method of methods) {
        const takesBody = method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
        const sent = { method, headers, ...(takesBody && { body }) };
        const unknown = await door.send({ ...sent, path: "/v1/relying-party/nothing" });
        for (const query of ["", "?limit=0&x=1"]) {
          const seen = await door.send({ ...sent, path: path + query });
          expect([path, method, withoutId(seen)]).toEqual([path, method, withoutId(unknown)]);
          expect(seen.status).toBe(404);
        }
      }
    }
    expect(door.world.consents.all).toEqual([]);
    expect(new Set(door.world.journal.list().map(({ pathId }) => pathId))).toEqual(
      new Set(["404.unknown_path"]),
    );
    await door.close();
  });
});

test("R49 without the preview the library and the snapshot know of no consent requests", () => {
  const sandbox = createSandbox({ scenario: released });
  for (const act of [
    () => sandbox.consents.list(),
    () => sandbox.consents.grant("x"),
    () => sandbox.consents.reject("x"),
    () => sandbox.consents.revoke("x"),
    () => sandbox.attestations.list(),
    () => sandbox.attestations.suspend("x"),
    () => sandbox.attestations.resume("x"),
  ]) {
    expect(act).toThrow(
      expect.objectContaining({ code: "not_found", message: expect.stringContaining("preview: true") }),
    );
  }
  expect(sandbox.snapshot()).not.toHaveProperty("consents");
});
