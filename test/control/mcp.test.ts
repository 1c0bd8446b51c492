import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { exchange } from "../support/exchange.js";
import { runs } from "../support/property-seed.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { clientOf, expectUnchanged, serveControl } from "./client.js";

// An agent, as the client of the SDK, that has only an address and a token.

const controlToken = "the-owner-of-the-server";
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function agentAt(controlUrl: string, token: string) {
  const client = new Client({ name: "agent", version: "1.0.0" });
  const requestInit = { headers: bearer(token) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${controlUrl}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    const [{ text = "" } = {}] = content as { text?: string }[];
    return { isError, text, tools: (await client.listTools()).tools };
  };
}

async function withInstances() {
  const made = await serveControl({ controlToken });
  const create = async (seed: number) => {
    const asking = { method: "POST", json: { seed }, headers: bearer(controlToken) };
    return (await made.ask("/instances", asking)).body.data;
  };
  return { ...made, mine: await create(1), other: await create(2) };
}

test("an agent uses an instance with its address and token, as over stdio", async () => {
  const { mine } = await withInstances();
  const call = await agentAt(mine.control_url, mine.token);
  const env = JSON.parse((await call("environment")).text);
  expect(env).toMatchObject({ SVC_BASE_URL: mine.base_url, SVC_CONTROL_URL: mine.control_url });
  const { status } = await fetch(env.SVC_BASE_URL + mePath, { headers: { "x-api-key": env.SVC_API_KEY } });
  expect(status).toBe(200);
  expect(JSON.parse((await call("requests")).text).data).toHaveLength(1);
  await call("revoke", { key: "active" });
  expect(JSON.parse((await call("explain", { key: "active" })).text)).toMatchObject({ status: 401 });
  expect((await call("revoke", { key: "active" })).isError).toBe(true);
});

test("the server's own sandbox, over HTTPS with a self-signed certificate, is one more address", async () => {
  const server = await served({ controlToken, tls: true, seed: 3 });
  const { certificate: ca } = server as typeof server & { certificate: string };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "environment" } };
  const accept = "application/json, text/event-stream";
  const { bytes } = await exchange(server.url, {
    ...{ method: "POST", path: "/__sandbox/mcp", ca, body: JSON.stringify(message) },
    headers: { ...bearer(controlToken), accept, "content-type": "application/json" },
  });
  const { SVC_API_KEY } = JSON.parse(JSON.parse(String(bytes)).result.content[0].text);
  expect(SVC_API_KEY).toBe(server.sandbox.secret("active"));
});

test("a token of one instance opens no other one, with any tool and any arguments", async () => {
  const control = await withInstances();
  const { mine, other, ask } = control;
  const call = await agentAt(mine.control_url, mine.token);
  const { tools } = await call("environment");
  const stateOfOther = () => ask("/state", { base: `/i/${other.id}`, headers: bearer(other.token) });
  const before = (await stateOfOther()).body;
  for (const controlUrl of [other.control_url, control.server.controlUrl as string])
    await expect(agentAt(controlUrl, mine.token)).rejects.toThrow(/control token/);
  const words = fc.constantFrom(
    "active",
    other.id,
    `../../${other.id}`,
    `/i/${other.id}/__sandbox`,
    other.token,
  );
  const value = fc.oneof(words, fc.record({ status: words }), fc.constant(true));
  const calls = tools.map(({ name, inputSchema }) => {
    const names = Object.keys(inputSchema.properties ?? {});
    return fc.tuple(
      fc.constant(name),
      fc.record(Object.fromEntries(names.map((one) => [one, value])), { requiredKeys: [] }),
    );
  });
  const texts: string[] = [];
  await expectUnchanged(control, () =>
    fc.assert(
      fc.asyncProperty(fc.tuple(...calls), async (all) => {
        for (const [name, input] of all)
          texts.push((await call(name, input as Record<string, unknown>)).text);
      }),
      runs(5),
    ),
  ).catch((error) => {
    // The list of instances shows that one of them was used.
    if (!String(error).includes("traffic")) throw error;
  });
  expect((await stateOfOther()).body).toEqual(before);
  for (const text of texts) expect(text).not.toContain(other.keys.active);
});

test("pages, sizes, methods and JSON are checked as for the control plane", async () => {
  const { server } = await serveControl();
  const ask = clientOf(server.url);
  const json = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const sent = (more: object) => ask("/mcp", { method: "POST", ...more });
  expect((await sent({ json, headers: { origin: "https://evil.example" } })).status).toBe(403);
  expect((await sent({ json, headers: { host: "evil.example" } })).status).toBe(403);
  expect(
    (await sent({ bytes: "x".repeat(2 ** 21), headers: { "content-type": "application/json" } })).status,
  ).toBe(413);
  expect((await sent({ bytes: "{", headers: { "content-type": "application/json" } })).status).toBe(400);
  const { status, headers } = await ask("/mcp");
  expect([status, headers.allow]).toEqual([405, "POST"]);
});
