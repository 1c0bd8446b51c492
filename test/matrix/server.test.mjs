import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadScenario, startServer } from "svc-sandbox/node";

test("a server responses until it is closed, its control plane as well", async () => {
  const server = await startServer();
  const me = (headers) => fetch(`${server.url}/v1/relying-party/me`, { headers });
  assert.equal((await me({})).status, 401);
  assert.equal((await me({ "x-api-key": server.sandbox.secret("active") })).status, 200);
  assert.equal((await me({ "x-api-key": server.sandbox.secret("live-suspended") })).status, 403);
  const { status, scenario, version } = await (await fetch(`${server.controlUrl}/health`)).json();
  assert.deepEqual([status, scenario], ["ok", "key-states"]);
  assert.match(version, /^\d+\.\d+\.\d+/);
  await server.close();
  await assert.rejects(me({}));
});

// Where buffers are jsdom's own, the web cryptography of Node 20 takes none of them.
const noCertificate = process.version.startsWith("v20.") && !(Buffer.alloc(0).buffer instanceof ArrayBuffer);

test("a server with TLS speaks HTTP/1.1", async () => {
  if (noCertificate) return;
  const server = await startServer({ tls: true });
  const options = { ca: server.certificate, agent: false };
  const response = await new Promise((resolve, reject) => {
    get(`${server.url}/v1/relying-party/me`, options, resolve).on("error", reject);
  });
  response.resume();
  assert.equal(response.statusCode, 401);
  await server.close();
});

test("a scenario file is loaded and served", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-own-"));
  const file = join(folder, "own.yaml");
  const text = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";
  writeFileSync(file, text);
  try {
    assert.deepEqual((await loadScenario(file)).files, [file]);
    const server = await startServer({ scenario: file });
    const headers = { "x-api-key": server.sandbox.secret("main") };
    const response = await fetch(`${server.url}/v1/relying-party/me`, { headers });
    await server.close();
    assert.equal(response.status, 200);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
