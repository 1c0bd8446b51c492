import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeEach, expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { coverage } from "../support/coverage.js";
import { type Running, startCli } from "../support/run-cli.js";
import { words } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// `svc-sandbox mcp`, asked by the client of the SDK.

let client: Client;
let running: Running;

beforeEach(async () => {
  client = new Client({ name: "test", version: "1.0.0" });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  running = startCli(["mcp"], { cwd: temporaryFolder(), pipes: { stdin, stdout } });
  await client.connect(new StdioServerTransport(stdout, stdin));
});

const call = async (name: string, input: Record<string, unknown> = {}) => {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [{ text = "" } = {}] = content as { text?: string }[];
  const { data = undefined, ...bare } = JSON.parse(text);
  return { isError, text, data: data ?? bare };
};
const fine = async (name: string, input?: Record<string, unknown>) => {
  const { isError, data, text } = await call(name, input);
  expect([name, isError, text]).toEqual([name, false, text]);
  return data;
};
const failure = async (name: string, input?: Record<string, unknown>) => {
  const { isError, data } = await call(name, input);
  return { isError, ...data.error };
};
const statusWith = async (key: string) => (await fine("send", { key })).response.status;

test("records are listed, added, changed and removed", async () => {
  await fine("scenario", { name: "announced-endpoints" });
  expect(await fine("records")).toMatchObject([{ collection: "consent-requests", records: 2 }, {}]);
  const collection = "attestations";
  const { id } = await fine("records", { collection, add: { type: "land" } });
  const set = { production: "ready" };
  expect(await fine("records", { collection, id, set })).toMatchObject({ members: { type: "land", ...set } });
  expect(await failure("records", { collection, id: "none", set })).toMatchObject({ code: "not_found" });
  const removed = await client.callTool({ name: "records", arguments: { collection, id, remove: true } });
  expect([removed.isError, await fine("records", { collection })]).toMatchObject([false, [{ number: 1 }]]);
});

test("lists tools with a schema for their input and one name for each thing, and shows how to start", async () => {
  const { tools } = await client.listTools();
  expect(JSON.stringify(tools)).not.toContain("doNotSuggest");
  const names = ["environment", "send", "report", "rotate", "revoke"];
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  const inputs = new Set(tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {})));
  for (const other of ["ref", "text"]) expect(inputs).not.toContain(other);
  for (const { name, inputSchema, description } of tools) {
    expect(await failure(name, { unknown: 1 })).toMatchObject({ isError: true, code: "validation_failed" });
    expect(description).toMatch(/\.$/);
    expect(new Ajv2020({ strict: false, formats: { uri: true } }).compile(inputSchema)).toBeTypeOf(
      "function",
    );
  }
  expect(client.getInstructions()).toContain("Call environment");
  expect(client.getServerVersion()).toMatchObject({ name: "svc-sandbox" });
});

test("environment has what a client needs, and report what it covers then", async () => {
  const env = await fine("environment");
  expect(env.SVC_KEY_REVOKED).toBe(createSandbox().secret("revoked"));
  const me = `${env.SVC_BASE_URL}/v1/relying-party/me`;
  const get = async (key: string) => (await fetch(me, { headers: { "x-api-key": key } })).status;
  expect([await get(env.SVC_API_KEY), await get(env.SVC_KEY_REVOKED)]).toEqual([200, 401]);
  const report = await fine("report");
  expect(report).toMatchObject({ verdict: "passed", coverage: coverage(2).percent });
  expect(Object.keys(report.missed)).not.toContain("401.revoked");
  expect(
    (await fine("requests", { limit: 1 })).map(({ key, path_id }: Record<string, string>) => [key, path_id]),
  ).toEqual([["revoked", "401.revoked"]]);
});

test("explain, advance, rotate, revoke, organization, faults and reset act on the same sandbox", async () => {
  expect(await fine("explain", { key: "rate-limited-minute" })).toMatchObject({
    status: 429,
    path_id: "429.per_minute",
  });
  await fine("advance", { by: "60s" });
  expect(await statusWith("rate-limited-minute")).toBe(200);
  const { key, secret } = await fine("rotate", { key: "active", overlap_minutes: 0 });
  expect([key.replaces, secret]).toEqual(["active", expect.stringMatching(/^SVC_test_sbx/)]);
  const { SVC_BASE_URL } = await fine("environment");
  const { status } = await fetch(`${SVC_BASE_URL}/v1/relying-party/me`, { headers: { "x-api-key": secret } });
  expect([await statusWith("active"), status]).toEqual([401, 200]);
  expect((await fine("revoke", { key: key.ref })).key.state).toBe("revoked");
  expect(await fine("organization", { organization: "harvest-bank", status: "inactive" })).toMatchObject({
    status: "inactive",
  });
  expect(await statusWith("live")).toBe(403);
  await fine("faults", { faults: [{ then: { status: 503 } }] });
  expect(await statusWith("live")).toBe(503);
  await fine("reset");
  expect(await statusWith("active")).toBe(200);
});

test("scenario starts a bundled one or YAML, and validate names the place of a problem", async () => {
  expect(await fine("scenario", { name: "rotation" })).toMatchObject({ scenario: "rotation" });
  const yaml =
    "version: 1\norganizations: { my-bank: { type: bank, keys: { mine: { environment: test } } } }\n";
  await fine("scenario", { yaml });
  expect(Object.keys(await fine("environment"))).toContain("SVC_KEY_MINE");
  expect(await fine("validate", { yaml })).toEqual({ problems: [] });
  const { problems } = await fine("validate", { yaml: yaml.replace("type: bank", "typ: bank") });
  expect(problems[0]).toMatchObject({ line: 2, level: "error", message: expect.stringContaining("typ") });
  expect(await fine("requests")).toEqual([]);
});

test.each([
  ["explain", { key: "revokd" }, "not_found", /Did you mean "revoked"\?/],
  ["revoke", { key: "revoked" }, "key_not_active", /^Failed to revoke the key "revoked": it is revoked/],
  ["revoke", {}, "validation_failed", /key is missing/],
  ["revoke", { key: "active", kee: 1 }, "validation_failed", /unknown field "kee"/],
  ["scenario", { name: "rotation", yaml: "version: 1" }, "validation_failed", /Pass one of them/],
  [
    "advance",
    { by: "soon" },
    "validation_failed",
    /by must be a duration, not "soon": write a value such as 90s/,
  ],
  ["scenario", { name: "key-state" }, "not_found", /key-states/],
  ["rese", {}, "not_found", /^Unknown tool "rese"\. Did you mean "reset"\?/],
])("%s with %j fails with %s, in the words of the product", async (name, input, code, message) => {
  expect(await failure(name, input)).toMatchObject({
    isError: true,
    code,
    message: expect.stringMatching(message),
  });
});

test("R46 shows no key of a client, nor one that is in an input", async () => {
  const [real, known] = ["SVC_live_4f9a8b7c6d5e4f3a2b1c", createSandbox().secret("active")];
  const texts = [
    (await call("explain", { key: real })).text,
    (await call("explain", { key: known })).text,
    (await call("revoke", { key: known })).text,
    (await call("send", { key: "active", path: `/v1/${real}` })).text,
    (await call("scenario", { name: known })).text,
    (await call(known)).text,
    (await call("requests")).text,
    (await call("report")).text,
  ];
  for (const text of [...texts, running.stderr.text()])
    for (const key of [real, known]) expect(text).not.toContain(key.slice(-12));
});

test("ends with its stdin", async () => {
  const [command = "", ...args] = words;
  const transport = new StdioClientTransport({ command, args: [...args, "mcp"], cwd: temporaryFolder() });
  client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  const { pid } = transport;
  const env = await fine("environment");
  await client.close();
  await expect(fetch(env.SVC_BASE_URL)).rejects.toThrow();
  expect(() => process.kill(pid as number, 0)).toThrow();
});
