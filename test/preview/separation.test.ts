import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { released } from "../support/coverage.js";
import { describeDoors } from "../support/doors.js";
import {
  attestationsPath,
  consentsPath,
  type Json,
  json,
  openPreview,
  previewDescription,
  purpose,
  releasedScenario,
} from "./client.js";

const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"];
const farmersIn = (value: unknown) => JSON.stringify(value).match(/farmer_[0-9a-f]{16}/g) ?? [];

test("R44 a test key gets only records of synthetic farmers, each marked as synthetic", async () => {
  const { ask, attestations, get, farmer, sandbox } = openPreview();
  for (const index of [0, 5, 6, 7, 8, 9]) await ask("bank", index, { permissions });
  sandbox.clock.advance("3h");
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
});

test.each(["bank-live", "insurer-live"])("R45 a live key gets no synthetic farmer (%s)", async (key) => {
  const { ask, attestations, cancel, get, send, farmer, sandbox } = openPreview();
  const { id } = (await ask("bank", 0, { permissions }, { "idempotency-key": "k" })).json.data;
  sandbox.clock.advance("3h");
  const all = (await attestations("bank")).json.data;
  const before = JSON.stringify(sandbox.consents.list());
  const unknown = await ask(key, 0, { farmer_id: "farmer_0000000000000000" });
  const asked = [await ask(key, 0), await ask(key, 49), unknown];
  const seen = [
    ...asked,
    await ask(key, 0, {}, { "idempotency-key": "k" }),
    await get(key, id),
    await cancel(key, id),
    ...(await Promise.all(all.map((one: Json) => get(key, `${attestationsPath}/${one.id}`)))),
  ];
  expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 404));
  for (const query of ["", "?limit=100", `?farmer_id=${farmer(0)}`, `?consent_request_id=${id}`]) {
    const listed = await attestations(key, query);
    expect([query, listed.status, listed.json.data, listed.json.page.total]).toEqual([query, 200, [], 0]);
    seen.push(listed);
  }
  const bodies = seen.map(({ body }) => body);
  expect(farmersIn(bodies)).toEqual([]);
  expect(bodies.join()).not.toMatch(/consent_\w{20}|attestation_\w{20}|surname|parcel/);
  // Answers do not tell whether a record exists.
  expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
  expect((await get(key, id)).body).toBe((await get(key, "consent_nothing")).body);
  expect((await send(key, { path: consentsPath })).status).toBe(405);
  expect(JSON.stringify(sandbox.consents.list())).toBe(before);
});

test("R45 an organization cannot tell the records of another one from none", async () => {
  const { ask, attestations, cancel, get, sandbox } = openPreview();
  const { id } = (await ask("bank", 0, { permissions })).json.data;
  sandbox.clock.advance("3h");
  const [first] = (await attestations("bank")).json.data;
  const none = await get("insurer", "consent_00000000000000000000");
  expect(none.status).toBe(404);
  expect((await get("insurer", id)).body).toBe(none.body);
  expect((await cancel("insurer", id)).body).toBe(none.body);
  const other = await get("insurer", `${attestationsPath}/${first.id}`);
  expect([other.status, other.body]).toEqual([
    404,
    (await get("insurer", `${attestationsPath}/attestation_00000000000000000000`)).body,
  ]);
  for (const query of ["", `?consent_request_id=${id}`, `?farmer_id=${first.farmer_id}`])
    expect((await attestations("insurer", query)).json).toMatchObject({ data: [], page: { total: 0 } });
  expect((await get("bank", id)).json.data.status).toBe("granted");
});

const previewPaths = Object.keys(previewDescription.paths)
  .filter((path) => released.every((one) => one.path !== path))
  .map((path) => path.replace("{id}", "consent_DueHy7u0Wg5syrccR8CS"));

describeDoors("without the preview", (open) => {
  test.each(["minimal", "typical"] as const)("R49 announced paths are unknown (%s)", async (profile) => {
    const { sandbox, send, close } = await open({ ...releasedScenario, assumptions: { profile } });
    const headers = { "x-api-key": sandbox.secret("bank"), ...json, "idempotency-key": "k" };
    const { farmer_id } = sandbox.farmers.at(0);
    const body = JSON.stringify({ farmer_id, purpose, permissions: ["land"] });
    const withoutId = (seen: object) => JSON.stringify(seen).replace(/req_\w+/, "");
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"]) {
      const sent = { method, headers, ...(/POST|PUT|DELETE/.test(method) && { body }) };
      const unknown = await send({ ...sent, path: "/v1/relying-party/nothing" });
      expect(unknown.status).toBe(404);
      for (const path of previewPaths.flatMap((one) => [one, `${one}?limit=0&x=1`])) {
        const seen = await send({ ...sent, path });
        expect([path, method, withoutId(seen)]).toEqual([path, method, withoutId(unknown)]);
      }
    }
    expect([...new Set(sandbox.requests.list().map(({ pathId }) => pathId))]).toEqual(["404.unknown_path"]);
    await close();
  });
});

test("R49 without the preview the library refuses consent requests, and snapshots have none", () => {
  const sandbox = createSandbox({ scenario: releasedScenario });
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
