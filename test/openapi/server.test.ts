import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { control } from "../support/call-control.js";
import { root } from "../support/pages.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const text = readFileSync(join(root, "examples/openapi/relying-party-0.2.0.yaml"), "utf8");
const keys = {
  main: { environment: "test", secret: "SVC_test_sbxWithADocument0000000000000" },
};
const scenario = {
  version: 1,
  openapi: { text },
  organizations: { bank: { type: "bank", keys } },
};

/** Serves as a process that has not read a document yet. */
async function servedAnew(options: Parameters<typeof served>[0]) {
  vi.resetModules();
  return (await import("../support/servers.js")).served(options);
}

async function statusOf(base: string): Promise<number> {
  const headers = { "x-api-key": keys.main.secret, "Content-Type": "application/json" };
  const body = JSON.stringify({ months: 12 });
  return (await fetch(`${base}/v1/relying-party/reports`, { method: "POST", headers, body })).status;
}

test("a scenario with a document starts in an instance, and continues from --state", async () => {
  const state = join(temporaryFolder(), "state.json");
  const first = await servedAnew({ state });
  const made = await control(first.controlUrl, "POST /instances", { scenario });
  expect([made.status, await statusOf(made.body.data.base_url)]).toEqual([201, 201]);
  await first.close(0);
  const next = await servedAnew({ state });
  expect(await statusOf(`${next.url}/i/${made.body.data.id}`)).toBe(201);
});

test("a scenario with a document is sent to a server, and continues from --state", async () => {
  const state = join(temporaryFolder(), "state.json");
  const first = await servedAnew({ state });
  const headers = { "Content-Type": "application/yaml" };
  const sent = await fetch(`${first.controlUrl}/scenario`, {
    method: "PUT",
    headers,
    body: stringify(scenario),
  });
  expect([sent.status, await statusOf(first.url)]).toEqual([200, 201]);
  await first.close(0);
  expect(await statusOf((await servedAnew({ state })).url)).toBe(201);
});

test("the document of the start stays with another scenario, in a reset and in instances of another scenario", async () => {
  const { url, controlUrl } = await served({ openapi: readOpenApi(text) });
  const main = { ...keys.main, scopes: ["attestations:read", "reports:write"] };
  const other = { version: 1, organizations: { bank: { type: "bank", keys: { main } } } };
  const headers = { "Content-Type": "application/yaml" };
  await fetch(`${controlUrl}/scenario`, { method: "PUT", headers, body: stringify(other) });
  expect(await statusOf(url)).toBe(201);
  await control(controlUrl, "POST /reset");
  expect(await statusOf(url)).toBe(201);
  const made = await control(controlUrl, "POST /instances", { scenario: other });
  expect(await statusOf(made.body.data.base_url)).toBe(201);
});
