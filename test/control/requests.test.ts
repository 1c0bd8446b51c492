import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { serveControl } from "./client.js";

const mePath = "/v1/relying-party/me";
const post = (json: object) => ({ method: "POST", json });

interface Row {
  readonly name: string;
  readonly result: string;
}

const resultsOf = (checks: readonly Row[]) => Object.fromEntries(checks.map((row) => [row.name, row.result]));

test("one request of the journal has its response as sent, its checks, and what to do", async () => {
  const { ask, server } = await serveControl({ profile: "typical" });
  const sent = await fetch(server.url + mePath, {
    headers: { "x-api-key": server.sandbox.secret("active") },
  });
  const text = await sent.text();
  await fetch(`${server.url + mePath}?a=1`, { headers: { "x-api-key": server.sandbox.secret("revoked") } });
  const [first, second] = (await ask("/requests")).body.data;
  const shown = (await ask(`/requests/${first.id}`)).body.data;
  expect(first.source).toBe("client");
  expect(shown).toMatchObject({ ...first, advice_details: [] });
  expect(shown.response).toMatchObject({ status: 200, body: text });
  for (const [name, value] of Object.entries(shown.response.headers)) {
    expect(sent.headers.get(name)).toBe(value);
  }
  expect(shown.response.headers["x-request-id"]).toBe(first.id);
  expect(new Set(Object.values(resultsOf(shown.checks)))).toEqual(new Set(["passed"]));

  const rejected = (await ask(`/requests/${second.id}`)).body.data;
  expect(resultsOf(rejected.checks)).toMatchObject({
    ...{ path: "passed", method: "passed", key: "rejected", organization: "not_reached" },
  });
  expect(rejected).toMatchObject({ when: "a revoked key", response: { status: 401 } });
  expect(rejected.advice_details.map(({ id }: { id: string }) => id)).toEqual(second.advice);
  expect(second.advice).not.toEqual([]);
});

test("the stored response is varied's, HEAD's, and what a fault left of it", async () => {
  const { ask, server } = await serveControl({ profile: "varied", seed: 2 });
  const call = (method = "GET") =>
    fetch(server.url + mePath, { method, headers: { "x-api-key": server.sandbox.secret("active") } });
  // Some of the ids that services have need encoding.
  const kept = async () => {
    const { id } = (await ask("/requests?limit=1")).body.data[0];
    return (await ask(`/requests/${encodeURIComponent(id)}`)).body.data;
  };
  for (let i = 0; i < 20; i++) {
    const text = await (await call()).text();
    expect((await kept()).response.body).toBe(text);
  }
  await call("HEAD");
  expect((await kept()).response).toMatchObject({ status: 200, body: "" });

  const faults = (then: object) => ask("/faults", { method: "PUT", json: { faults: [{ then }] } });
  await faults({ truncate: true });
  const cut = await call();
  const length = Number(cut.headers.get("content-length"));
  await expect(cut.text()).rejects.toThrow();
  const truncated = await kept();
  // A character may be cut into half.
  const whole = Buffer.byteLength(truncated.response.body.replace(/\uFFFD+$/, ""));
  expect([0, 1, 2, 3]).toContain(Math.floor(length / 2) - whole);
  expect(Object.values(resultsOf(truncated.checks))).not.toContain("passed");
  await faults({ malformed: true });
  const malformed = await (await call()).text();
  expect((await kept()).response).toMatchObject({ status: 200, body: malformed });
  await faults({ reset: true });
  await expect(call()).rejects.toThrow();
  expect(await kept()).toMatchObject({ status: 0, outcome: "fault.reset", response: null });
  await faults({ latency: "1ms" });
  await (await call()).text();
  expect(await kept()).toMatchObject({
    fault: "fault.latency",
    outcome: "200.test",
    response: { status: 200 },
    what_to_do: expect.stringContaining("succeeded, but late"),
  });
});

test("a request is sent with a key by its ref, and no client is judged by it", async () => {
  const { ask, server } = await serveControl();
  const { data } = (await ask("/send", post({ key: "active" }))).body;
  expect(data).toMatchObject({
    request: { method: "GET", path: mePath, key: "active", outcome: "200.test", status: 200 },
    response: { status: 200, headers: { "x-request-id": data.request.id } },
  });
  const outcomes = async (key: string) => (await ask("/send", post({ key }))).body.data.request.outcome;
  const ends = { none: "missing", malformed: "malformed", unknown: "unknown", revoked: "revoked" };
  for (const [key, end] of Object.entries(ends)) expect(await outcomes(key)).toBe(`401.${end}`);
  const odd = { key: "active", method: "POST", path: `${mePath}?a=b`, headers: { "X-A": "b" }, body: {} };
  expect((await ask("/send", post(odd))).body.data.response.status).toBe(405);
  const listed = (await ask("/requests")).body.data as { source: string }[];
  expect(listed.map(({ source }) => source)).toEqual(Array(6).fill("story"));
  expect((await ask(`/requests/${data.request.id}`)).body.data.source).toBe("story");
  expect(server.sandbox.report()).toMatchObject({ requests: 0, advice: [], coverage: { covered: 0 } });
  const counts = { "200.test": 1, "401.missing": 1, "405.method": 1 };
  expect((await ask("/report?story=true")).body.data).toMatchObject({ requests: 0, from_story: counts });
  expect((await ask("/report")).body.data).not.toHaveProperty("from_story");
  expect(server.sandbox.keys.get("active").usage.today).toBeGreaterThan(0);
});

test("what cannot be sent is rejected, and named", async () => {
  const { ask } = await serveControl();
  const rejected = async (json: object) => {
    const { status, body } = await ask("/send", post(json));
    return [status, body.error.code, ...Object.keys(body.error.details.fields ?? {})];
  };
  expect(await rejected({})).toEqual([422, "validation_failed", "key"]);
  expect(await rejected({ key: "absent" })).toEqual([422, "validation_failed", "key"]);
  expect(await rejected({ key: "none", path: "me" })).toEqual([422, "validation_failed", "path"]);
  expect(await rejected({ key: "none", headers: { "X-API-Key": "a" } })).toEqual([
    422,
    "validation_failed",
    "headers.X-API-Key",
  ]);
  expect((await ask("/requests")).body.data).toEqual([]);
});

test("a key that was created at run time is sent without its secret, which the sandbox does not keep", async () => {
  const { ask, server } = await serveControl();
  const made = { organization: "harvest-bank", environment: "live", name: "CI", ref: "ci" };
  const { key, secret } = (await ask("/keys", post(made))).body.data;
  const { request } = (await ask("/send", post({ key: "ci" }))).body.data;
  expect(request).toMatchObject({ key: "ci", fingerprint: key.fingerprint, outcome: "200.live" });
  expect(server.sandbox.keys.get("ci").usage.today).toBe(1);
  await ask("/keys/ci/revoke", { method: "POST" });
  expect((await ask("/send", post({ key: "ci" }))).body.data.request.outcome).toBe("401.revoked");
  expect((await ask("/requests")).text).not.toContain(secret);
});

test("the details of a request have the body for /send that repeats it", async () => {
  const scenario = parseScenario(`
version: 1
extends: announced-endpoints
organizations: { bank: { type: bank, keys: { main: { environment: test, scopes: ["consents:read", "consents:write"] } } } }
`);
  const { ask, server } = await serveControl({ scenario });
  const body = JSON.stringify({
    farmer_id: server.sandbox.farmers.list({ limit: 1 })[0]?.farmer_id,
    scope: "a",
  });
  for (const key of [server.sandbox.secret("main"), "not-a-key"]) {
    const headers = { "x-api-key": key, "content-type": "application/json", "idempotency-key": "one" };
    await fetch(`${server.url}/v1/relying-party/consent-requests`, { method: "POST", headers, body });
    const [{ id, outcome }] = (await ask("/requests?limit=1")).body.data;
    const { repeat } = (await ask(`/requests/${id}`)).body.data;
    const { request } = (await ask("/send", post(repeat))).body.data;
    expect([request.method, request.path, request.outcome]).toEqual([
      "POST",
      "/v1/relying-party/consent-requests",
      outcome,
    ]);
  }
});

test("a fault that hangs does not delay POST /send", async () => {
  const scenario = parseScenario(`
version: 1
organizations: { bank: { type: bank, keys: { main: { environment: test } } } }
faults: [{ when: { requests: [1] }, then: { hang: true } }]
`);
  const { ask } = await serveControl({ scenario });
  const hung = (await ask("/send", post({ key: "main" }))).body.data;
  expect(hung).toMatchObject({ request: { outcome: "fault.hang", status: 0 }, response: null });
});

test("R46 the random part of a created key is not shown from any header, also without its prefix and mark", async () => {
  const { ask, server } = await serveControl();
  const { secret } = (
    await ask("/keys", post({ organization: "harvest-bank", environment: "test", name: "CI" }))
  ).body.data;
  const random = secret.slice(-29);
  const headers = { "user-agent": `agent/${random}`, accept: random, "content-type": `text/${random}` };
  await fetch(server.url + mePath, { headers });
  const [{ id }] = (await ask("/requests")).body.data;
  const { body } = await ask(`/requests/${id}`);
  expect(JSON.stringify(body)).toContain("agent/");
  expect(JSON.stringify(body)).not.toContain(random);
});

test("a hint for a query is what an address has", async () => {
  const { ask } = await serveControl();
  const { fields } = (await ask("/report?format=html")).body.error.details;
  const [, hint] = /: write (.+)$/.exec(fields.format) ?? [];
  for (const format of hint?.split(/, | or /) ?? []) {
    expect((await ask(`/report?format=${format}`)).status).toBe(200);
  }
});
