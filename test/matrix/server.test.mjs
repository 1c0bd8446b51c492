import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadScenario, startServer } from "svc-sandbox/node";

test("a server answers until it is closed", async () => {
  const server = await startServer();
  const me = (headers) => fetch(`${server.url}/v1/relying-party/me`, { headers });
  assert.equal((await me({})).status, 401);
  assert.equal((await me({ "x-api-key": server.sandbox.secret("active") })).status, 200);
  assert.equal((await me({ "x-api-key": server.sandbox.secret("live-suspended") })).status, 403);
  await server.close();
  await assert.rejects(me({}));
});

test("the control plane loads with its first call", async () => {
  const server = await startServer();
  try {
    const health = await (await fetch(`${server.controlUrl}/health`)).json();
    assert.deepEqual([health.status, health.scenario], ["ok", "key-states"]);
    assert.match(health.version, /^\d+\.\d+\.\d+/);
  } finally {
    await server.close();
  }
});

test("a scenario file is loaded and served", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-own-"));
  const file = join(folder, "own.yaml");
  writeFileSync(
    file,
    "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n",
  );
  try {
    assert.deepEqual((await loadScenario(file)).files, [file]);
    const server = await startServer({ scenario: file });
    const key = server.sandbox.secret("main");
    const response = await fetch(`${server.url}/v1/relying-party/me`, { headers: { "x-api-key": key } });
    await server.close();
    assert.equal(response.status, 200);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
