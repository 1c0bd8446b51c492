import { expect, test } from "vitest";
import { serveControl } from "./control/client.js";
import { mePath } from "./support/doors.js";
import { scenarioWith } from "./support/faulty.js";

const busy = { when: { key: "main", every: 2 }, then: { status: 503 } } as const;

test("the faults in force can be read and exchanged, and take effect with the next request", async () => {
  const { ask, server } = await serveControl({ scenario: scenarioWith([busy]) });
  const call = async () => {
    const headers = { "x-api-key": server.sandbox.secret("main") };
    return (await fetch(server.url + mePath, { headers })).status;
  };
  expect((await ask("/faults")).body).toEqual({ data: [{ ...busy, requests_matched: 0 }] });
  expect([await call(), await call()]).toEqual([200, 503]);

  const faults = [{ when: { after: "10m" }, then: { latency: { min: "1ms", max: "2ms" }, status: 504 } }];
  const put = await ask("/faults", { method: "PUT", json: { faults } });
  const inForce = [{ when: { after: "2026-03-02T09:10:00.000Z" }, then: faults[0]?.then }];
  expect([put.status, put.body]).toEqual([200, { data: inForce }]);
  expect((await ask("/state")).body.data.faults).toEqual(inForce);
  expect(await call()).toBe(200);
  await ask("/clock/advance", { method: "POST", json: { by: "10m" } });
  expect(await call()).toBe(504);

  expect((await ask("/faults", { method: "PUT", json: { faults: [] } })).body).toEqual({ data: [] });
  expect(await call()).toBe(200);
  await ask("/reset", { method: "POST" });
  expect((await ask("/faults")).body).toEqual({ data: [{ ...busy, requests_matched: 0 }] });
});

test("what GET answers can be PUT again, and changes nothing", async () => {
  const { ask, server } = await serveControl({ scenario: "bad-day" });
  const before = server.sandbox.snapshot();
  const { body } = await ask("/faults");
  expect((await ask("/faults", { method: "PUT", json: { faults: body.data } })).body).toEqual(body);
  expect(server.sandbox.snapshot()).toEqual(before);
});

test("requests are listed by the fault that hit them, and by the path on which they ended", async () => {
  const { ask, server } = await serveControl({
    scenario: scenarioWith([{ when: { requests: [1] }, then: { latency: "5ms" } }, { then: { hang: true } }]),
  });
  const headers = { "x-api-key": server.sandbox.secret("main") };
  await fetch(server.url + mePath, { headers });
  await fetch(server.url + mePath, { headers, signal: AbortSignal.timeout(50) }).catch(() => {});
  const listed = async (pathId: string) => (await ask(`/requests?path_id=${pathId}`)).body.data;
  const late = { path_id: "200.test", fault: "fault.latency", status: 200, code: null };
  expect(await listed("fault.latency")).toMatchObject([late]);
  expect(await listed("200.test")).toMatchObject([late]);
  expect(await listed("fault.hang")).toMatchObject([
    { path_id: "fault.hang", fault: "fault.hang", status: 0, code: null },
  ]);
});

test.each([
  [{ faults: [{ when: { key: "mian" }, then: { reset: true } }] }, "faults.0.when.key", "did you mean main?"],
  [
    { faults: [{ when: { path_id: "401.revokd" }, then: { reset: true } }] },
    "faults.0.when.path_id",
    "revoked?",
  ],
  [{ faults: [{ then: { hang: true, reset: true } }] }, "faults.0.then.hang", "cannot both happen"],
  [{ faults: [{ then: { latency: 5 } }] }, "faults.0.then.latency", "5ms or 5s"],
  [{ faults: [{ then: { status: 503 } }, { then: {} }] }, "faults.1.then", "says nothing"],
  [{ faults: { then: { reset: true } } }, "faults", "faults is a list"],
  [{ fault: [] }, "fault", 'did you mean "faults"?'],
  [{}, "faults", "faults is missing"],
  [[{ then: { reset: true } }], "body", "body is a mapping"],
])("PUT %j is refused, with the field, and changes nothing", async (json, field, problem) => {
  const { ask, server } = await serveControl({ scenario: scenarioWith([busy]) });
  const before = server.sandbox.snapshot();
  const { status, body } = await ask("/faults", { method: "PUT", json });
  expect([status, body.error.code]).toEqual([422, "validation_failed"]);
  expect(body.error.details.fields[field]).toContain(problem);
  expect(server.sandbox.snapshot()).toEqual(before);
});

test("R33 a member may read the faults and not change them", async () => {
  const { ask } = await serveControl({ scenario: scenarioWith([busy]) });
  const headers = { "x-sandbox-actor": "member" };
  expect((await ask("/faults", { headers })).status).toBe(200);
  const put = await ask("/faults", { method: "PUT", headers, json: { faults: [] } });
  expect([put.status, put.body.error.code]).toEqual([403, "not_an_administrator"]);
});

test("no fault reaches the control plane, nor what an instance has its own world for", async () => {
  const { ask, server } = await serveControl({ scenario: scenarioWith([{ then: { hang: true } }]) });
  expect((await ask("/health")).status).toBe(200);
  const made = await ask("/instances", { method: "POST", json: { scenario: "active" } });
  const { base_url: base, keys } = made.body.data;
  const response = await fetch(base + mePath, { headers: { "x-api-key": keys.active } });
  expect(response.status).toBe(200);
  expect(server.sandbox.requests.total()).toBe(0);
});
