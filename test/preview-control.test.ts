import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openApiDocument } from "../src/api/openapi.js";
import { createSandbox, type Scenario } from "../src/index.js";
import { runtimeOf } from "../src/library/current-sandbox.js";
import { startServer } from "../src/node/index.js";
import { serveControl } from "./support/control-client.js";
import { consentsPath, purpose } from "./support/preview-client.js";
import { previewScenario } from "./support/preview-scenario.js";
import { runCli } from "./support/run-cli.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const { preview: _, ...released } = previewScenario;

interface Asked {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly base: string;
  readonly secret: string;
  readonly farmer: string;
}

async function ask({ fetch, base, secret, farmer }: Asked): Promise<string> {
  const response = await fetch(base + consentsPath, {
    method: "POST",
    headers: { "x-api-key": secret, "content-type": "application/json", "idempotency-key": "k" },
    body: JSON.stringify({ farmer_id: farmer, purpose, permissions: ["land", "loans"] }),
  });
  return (await response.json()).data.id;
}

function askedOf(sandbox: ReturnType<typeof createSandbox>, farmer: number): Asked {
  const plain = sandbox as { secret(ref: string): string } & typeof sandbox;
  return {
    fetch: sandbox.fetch,
    base: "https://any.example",
    secret: plain.secret("bank"),
    farmer: sandbox.farmers.at(farmer).farmer_id,
  };
}

test("the control plane lists consent requests, and decides about them in the farmer's place", async () => {
  const { ask: call, server } = await serveControl({ scenario: previewScenario });
  const id = await ask(askedOf(server.sandbox as never, 2));
  expect((await call("/consents")).body.data).toMatchObject([
    { id, organization: "bank", farmer: 2, status: "pending", attestations: [] },
  ]);
  const granted = await call(`/consents/${id}/grant`, { method: "POST" });
  expect([granted.status, granted.body.data.status, granted.body.data.attestations.length]).toEqual([
    200,
    "granted",
    2,
  ]);
  for (const again of ["grant", "reject"]) {
    const refused = await call(`/consents/${id}/${again}`, { method: "POST" });
    expect([refused.status, refused.body.error.code]).toEqual([409, "consent_not_open"]);
  }
  await call("/clock/advance", { method: "POST", json: { by: "1m" } });
  const [{ id: attestation }] = (await call("/consents")).body.data[0].attestations;
  const suspended = await call(`/attestations/${attestation}/suspend`, { method: "POST" });
  expect([suspended.status, suspended.body.data.validity]).toEqual([200, "suspended"]);
  expect((await call(`/attestations/${attestation}/suspend`, { method: "POST" })).body.error.code).toBe(
    "attestation_not_open",
  );
  expect((await call(`/attestations/${attestation}/resume`, { method: "POST" })).body.data.validity).toBe(
    "active",
  );
  expect((await call(`/consents/${id}/revoke`, { method: "POST" })).body.data.status).toBe("revoked");
  expect((await call(`/attestations/${attestation}/resume`, { method: "POST" })).status).toBe(409);
  for (const path of ["/consents/nothing/grant", "/attestations/nothing/suspend"]) {
    const unknown = await call(path, { method: "POST" });
    expect([path, unknown.status, unknown.body.error.code]).toEqual([path, 404, "not_found"]);
  }
});

test("without the preview the control plane says that it is off, and changes nothing", async () => {
  const { ask: call } = await serveControl({ scenario: released as Scenario });
  for (const [method, path] of [
    ["GET", "/consents"],
    ["POST", "/consents/x/grant"],
    ["POST", "/consents/x/reject"],
    ["POST", "/consents/x/revoke"],
    ["POST", "/attestations/x/suspend"],
    ["POST", "/attestations/x/resume"],
  ] as const) {
    const { status, body } = await call(path, { method });
    expect([path, status, body.error.code, body.error.message]).toEqual([
      path,
      404,
      "not_found",
      expect.stringContaining("preview: true"),
    ]);
  }
});

test("R48 the description has the announced endpoints where the preview is on, each of them marked", async () => {
  const on = await serveControl({ scenario: previewScenario });
  const off = await serveControl({ scenario: released as Scenario });
  expect((await off.ask("/openapi.json")).body).toEqual(openApiDocument());
  const { body } = await on.ask("/openapi.json");
  expect(body).toEqual(JSON.parse((await runCli(["openapi", "--preview"])).stdout));
  expect(JSON.parse((await runCli(["openapi"])).stdout)).toEqual(openApiDocument());
  const { "/v1/relying-party/me": me, ...announced } = body.paths;
  expect({ "/v1/relying-party/me": me }).toEqual(openApiDocument().paths);
  const operations = Object.values(announced as object).flatMap((path) => Object.values(path as object));
  expect(operations).toHaveLength(5);
  for (const operation of operations) {
    expect([operation.operationId, operation["x-preview"]]).toEqual([operation.operationId, true]);
    expect(operation.description).toMatch(/^Preview: .* guess/);
  }
});

test("what happens to consent requests is announced, whoever did it", async () => {
  const { server } = await serveControl({ scenario: previewScenario });
  const heard: string[] = [];
  runtimeOf(server.sandbox).subscribe((event) => {
    if (event.type === "consent.requested" || event.type === "consent.changed")
      heard.push(`${event.type} ${event.consent.status}`);
  });
  const asked = askedOf(server.sandbox as never, 2);
  const id = await ask(asked);
  await ask(asked);
  server.sandbox.consents.grant(id);
  await asked.fetch(`${asked.base}${consentsPath}/${id}/cancel`, {
    method: "POST",
    headers: { "x-api-key": asked.secret },
  });
  expect(heard).toEqual([
    "consent.requested pending",
    "consent.changed granted",
    "consent.changed cancelled",
  ]);
});

test("the library lists and decides, and a snapshot goes on with all of it", async () => {
  const sandbox = createSandbox({ scenario: previewScenario });
  const asked = askedOf(sandbox as never, 2);
  const id = await ask(asked);
  expect(sandbox.consents.list()).toMatchObject([{ id, status: "pending" }]);
  expect(sandbox.consents.grant(id)).toMatchObject({ id, status: "granted" });
  sandbox.clock.advance("1m");
  const [first] = sandbox.attestations.list();
  expect(sandbox.attestations.suspend(first?.id as string)).toMatchObject({
    validity: "suspended",
    subject: null,
  });
  const other = createSandbox({ scenario: JSON.parse(JSON.stringify(sandbox.snapshot())) });
  expect(other.consents.list()).toEqual(sandbox.consents.list());
  expect(other.attestations.list()).toEqual(sandbox.attestations.list());
  // Sent again, it is the same request there.
  expect(await ask({ ...asked, fetch: other.fetch })).toBe(id);
  expect(other.consents.list()).toHaveLength(1);
  expect(other.attestations.resume(first?.id as string).subject).toEqual(
    sandbox.attestations.resume(first?.id as string).subject,
  );
  expect(other.consents.revoke(id).status).toBe("revoked");
  expect(() => other.consents.reject(id)).toThrow(expect.objectContaining({ code: "consent_not_open" }));
  expect(() => other.consents.grant("x")).toThrow(expect.objectContaining({ code: "unknown_ref" }));
  sandbox.reset();
  expect(sandbox.consents.list()).toEqual([]);
});

test("a server goes on with its consent requests after a restart, each written before it is answered", async () => {
  const state = join(temporaryFolder(), "state.json");
  const start = async () => {
    const server = await startServer({ scenario: previewScenario, state });
    onTestFinished(() => server.close(0));
    return server;
  };
  const first = await start();
  const asked = { ...askedOf(first.sandbox as never, 2), fetch, base: first.url };
  const id = await ask(asked);
  expect(existsSync(state) && readFileSync(state, "utf8")).toContain('"farmer":2');
  first.sandbox.consents.grant(id);
  first.sandbox.clock.advance("2m");
  const before = [first.sandbox.consents.list(), first.sandbox.attestations.list()];
  await first.close(0);
  const second = await start();
  expect([second.sandbox.consents.list(), second.sandbox.attestations.list()]).toEqual(before);
  expect(await ask({ ...asked, base: second.url })).toBe(id);
});
