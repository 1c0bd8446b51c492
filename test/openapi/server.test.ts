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
} as const;
const scenario = {
  version: 1,
  openapi: { text },
  organizations: { bank: { type: "bank", keys } },
} as const;

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

const yaml = { "Content-Type": "application/yaml" };

async function sendTo(controlUrl: string | undefined, body: string) {
  const response = await fetch(`${controlUrl}/scenario`, { method: "PUT", headers: yaml, body });
  return { status: response.status, body: await response.json() };
}

test("a sent scenario may name the document that the server was started with, and continues from --state", async () => {
  const state = join(temporaryFolder(), "state.json");
  const first = await servedAnew({
    state,
    scenario: { ...scenario, openapi: { text, file: "docs/api.yaml" } },
  });
  expect(await sendTo(first.controlUrl, stringify({ ...scenario, openapi: undefined }))).toMatchObject({
    status: 200,
  });
  expect(await statusOf(first.url)).toBe(404);
  const named = { ...scenario, openapi: "api.yaml" };
  expect((await sendTo(first.controlUrl, stringify(named))).status).toBe(200);
  expect(await statusOf(first.url)).toBe(201);
  await first.close(0);
  const next = await servedAnew({
    state,
    scenario: { ...scenario, openapi: { text, file: "docs/api.yaml" } },
  });
  expect(await statusOf(next.url)).toBe(201);
});

test("a sent scenario may have the text of this document, a part of it, or a bundled one", async () => {
  const { url, controlUrl } = await servedAnew({ scenario });
  expect((await sendTo(controlUrl, stringify(scenario))).status).toBe(200);
  expect(await statusOf(url)).toBe(201);
  const part = { ...scenario, openapi: { text, operations: ["listReports"] } };
  expect((await sendTo(controlUrl, stringify(part))).status).toBe(200);
  expect(await statusOf(url)).toBe(405);
  const bundled = await control(controlUrl, "PUT /scenario", { name: "announced-endpoints" });
  expect(bundled.status).toBe(200);
  expect((await sendTo(controlUrl, "version: 1\nextends: announced-endpoints")).status).toBe(200);
});

const other = `${text}# other\n`;
test.each<[string, object | string]>([
  ["a name", { ...scenario, openapi: "other.yaml" }],
  ["a text", { ...scenario, openapi: { text: other } }],
  ["a text with a known name", { ...scenario, openapi: { text: other, file: "api.yaml" } }],
  ["a part", { ...scenario, openapi: { file: "other.yaml", operations: ["createReport"] } }],
  [
    "an escaped field",
    JSON.stringify({ ...scenario, openapi: "other.yaml" }).replace("openapi", "open\\u0061pi"),
  ],
])("%s of any other document gets 403 and changes nothing", async (_, given) => {
  const { url, controlUrl } = await served({
    scenario: { ...scenario, openapi: { text, file: "api.yaml" } },
  });
  const sent = typeof given === "string" ? given : JSON.stringify(given);
  const refused = await sendTo(controlUrl, sent);
  expect([refused.status, refused.body.error.code]).toEqual([403, "document_not_allowed"]);
  const checked = await fetch(`${controlUrl}/scenario/validate`, {
    method: "POST",
    headers: yaml,
    body: sent,
  });
  expect((await checked.json()).data.problems).toMatchObject([{ level: "error", line: 1 }]);
  expect(await statusOf(url)).toBe(201);
});

test("the document of the start stays with another scenario, and in a reset", async () => {
  const { url, controlUrl } = await served({ openapi: readOpenApi(text) });
  const main = { ...keys.main, scopes: ["attestations:read", "reports:write"] };
  const other = { version: 1, organizations: { bank: { type: "bank", keys: { main } } } };
  const headers = { "Content-Type": "application/yaml" };
  await fetch(`${controlUrl}/scenario`, { method: "PUT", headers, body: stringify(other) });
  expect(await statusOf(url)).toBe(201);
  await control(controlUrl, "POST /reset");
  expect(await statusOf(url)).toBe(201);
});
