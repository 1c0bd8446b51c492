import { setTimeout as pause } from "node:timers/promises";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { guard } from "../src/library/guard.js";
import { mePath } from "./support/send.js";
import { attestations, listed, serve } from "./support/serve-handlers.js";

test("R9–R21 guard knows the server's sandbox by itself and refuses as the API does", async () => {
  const { call, sandbox } = await serve([listed]);
  const asked = async (path: string, key: string | undefined) => {
    const answer = await call(path, key === undefined ? {} : { headers: { "x-api-key": key } });
    return [answer.status, answer.headers.get("content-type"), await answer.text()];
  };
  const keys = ["revoked", "expired", "rotated", "live-not-approved", "organization-inactive", "wrong-scope"];
  for (const key of [
    undefined,
    "Bearer x",
    sandbox.unknownSecret(),
    ...keys.map((ref) => sandbox.secret(ref as never)),
  ]) {
    expect(await asked(attestations, key)).toEqual(await asked(mePath, key));
  }
  expect(await asked(attestations, sandbox.secret("active"))).toEqual([
    200,
    "application/json",
    '{"data":[],"bank":"Harvest Cooperative Bank"}',
  ]);
});

test("R22 R24 what guard lets in counts against the key's limits, together with the API's own calls", async () => {
  const { call, sandbox } = await serve([listed], { scenario: "rate-limited" });
  const headers = { "x-api-key": sandbox.secret("three-a-minute") };
  const statuses = [];
  for (const path of [attestations, mePath, attestations, attestations, mePath]) {
    statuses.push((await call(path, { headers })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  sandbox.clock.advance("1m");
  expect((await call(attestations, { headers })).status).toBe(200);
});

test("R46 what guard decided is in the journal, with its path and without the key", async () => {
  const { call, sandbox } = await serve([listed]);
  const key = sandbox.secret("wrong-scope");
  await call(`${attestations}?key=${key}`, { headers: { "x-api-key": key } });
  await call(attestations, { method: "HEAD", headers: { "x-api-key": sandbox.secret("active") } });
  expect(sandbox.requests.list()).toMatchObject([
    { path: attestations, key: "wrong-scope", status: 403, pathId: "403.insufficient_scope" },
    { path: attestations, key: "active", status: 200, pathId: "200.test" },
  ]);
  expect(JSON.stringify(sandbox.requests.list())).not.toContain(key);
});

test("two servers at once: guard asks the sandbox of the server that was called, however long the handler waits", async () => {
  const slow = http.get(attestations, async ({ request }) => {
    await pause(Math.random() * 20);
    const { refusal, caller } = guard(request);
    return refusal ?? HttpResponse.text(caller.key.ref);
  });
  const first = await serve([slow]);
  const second = await serve([slow]);
  first.sandbox.keys.revoke("active");
  const headers = { "x-api-key": second.sandbox.secret("active") };
  const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second));
  const statuses = await Promise.all(
    calls.map(async ({ call }) => (await call(attestations, { headers })).status),
  );
  expect(statuses).toEqual(calls.map((server) => (server === first ? 401 : 200)));
  expect([first, second].map(({ sandbox }) => sandbox.requests.total())).toEqual([10, 10]);
});

test("guard outside of a server's handlers asks for the sandbox", () => {
  expect(() => guard(new Request("https://any.example/"))).toThrow(
    /Pass it: guard\(request, \{ scope, sandbox \}\)/,
  );
});
