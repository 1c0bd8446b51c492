import { once } from "node:events";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { keyStates } from "../../src/rules/api-key.js";
import { outcomes } from "../../src/rules/outcomes.js";
import { startServer } from "../../src/server/index.js";
import { type Metrics, readMetrics } from "../support/prometheus.js";
import { readResponses } from "../support/raw-socket.js";
import { requested } from "../support/requested.js";
import { mePath } from "../support/send.js";
import { type Asking, type ServedControl, serveControl } from "./client.js";

async function scrape({ ask }: Pick<ServedControl, "ask">, asking: Asking = {}): Promise<Metrics> {
  const { status, headers, text } = await ask("/metrics", asking);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  return readMetrics(text);
}

function firstValue(metrics: Metrics, name: string): number | undefined {
  return metrics.get(name)?.samples[0]?.value;
}

/** The requests that are counted, by path id and status. */
function requestsIn(metrics: Metrics): Record<string, number> {
  const samples = metrics.get("svc_sandbox_requests_total")?.samples ?? [];
  return Object.fromEntries(samples.map(({ labels: of, value }) => [`${of.path_id} ${of.status}`, value]));
}

test("metrics count the responses of the sockets, and clearing the report does not reset them", async () => {
  const control = await serveControl();
  const { server, ask } = control;
  const send = (path: string, key?: string) =>
    fetch(server.url + path, key === undefined ? {} : { headers: { "x-api-key": key } }).then((response) =>
      response.arrayBuffer(),
    );
  expect(requestsIn(await scrape(control))).toEqual({});
  for (const ref of ["active", "active", "revoked", "live"])
    await send(mePath, server.sandbox.secret(ref as "active"));
  await send(mePath);
  await send("/elsewhere", server.sandbox.secret("active"));
  // In an instance as well, while the story and the control plane's own sender are no traffic of a socket.
  const { base_url, keys } = (await ask("/instances", { method: "POST", json: {} })).body.data;
  await fetch(base_url + mePath, { headers: { "x-api-key": keys.active } });
  await ask("/send", { method: "POST", json: { key: "active" } });
  const expected = {
    "200.test 200": 3,
    "401.revoked 401": 1,
    "200.live 200": 1,
    "401.missing 401": 1,
    "404.unknown_path 404": 1,
  };
  const before = await scrape(control);
  expect(requestsIn(before)).toEqual(expected);
  const latencies = before.get("svc_sandbox_request_duration_seconds");
  expect(latencies?.samples.find(({ name }) => name.endsWith("_count"))?.value).toBe(7);
  expect(latencies?.samples.find(({ name }) => name.endsWith("_sum"))?.value).toBeGreaterThan(0);
  expect(firstValue(before, "svc_sandbox_instances")).toBe(1);
  await ask("/requests", { method: "DELETE" });
  await ask("/reset", { method: "POST" });
  expect(requestsIn(await scrape(control))).toEqual(expected);
});

test("metrics show keys by state, the build and the process, each with its type", async () => {
  const control = await serveControl({ host: "0.0.0.0" });
  const headers = { authorization: `Bearer ${control.server.controlToken}` };
  await control.ask("/keys/active/rotate", { method: "POST", json: {}, headers });
  const metrics = await scrape(control, { headers });
  const states = metrics.get("svc_sandbox_keys")?.samples.map(({ labels, value }) => [labels.state, value]);
  const listed = control.server.sandbox.keys.list();
  expect(states).toEqual(keyStates.map((is) => [is, listed.filter(({ state }) => state === is).length]));
  expect(firstValue(metrics, "svc_sandbox_ready")).toBe(1);
  const { version } = (await control.ask("/health")).body;
  expect(metrics.get("svc_sandbox_build_info")?.samples).toEqual([
    { name: "svc_sandbox_build_info", labels: { version }, value: 1 },
  ]);
  const ours = ["requests_total", "request_duration_seconds"].map((name) => `svc_sandbox_${name}`);
  const types = [...ours, "process_resident_memory_bytes"];
  expect(types.map((name) => metrics.get(name)?.type)).toEqual(["counter", "histogram", "gauge"]);
});

test("no label has a value that a client chose", async () => {
  const { ask, server } = await serveControl({ scenario: "key-states" });
  await ask("/instances", { method: "POST", json: { label: "label-of-client" } });
  for (const apiKey of ["SVC_test_client", server.sandbox.secret("active")]) {
    const headers = { "x-api-key": apiKey, "user-agent": "agent-of-client" };
    await fetch(`${server.url}/path-of-client?query=of-client`, { method: "PURGE", headers });
    await fetch(server.url + mePath, { headers });
  }
  const { text } = await ask("/metrics");
  expect(text).not.toMatch(/SVC_|of-client|PURGE|harvest-bank/);
  const known = new Set<string>(outcomes.map(({ path }) => path));
  const samples = readMetrics(text).get("svc_sandbox_requests_total")?.samples ?? [];
  expect(samples).toHaveLength(3);
  for (const { labels } of samples)
    expect([Object.keys(labels), known.has(labels.path_id as string)]).toEqual([["path_id", "status"], true]);
});

test("a request that a fault leaves without a response has the status 0, and takes as long as its client waits", async () => {
  const control = await serveControl();
  const { server, ask } = control;
  await ask("/faults", { method: "PUT", json: { faults: [{ then: { hang: true } }] } });
  const ending = new AbortController();
  const waiting = fetch(server.url + mePath, { signal: ending.signal }).catch(() => {});
  await requested(server.sandbox);
  expect(requestsIn(await scrape(control))).toEqual({});
  ending.abort();
  await waiting;
  await expect.poll(async () => requestsIn(await scrape(control))).toEqual({ "fault.hang 0": 1 });
});

test("a server is ready from its start, which a probe learns without a token and nothing more", async () => {
  const control = await serveControl({ host: "0.0.0.0" });
  const { version } = (await control.ask("/health")).body;
  for (const method of ["GET", "HEAD"]) expect((await control.ask("/ready", { method })).status).toBe(200);
  expect((await control.ask("/ready")).body).toEqual({ status: "ready", version, memory: "free" });
  expect((await control.ask("/metrics")).body.error.code).toBe("control_token_required");
});

test.each(["/ready", "/revision"])("a server that stops is not ready, and shows why at %s", async (path) => {
  const server = await startServer();
  server.sandbox.faults.set([{ then: { slow: 200 } }]);
  // So that the control plane is loaded.
  await fetch(`${server.controlUrl}/ready`);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const heard = buffer(socket);
  socket.write(get(mePath) + get(`/__sandbox${path}`));
  await once(socket, "data");
  // The responses that it owes keep this connection open, and the second request starts after the first response.
  const closed = server.close(60_000);
  const [first, second] = readResponses(await heard);
  expect(first?.status).toBe(401);
  expect([second?.status, JSON.parse(second?.body ?? "")]).toEqual([
    503,
    { error: { code: "not_ready", message: "The sandbox is stopping." } },
  ]);
  await closed;
});
