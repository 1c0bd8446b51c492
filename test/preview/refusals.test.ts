import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { attestationsPath, consentsPath, json, openPreview, previewScenario, purpose } from "./client.js";

const post = (headers: Readonly<Record<string, string>>, body?: string) => ({
  method: "POST",
  path: consentsPath,
  headers,
  ...(body !== undefined && { body }),
});
const namesOf = ({ details }: { readonly details: { readonly fields: object } }) =>
  Object.keys(details.fields);

test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ["no body", {}, undefined],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, "farmer_id=1"],
  ["plain text", { "content-type": "text/plain" }, "{}"],
  ["a type that only begins like JSON", { "content-type": "application/jsonp" }, "{}"],
  ["half of a body", json, '{"farmer_id":'],
  ["a body of 70 kB", json, JSON.stringify({ farmer_id: "x".repeat(70_000) })],
])("400 for %s, with the reason", async (_what, headers, body) => {
  const { send, sandbox } = openPreview();
  const got = await send("bank", post(headers, body));
  expect([got.status, got.json.error.code]).toEqual([400, "bad_request"]);
  expect(got.json.error.details.reason).toMatch(/^it is /);
  expect(sandbox.consents.list()).toEqual([]);
});

const body = { farmer_id: "farmer_0000000000000000", purpose, permissions: ["land"] };
test.each<[unknown, string[]]>([
  [null, ["body"]],
  [{}, ["farmer_id", "purpose", "permissions"]],
  [{ ...body, farmer_id: "" }, ["farmer_id"]],
  [{ ...body, farmer_id: "x".repeat(201) }, ["farmer_id"]],
  [{ ...body, purpose: { code: "curiosity", text: "" } }, ["purpose.code", "purpose.text"]],
  [{ ...body, purpose: { ...purpose, text: "🌾".repeat(501) } }, ["purpose.text"]],
  [{ ...body, permissions: [] }, ["permissions"]],
  [{ ...body, permissions: ["land", "land"] }, ["permissions"]],
  [{ ...body, permissions: ["land", "income", 7] }, ["permissions[1]", "permissions[2]"]],
  [{ ...body, expiresAt: "2026-04-01T00:00:00Z", constructor: 1 }, ["expiresAt", "constructor"]],
  [JSON.parse('{"__proto__":{"farmer_id":"x"}}'), ["farmer_id", "purpose", "permissions", "__proto__"]],
])("422 for the body %j names each invalid field", async (sent, fields) => {
  const { send, sandbox } = openPreview();
  const got = await send("bank", post(json, JSON.stringify(sent)));
  expect([got.status, got.json.error.code]).toEqual([422, "validation_failed"]);
  expect(namesOf(got.json.error)).toEqual(fields);
  expect(sandbox.consents.list()).toEqual([]);
});

test("a purpose of 500 characters is taken, however many bytes they are", async () => {
  const { ask } = openPreview();
  expect((await ask("bank", 0, { purpose: { ...purpose, text: "🌾".repeat(500) } })).status).toBe(201);
});

test.each([
  ...["2026-03-12", "2026-03-12T09:00:00", "2026-02-30T09:00:00Z", "2026-03-02T09:00:00Z"],
  ...["2026-03-02T08:59:59Z", "2027-03-02T09:00:00.001Z"],
])("422 for the end %j: no time with a zone, past, or too far ahead", async (expires_at) => {
  const got = await openPreview().ask("bank", 0, { expires_at });
  expect([got.status, namesOf(got.json.error)]).toEqual([422, ["expires_at"]]);
});

test("404 for a farmer outside of the population names no farmer", async () => {
  const { ask, farmer } = openPreview();
  const larger = createSandbox({ scenario: { ...previewScenario, population: { farmers: 60 } } });
  for (const farmer_id of [larger.farmers.at(50).farmer_id, "0", "farmer_", farmer(0).toUpperCase()]) {
    const got = await ask("bank", 0, { farmer_id });
    expect([farmer_id, got.status, got.json.error.code]).toEqual([farmer_id, 404, "not_found"]);
    expect(got.body).not.toContain(farmer_id);
  }
  expect((await ask("bank", 49)).status).toBe(201);
});

test("404 for ids of no record, of another kind of record, and encoded or spelled in another way", async () => {
  const { ask, get, cancel } = openPreview();
  const { id } = (await ask("bank", 0)).json.data;
  for (const other of ["1", "consent_", id.toLowerCase(), `${id}%20`, encodeURIComponent(`${id}/`), "%00"]) {
    const seen = [await get("bank", other), await cancel("bank", other)];
    seen.push(await get("bank", `${attestationsPath}/${other}`));
    expect([other, ...seen.map(({ status }) => status)]).toEqual([other, 404, 404, 404]);
  }
  expect((await get("bank", `${attestationsPath}/${id}`)).status).toBe(404);
});

test.each([
  ["?limit=0", "limit"],
  ["?limit=101", "limit"],
  ["?limit=1e1", "limit"],
  ["?limit=5&limit=6", "limit"],
  ["?offset=-1", "offset"],
  ["?page=2", "page"],
])("422 for the query %s", async (query, field) => {
  const got = await openPreview().attestations("bank", query);
  expect([got.status, namesOf(got.json.error)]).toEqual([422, [field]]);
});

test.each([
  { method: "POST", path: consentsPath, headers: json, body: "{" },
  { path: `${consentsPath}/nothing` },
  { method: "POST", path: `${consentsPath}/nothing/cancel` },
  { path: `${attestationsPath}?limit=0` },
  { path: `${attestationsPath}/nothing` },
])("a rejected, unauthorized or exhausted key is refused before anything else ($path)", async (sent) => {
  const { send } = openPreview();
  const met = [];
  for (const key of ["bank-revoked", "bank-none", "bank-limited"]) met.push((await send(key, sent)).status);
  met.push((await send("bank", { ...sent, headers: { "x-api-key": "" } })).status);
  expect(met).toEqual([401, 403, 429, 401]);
});

test("a refused request counts, and a key in it is left out of everything (R46)", async () => {
  const { ask, attestations, send, sandbox } = openPreview();
  const stolen = "SVC_live_9f8e7d6c5b4a3f2e1d0c";
  const seen = [
    await ask("bank", 0, { purpose: { ...purpose, text: `our key is ${stolen}` } }),
    await ask("bank", 0, { [stolen]: stolen }),
    await ask("bank", 0, { farmer_id: stolen }),
    await attestations("bank", `?${stolen}=${stolen}`),
    await send("bank", { path: `${consentsPath}/${stolen}` }),
    await send("bank", { path: `${attestationsPath}/${encodeURIComponent(encodeURIComponent(stolen))}` }),
  ];
  expect(seen.map(({ status }) => status)).toEqual([422, 422, 404, 422, 404, 404]);
  expect(sandbox.keys.get("bank").usage.today).toBe(seen.length);
  const shown = JSON.stringify([seen.map(({ json }) => json), sandbox.requests.list(), sandbox.snapshot()]);
  expect(shown).not.toContain(stolen.slice("SVC_live_".length));
  expect(JSON.stringify([seen, sandbox.requests.list()])).not.toContain(sandbox.secret("bank"));
});

const hexOf = (text: string) => [...text].map((one) => one.charCodeAt(0).toString(16)).join("");
const inEscapes = (text: string) => text.replaceAll(/./g, (one) => `\\u00${hexOf(one)}`);

test.each<[how: string, encode: (key: string) => string]>([
  ["in Base64", btoa],
  ["in hex", hexOf],
  ["in escapes of JSON", inEscapes],
  ["in escapes of JSON in JSON", (key) => JSON.stringify(inEscapes(key))],
  ["in lower case", (key) => key.toLowerCase()],
])("R46 a key %s stays in no preview request, wherever it was sent", async (_how, encode) => {
  const { ask, send, sandbox, farmer } = openPreview();
  const hidden = encode("SVC_live_9f8e7d6c5b4a3f2e");
  const text = JSON.stringify({
    farmer_id: farmer(0),
    purpose: { ...purpose, text: "x" },
    permissions: ["land"],
  });
  const written = text.replace('"x"', `"${hidden.replaceAll('"', "")}"`);
  const seen = [
    await ask("bank", 0, { purpose: { ...purpose, text: hidden } }),
    ...[await send("bank", post(json, written)), await ask("bank", 0, {}, { "idempotency-key": hidden })],
    ...[await ask("bank", 0, { farmer_id: hidden }), await ask("bank", 0, { [hidden]: 1 })],
    await ask("bank", 0, {}, { "content-type": `application/json; ${hidden.replaceAll('"', "")}` }),
  ];
  expect(seen.map(({ status }) => status)).toEqual([422, 422, 422, 404, 422, 201]);
  const name = { organization: "bank", environment: "test", name: hidden } as const;
  expect(() => sandbox.keys.create(name)).toThrow("name must not contain an API key");
  const kept = [seen.map(({ json }) => json), sandbox.requests.list(), sandbox.snapshot()];
  const end = hidden.slice(-14, -4);
  expect(JSON.stringify(kept)).not.toContain(end);
  expect(() => sandbox.capture()).toThrow(expect.objectContaining({ code: "capture_impossible" }));
});

test("declared input earns no advice, other input does", async () => {
  const { ask, attestations, send, get, sandbox } = openPreview();
  const { id } = (await ask("bank", 0)).json.data;
  await attestations("bank", "?limit=5");
  await get("bank", id);
  await get("bank", `${consentsPath}/${id}?verbose=1`);
  await send("bank", { method: "POST", path: `${consentsPath}/${id}/cancel`, body: "{}" });
  expect(sandbox.requests.list().map(({ advice }) => advice)).toEqual([
    ...[[], [], []],
    ["query-or-body-sent"],
    ["query-or-body-sent"],
  ]);
});

test("a fault makes nothing, unless it only delays", async () => {
  const { ask, get, sandbox } = openPreview(undefined, {
    ...previewScenario,
    faults: [
      { when: { requests: [1] }, then: { status: 503 } },
      { when: { path_id: "422.validation" }, then: { status: 500 } },
      { when: { path_id: "404.unknown_record" }, then: { latency: "1ms" } },
      { when: { path_id: "201.createConsentRequest" }, then: { latency: "1ms" } },
    ],
  });
  const statuses = [(await ask("bank", 0)).status, (await ask("bank", 0, { permissions: [] })).status];
  expect(sandbox.consents.list()).toEqual([]);
  statuses.push((await get("bank", "nothing")).status, (await ask("bank", 0)).status);
  expect(statuses).toEqual([503, 500, 404, 201]);
  expect(sandbox.consents.list()).toHaveLength(1);
  const faults = sandbox.requests.list().map(({ fault }) => fault?.slice("fault.".length));
  expect(faults).toEqual(["status", "status", "latency", "latency"]);
});

test.each([1, 2, 3])("the profile varied keeps to the description (seed %i)", async (seed) => {
  const { ask, attestations, get, cancel, send, sandbox } = openPreview({ profile: "varied", seed });
  const made = await ask("bank", 0, {}, { "idempotency-key": "k" });
  const again = await ask("bank", 0, {}, { "idempotency-key": "k" });
  expect([made.status, again.status, again.json]).toEqual([201, 201, made.json]);
  sandbox.clock.advance("3h");
  expect((await attestations("bank")).json.page.total).toBe(1);
  const { id } = made.json.data;
  expect((await get("bank", id)).json.data.status).toBe("granted");
  const refused = [
    await get("bank-live", id),
    await ask("bank", 0, { permissions: [] }),
    await ask("bank", 1, {}, { "idempotency-key": "k" }),
    await send("bank", { method: "POST", path: consentsPath }),
    await send("bank", { method: "DELETE", path: attestationsPath }),
    await send("bank-none", { path: attestationsPath }),
  ];
  await cancel("bank", id);
  refused.push(await cancel("bank", id));
  expect(refused.map(({ status, json: { error } }) => [status, error.code])).toEqual([
    [404, "not_found"],
    [422, "validation_failed"],
    [422, "idempotency_key_reused"],
    [400, "bad_request"],
    [405, "method_not_allowed"],
    [403, "insufficient_scope"],
    [409, "conflict"],
  ]);
});
