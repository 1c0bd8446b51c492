import { expect, test } from "vitest";
import { serveControl } from "./control/client.js";
import { mePath } from "./support/send.js";

test("health says what runs", async () => {
  const { ask } = await serveControl();
  const { status, body } = await ask("/health");
  expect(status).toBe(200);
  expect(body).toEqual({
    status: "ok",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    scenario: "key-states",
    seed: 1,
    now: "2026-03-02T09:00:00.000Z",
  });
});

test("state shows organizations, keys, clock and assumptions, as each is shown alone", async () => {
  const { ask } = await serveControl();
  const { data } = (await ask("/state")).body;
  expect(data).toEqual({
    scenario: "key-states",
    seed: 1,
    clock: (await ask("/clock")).body.data,
    assumptions: (await ask("/assumptions")).body.data,
    faults: (await ask("/faults")).body.data,
    organizations: (await ask("/organizations")).body.data,
    keys: (await ask("/keys")).body.data,
  });
  expect(data.clock).toEqual({ now: "2026-03-02T09:00:00.000Z", frozen: true });
  expect(Object.fromEntries(data.keys.map(({ ref, state }: never) => [ref, state]))).toMatchObject({
    active: "active",
    revoked: "revoked",
    expired: "expired",
    retiring: "retiring",
    rotated: "rotated",
  });
  for (const { ref } of data.keys) {
    expect((await ask(`/keys/${ref}`)).body.data).toEqual(
      data.keys.find((key: { ref: string }) => key.ref === ref),
    );
  }
  for (const one of data.organizations) {
    expect((await ask(`/organizations/${one.ref}`)).body.data).toEqual(one);
  }
});

test("requests lists the journal, by limit, path and key", async () => {
  const { server, ask } = await serveControl();
  for (const ref of ["active", "revoked", "active"]) {
    await fetch(server.url + mePath, {
      headers: { "x-api-key": server.sandbox.secret(ref) },
    });
  }
  const all = (await ask("/requests")).body.data;
  expect(all).toHaveLength(3);
  expect(all[1]).toMatchObject({
    id: expect.stringMatching(/^req_/),
    at: "2026-03-02T09:00:00.000Z",
    method: "GET",
    path: mePath,
    key: "revoked",
    fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
    status: 401,
    code: "unauthorized",
    path_id: "401.revoked",
    duration_ms: expect.any(Number),
  });
  expect((await ask("/requests?key=active")).body.data).toEqual([all[0], all[2]]);
  expect((await ask("/requests?path_id=401.revoked")).body.data).toEqual([all[1]]);
  expect((await ask("/requests?limit=1")).body.data).toEqual([all[2]]);
  expect((await ask("/requests?limit=0")).body.data).toEqual([]);
  expect((await ask("/requests?limit=1&key=active&path_id=200.test")).body.data).toEqual([all[2]]);
});

test("R24 forgetting the requests leaves what keys have used", async () => {
  const { server, ask } = await serveControl();
  await fetch(server.url + mePath, {
    headers: { "x-api-key": server.sandbox.secret("active") },
  });
  expect((await ask("/requests", { method: "DELETE" })).status).toBe(204);
  expect((await ask("/requests")).body.data).toEqual([]);
  expect((await ask("/keys/active")).body.data.usage).toEqual({
    this_minute: 1,
    today: 1,
  });
});

test.each([
  ["/requests?limit=many", "limit"],
  ["/requests?limit=-1", "limit"],
  ["/requests?limit=1.5", "limit"],
  ["/requests?limit=", "limit"],
  ["/requests?limit=1&limit=2", "limit"],
  ["/requests?pathid=x", "pathid"],
  ["/requests?__proto__=x", "__proto__"],
])("%s is refused with 422 and the field %s", async (path, field) => {
  const { ask } = await serveControl();
  const { status, body } = await ask(path);
  expect([status, body.error.code]).toEqual([422, "validation_failed"]);
  expect(Object.keys(body.error.details.fields)).toEqual([field]);
});

test("the clock is moved, frozen and let run, and says so", async () => {
  const { ask } = await serveControl();
  const put = async (json: object) => (await ask("/clock", { method: "PUT", json })).body.data;
  expect((await ask("/clock/advance", { method: "POST", json: { by: "61m" } })).body.data).toEqual({
    now: "2026-03-02T10:01:00.000Z",
    frozen: true,
  });
  expect(await put({ now: "2026-03-03T00:00:00+01:00" })).toEqual({
    now: "2026-03-02T23:00:00.000Z",
    frozen: true,
  });
  expect(await put({ now: "2026-03-02T23:00:00Z", frozen: false })).toMatchObject({ frozen: false });
  expect(await put({ frozen: true })).toMatchObject({ frozen: true });
  expect(await put({})).toMatchObject({ frozen: true });
});

test("assumptions are changed one by one, and with a profile all of them", async () => {
  const { ask } = await serveControl();
  const put = async (json: object) => (await ask("/assumptions", { method: "PUT", json })).body.data;
  const minimal = (await ask("/assumptions")).body.data;
  expect(await put({ rate_limit_code: "slow_down", me_scope: null })).toEqual({
    ...minimal,
    rate_limit_code: "slow_down",
    me_scope: null,
  });
  expect(await put({ profile: "typical" })).toMatchObject({
    profile: "typical",
    rate_limit_code: "rate_limited",
    me_scope: "attestations:read",
    retry_after: "seconds",
  });
  expect(await put({ profile: "minimal" })).toEqual(minimal);
});

test("another scenario is started by its name, and reset starts that one again", async () => {
  const { server, ask } = await serveControl();
  const names = (await ask("/scenarios")).body.data.map(({ name }: { name: string }) => name);
  expect(names).toContain("key-states");
  for (const name of names) {
    const { status, body } = await ask("/scenario", {
      method: "PUT",
      json: { name },
    });
    expect([status, body.data.scenario]).toEqual([200, name]);
    expect((await ask("/health")).body.scenario).toBe(name);
  }
  await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
  await ask("/keys/replacement/revoke", { method: "POST" });
  const { body } = await ask("/reset", { method: "POST" });
  expect(body.data.scenario).toBe("rotation");
  expect((await ask("/keys/replacement")).body.data.state).toBe("active");
  const answer = await fetch(server.url + mePath, {
    headers: { "x-api-key": server.sandbox.secret("replacement" as never) },
  });
  expect(answer.status).toBe(200);
});

test("a fraction of a minute is an overlap as well", async () => {
  const { ask } = await serveControl();
  for (const [ref, overlap_minutes, ends] of [
    ["active", 1.1, "2026-03-02T09:01:06.000Z"],
    ["wrong-scope", 0.7, "2026-03-02T09:00:42.000Z"],
    ["rate-limited", 10_080, "2026-03-09T09:00:00.000Z"],
    ["rate-limited-minute", 1 / 3, "2026-03-02T09:00:20.000Z"],
  ] as const) {
    await ask(`/keys/${ref}/rotate`, {
      method: "POST",
      json: { overlap_minutes },
    });
    expect((await ask(`/keys/${ref}`)).body.data.overlap_ends_at).toBe(ends);
  }
});

test("R48 the description of the API is served", async () => {
  const { ask } = await serveControl();
  const { status, body } = await ask("/openapi.json");
  expect([status, body.openapi, body.info.version]).toEqual([200, "3.1.0", "0.1.0"]);
});

test("the page names the scenario, escaped", async () => {
  const { ask } = await serveControl({
    scenario: {
      version: 1,
      name: `<script>"&'`,
      organizations: { bank: { type: "bank" } },
    },
  });
  const { text, headers } = await ask("/");
  expect(text).toContain("<strong>&#60;script&#62;&#34;&#38;&#39;</strong>");
  expect(text).not.toContain("<script>");
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
});

test.each([
  "/nothing",
  "/state/x",
  "/keys/",
  "/keys/active/",
  "/Keys",
  "//state",
  "/../state",
  "/%2e%2e/state",
  "/keys/%zz",
  "/keys/%",
  "/keys/%ff",
  "/keys/active%2Frevoke",
  "/keys/__proto__",
  "/keys/constructor",
  "/organizations/toString",
  "/instances/x",
  `/keys/${"x".repeat(60_000)}`,
  `/nothing/${"x".repeat(60_000)}`,
])("GET %s is answered with what there is, or in the API's error body", async (path) => {
  const { ask } = await serveControl();
  const { status, body } = await ask(path);
  const there = ["/keys/", "/keys/active/"].includes(path);
  if (there) expect([status, body.data]).toEqual([200, expect.anything()]);
  else {
    expect([400, 404, 405]).toContain(status);
    expect(["bad_request", "not_found", "method_not_allowed"]).toContain(body.error.code);
  }
});

test("refs may be percent-encoded, every one of their letters", async () => {
  const { ask } = await serveControl();
  const encoded = [..."wrong-scope"].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
  const { body } = await ask(`/keys/${encoded}`);
  expect(body.data.ref).toBe("wrong-scope");
  expect((await ask(`/keys/${encoded}/revoke`, { method: "POST" })).body.data.key.state).toBe("revoked");
  expect((await ask("/keys/wrong-scope")).body.data.state).toBe("revoked");
});

test("without a control plane its paths, and those of instances, are unknown paths of the API", async () => {
  const { server } = await serveControl({ control: false });
  expect(server.controlUrl).toBeUndefined();
  for (const path of ["/__sandbox/health", "/__sandbox", "/__sandbox/events", "/i/x/__sandbox/health"]) {
    const answer = await fetch(server.url + path);
    expect([path, answer.status, (await answer.json()).error.code]).toEqual([path, 404, "not_found"]);
  }
});

test("what only begins like the control plane is no part of it", async () => {
  const { server } = await serveControl();
  for (const path of ["/__sandboxes", "/__sandbox-x/health", "/__SANDBOX/health", "/%5f_sandbox/health"]) {
    expect((await fetch(server.url + path)).headers.get("x-frame-options")).toBeNull();
  }
});
