import { expect, test } from "vitest";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import { headerOf } from "./support/doors.js";
import { attestationsPath, consentsPath, describePreview, purpose } from "./support/preview-client.js";

const json = { "content-type": "application/json" };

/** Bodies that are none, by what is wrong with them. */
const noBodies: readonly (readonly [string, Readonly<Record<string, string>>, string | undefined])[] = [
  ["none at all", {}, undefined],
  ["none, announced as JSON", json, undefined],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, "farmer_id=1"],
  ["no type", { "content-type": "" }, "{}"],
  ["plain text", { "content-type": "text/plain" }, "{}"],
  ["a type that only begins like JSON", { "content-type": "application/jsonp" }, "{}"],
  ["half of it", json, '{"farmer_id":'],
  ["two of them", json, "{}{}"],
  ["not JSON", json, "farmer_id: 1"],
  ["too long", json, JSON.stringify({ farmer_id: "x".repeat(70_000) })],
];

const body = { farmer_id: "farmer_0000000000000000", purpose, permissions: ["land"] };

/** Bodies that are not as described, and the fields that are named. */
const wrongBodies: readonly (readonly [unknown, readonly string[]])[] = [
  [null, ["body"]],
  [[], ["body"]],
  ["text", ["body"]],
  [7, ["body"]],
  [{}, ["farmer_id", "purpose", "permissions"]],
  [{ ...body, farmer_id: 7 }, ["farmer_id"]],
  [{ ...body, farmer_id: "" }, ["farmer_id"]],
  [{ ...body, farmer_id: "x".repeat(201) }, ["farmer_id"]],
  [{ ...body, purpose: "loan" }, ["purpose"]],
  [{ ...body, purpose: {} }, ["purpose.code", "purpose.text"]],
  [{ ...body, purpose: { code: "curiosity", text: "" } }, ["purpose.code", "purpose.text"]],
  [{ ...body, purpose: { ...purpose, text: "x".repeat(501) } }, ["purpose.text"]],
  [{ ...body, permissions: [] }, ["permissions"]],
  [{ ...body, permissions: "land" }, ["permissions"]],
  [{ ...body, permissions: ["land", "land"] }, ["permissions"]],
  [{ ...body, permissions: ["land", "income", 7] }, ["permissions[1]", "permissions[2]"]],
  [{ ...body, expires_at: 7 }, ["expires_at"]],
  [{ ...body, expiresAt: "2026-04-01T00:00:00Z", constructor: 1 }, ["expiresAt", "constructor"]],
  [JSON.parse('{"__proto__":{"farmer_id":"x"}}'), ["farmer_id", "purpose", "permissions", "__proto__"]],
];

describePreview("a refusal of an announced endpoint", (open) => {
  test("is 400 for a body that is none, and says why", async () => {
    const { send, door } = await open();
    for (const [what, headers, sent] of noBodies) {
      const got = await send("bank", {
        method: "POST",
        path: consentsPath,
        headers,
        ...(sent !== undefined && { body: sent }),
      });
      expect([what, got.status, got.json.error.code]).toEqual([what, 400, "bad_request"]);
      expect(got.json.error.details.reason).toMatch(/^it is /);
    }
    expect(door.world.consents.all).toEqual([]);
    await door.close();
  });

  test("is 422 for a body that is not as described, and names every field of which something is wrong", async () => {
    const { send, door } = await open();
    for (const [sent, fields] of wrongBodies) {
      const text = JSON.stringify(sent);
      const got = await send("bank", { method: "POST", path: consentsPath, headers: json, body: text });
      expect([text, got.status, got.json.error.code]).toEqual([text, 422, "validation_failed"]);
      expect([text, Object.keys(got.json.error.details.fields)]).toEqual([text, fields]);
    }
    expect(door.world.consents.all).toEqual([]);
    await door.close();
  });

  test("is 422 for an end that is no time with a zone, past, or too far ahead", async () => {
    const { ask, door } = await open();
    for (const expires_at of [
      "",
      "tomorrow",
      "2026-03-12",
      "2026-03-12T09:00:00",
      "2026-02-30T09:00:00Z",
      "2026-03-02T09:00:00Z",
      "2026-03-02T08:59:59Z",
      "2027-03-02T09:00:00.001Z",
      "9999-12-31T23:59:59Z",
    ]) {
      const got = await ask("bank", 0, { expires_at });
      expect([expires_at, got.status, Object.keys(got.json.error.details.fields)]).toEqual([
        expires_at,
        422,
        ["expires_at"],
      ]);
    }
    expect(door.world.consents.all).toEqual([]);
    await door.close();
  });

  test("takes the times and the texts that the description allows", async () => {
    const { ask, door } = await open();
    const ends = [
      "2026-06-01T00:00:00.123456+00:00",
      "2026-06-01t00:00:00.123456789z",
      "2026-06-01T00:00:00.123Z",
    ];
    for (const expires_at of ends) {
      const { json } = await ask("bank", 0, { expires_at });
      expect([expires_at, json.data.expires_at]).toEqual([expires_at, "2026-06-01T00:00:00.123Z"]);
    }
    const asked = (text: string) => ask("bank", 0, { purpose: { ...purpose, text } });
    expect((await asked("🌾".repeat(500))).status).toBe(201);
    expect((await asked("🌾".repeat(501))).status).toBe(422);
    await door.close();
  });

  test("is 404 for a farmer that there is not, and names no farmer", async () => {
    const { ask, farmer, door } = await open();
    for (const farmer_id of [farmer(50), farmer(4_000_000_000), "0", "farmer_", farmer(0).toUpperCase()]) {
      const got = await ask("bank", 0, { farmer_id });
      expect([farmer_id, got.status, got.json.error.code]).toEqual([farmer_id, 404, "not_found"]);
      expect(got.body).not.toContain(farmer_id);
    }
    expect((await ask("bank", 49)).status).toBe(201);
    await door.close();
  });

  test("is 404 for ids of nothing, of other things, and of what is encoded or spelled in another way", async () => {
    const { ask, get, cancel, door } = await open();
    const { id } = (await ask("bank", 0)).json.data;
    for (const other of [
      "1",
      "consent_",
      id.toLowerCase(),
      `${id}%20`,
      encodeURIComponent(`${id}/`),
      "%00",
      "me",
    ]) {
      expect([other, (await get("bank", other)).status]).toEqual([other, 404]);
      expect([other, (await cancel("bank", other)).status]).toEqual([other, 404]);
      expect([other, (await get("bank", `${attestationsPath}/${other}`)).status]).toEqual([other, 404]);
    }
    expect((await get("bank", `${attestationsPath}/${id}`)).status).toBe(404);
    await door.close();
  });

  test("is 422 for a page out of range, and for parameters given twice or unknown", async () => {
    const { attestations, door } = await open();
    const queries: [string, string][] = [
      ["?limit=0", "limit"],
      ["?limit=101", "limit"],
      ["?limit=-1", "limit"],
      ["?limit=1.5", "limit"],
      ["?limit=1e1", "limit"],
      ["?limit=", "limit"],
      ["?limit=ten", "limit"],
      ["?limit=5&limit=6", "limit"],
      ["?offset=-1", "offset"],
      ["?offset=9999999999999999999", "offset"],
      ["?page=2", "page"],
    ];
    for (const [query, field] of queries) {
      const got = await attestations("bank", query);
      expect([query, got.status, Object.keys(got.json.error.details.fields)]).toEqual([query, 422, [field]]);
    }
    await door.close();
  });

  test("is that of the gate for a key that is rejected, not allowed or used up, before anything else is looked at", async () => {
    const { send, door } = await open();
    const requests = [
      { method: "POST", path: consentsPath, headers: json, body: "{" },
      { path: `${consentsPath}/nothing` },
      { method: "POST", path: `${consentsPath}/nothing/cancel` },
      { path: `${attestationsPath}?limit=0` },
      { path: `${attestationsPath}/nothing` },
    ];
    for (const sent of requests) {
      const met = [];
      for (const key of ["bank-revoked", "bank-none", "bank-limited"])
        met.push((await send(key, sent)).status);
      expect([sent.path, met]).toEqual([sent.path, [401, 403, 429]]);
      const without = await door.send(sent);
      expect([without.status, headerOf(without, "x-sandbox-preview")]).toEqual([401, "true"]);
    }
    await door.close();
  });

  test("is 405 for a method that the path does not take, and HEAD is GET without a body", async () => {
    const { ask, send, door } = await open();
    const { id } = (await ask("bank", 0)).json.data;
    const allowed: [string, string][] = [
      [consentsPath, "POST"],
      [`${consentsPath}/${id}`, "GET, HEAD"],
      [`${consentsPath}/${id}/cancel`, "POST"],
      [attestationsPath, "GET, HEAD"],
      [`${attestationsPath}/x`, "GET, HEAD"],
    ];
    for (const [path, allow] of allowed) {
      for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS", allow === "POST" ? "GET" : "POST"]) {
        const got = await send("bank", { method, path });
        expect([path, method, got.status, headerOf(got, "allow")]).toEqual([path, method, 405, allow]);
      }
      const head = await send("bank", { method: "HEAD", path });
      if (allow === "POST") expect([head.status, headerOf(head, "allow")]).toEqual([405, allow]);
      else expect(head.body).toBe("");
    }
    const [get, head] = [
      await send("bank", { path: `${consentsPath}/${id}` }),
      await send("bank", { method: "HEAD", path: `${consentsPath}/${id}` }),
    ];
    expect([head.status, headerOf(head, "content-length")]).toEqual([200, headerOf(get, "content-length")]);
    await door.close();
  });

  test("counts as the request that it is, and leaves the key out of everything (R46)", async () => {
    const { ask, attestations, send, door } = await open();
    const stolen = "SVC_live_9f8e7d6c5b4a3f2e1d0c";
    const before = door.world.registry.key("bank").usage.dayCount;
    const seen = [
      await ask("bank", 0, { purpose: { ...purpose, text: `our key is ${stolen}` } }),
      await ask("bank", 0, { [stolen]: stolen }),
      await ask("bank", 0, { farmer_id: stolen }),
      await attestations("bank", `?${stolen}=${stolen}`),
      await send("bank", { path: `${consentsPath}/${stolen}` }),
      await send("bank", { path: `${attestationsPath}/${encodeURIComponent(encodeURIComponent(stolen))}` }),
    ];
    expect(seen.map(({ status }) => status)).toEqual([422, 422, 404, 422, 404, 404]);
    expect(door.world.registry.key("bank").usage.dayCount).toBe(before + seen.length);
    const shown = JSON.stringify([
      seen.map(({ json }) => json),
      door.world.journal.list(),
      door.world.consents.all,
    ]);
    expect(shown).not.toContain(stolen.slice("SVC_live_".length));
    expect(shown).not.toContain(scenarioSecret(door.world, "bank"));
    await door.close();
  });
});
