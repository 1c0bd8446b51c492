import { expect, onTestFinished, test } from "vitest";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { startServer } from "../../src/serve/index.js";
import { runCli } from "../support/run-cli.js";

// The members that HAR 1.2 requires (http://www.softwareishard.com/blog/har-12-spec/), with what stands for their types.
const nameValue = { name: expect.any(String), value: expect.any(String) };
const message = { httpVersion: "HTTP/1.1", cookies: [], headers: expect.any(Array), headersSize: -1 };
const required = {
  startedDateTime: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  time: expect.any(Number),
  request: {
    ...message,
    method: expect.any(String),
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
    queryString: expect.any(Array),
    bodySize: expect.any(Number),
  },
  response: {
    ...message,
    status: expect.any(Number),
    statusText: expect.any(String),
    content: { size: expect.any(Number), mimeType: expect.any(String), text: expect.any(String) },
    redirectURL: "",
    bodySize: expect.any(Number),
  },
  cache: {},
  timings: { send: 0, wait: expect.any(Number), receive: 0 },
};

test("report --format har has the journal as HAR 1.2, without a key", async () => {
  const scenario = {
    ...bundledScenarios["announced-endpoints"],
    faults: [{ when: { requests: [3] }, then: { reset: true } }],
  };
  const server = await startServer({ scenario, frozen: true });
  onTestFinished(() => server.close(0));
  const key = server.sandbox.secret("lending");
  const headers = { "x-api-key": key, "content-type": "application/json", "idempotency-key": "once" };
  const purpose = { code: "monitoring", text: "To see." };
  const body = JSON.stringify({
    farmer_id: server.sandbox.farmers.at(0).farmer_id,
    purpose,
    permissions: ["land"],
  });
  const path = `${server.url}/v1/relying-party`;
  await (await fetch(`${path}/consent-requests`, { method: "POST", headers, body })).text();
  await (await fetch(`${path}/attestations?limit=2`, { headers })).text();
  await fetch(`${path}/me`, { headers }).catch(() => {});
  await (await fetch(`${path}/me`, { headers: { "x-api-key": "SVC_test_sbxforeign" } })).text();
  await (await fetch(`${path}/me`)).text();

  const { code, stdout, stderr } = await runCli(["report", server.url, "--format", "har"]);
  expect([code, stderr, stdout.includes(key)]).toEqual([0, "", false]);
  expect(stdout).not.toMatch(/SVC_test_\w/);
  const { log } = JSON.parse(stdout);
  expect(log).toMatchObject({
    version: "1.2",
    creator: { name: "svc-sandbox", version: expect.any(String) },
    pages: [],
  });
  expect(log.entries).toHaveLength(5);
  for (const one of log.entries) {
    expect(one).toMatchObject(required);
    for (const { request, response } of [one]) {
      for (const pair of [...request.headers, ...request.queryString, ...response.headers])
        expect(pair).toEqual(nameValue);
    }
  }
  const [asked, listed, broken, unknown, missing] = log.entries;
  expect(asked.request).toMatchObject({
    method: "POST",
    headers: [
      { name: "x-api-key", value: "SVC_test_…" },
      { name: "content-type", value: "application/json" },
      { name: "idempotency-key", value: "once" },
    ],
    postData: { mimeType: "application/json", text: body, params: [] },
    bodySize: body.length,
  });
  expect(asked.response).toMatchObject({ status: 201, content: { mimeType: "application/json" } });
  expect(listed.request).toMatchObject({ url: expect.stringMatching(/attestations\?limit=2$/) });
  expect(listed.request.queryString).toEqual([{ name: "limit", value: "2" }]);
  expect([broken.response.status, broken._fault]).toEqual([0, "fault.reset"]);
  expect(unknown.request.headers).toEqual([{ name: "x-api-key", value: "…" }]);
  expect([missing.request.headers, missing._path_id]).toEqual([[], "401.missing"]);

  const merged = await runCli(["report", "--merge", "a.json", "--format", "har"]);
  expect([merged.code, merged.stderr]).toEqual([
    2,
    expect.stringMatching(/Report files contain no requests/),
  ]);
});
