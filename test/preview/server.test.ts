import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { guard, openApiDocument, type Sandbox } from "../../src/index.js";
import type { startServer } from "../../src/server/index.js";
import { serveControl } from "../control/client.js";
import { subscribe } from "../control/subscribe.js";
import { clientInProcess, describeDoors, headerOf } from "../support/doors.js";
import { converse } from "../support/raw-socket.js";
import { runCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import {
  attestationsPath,
  consentsPath,
  type Json,
  json,
  previewClient,
  previewScenario,
  purpose,
  releasedScenario,
} from "./client.js";

describeDoors("the preview", (open) => {
  test("works as in process: bodies, queries, headers, HEAD and Allow", async () => {
    const client = await open(previewScenario);
    const { ask, attestations, cancel, get, send, sandbox } = previewClient(client);
    const [made, again] = [
      await ask("bank", 0, {}, { "idempotency-key": '"k"' }),
      await ask("bank", 0, {}, { "idempotency-key": "k" }),
    ];
    const { id } = made.json.data;
    expect([made.status, again.json]).toEqual([201, made.json]);
    expect(headerOf(again, "idempotent-replayed")).toBe("true");
    sandbox.clock.advance("3h");
    expect((await attestations("bank", "?limit=1")).json.page).toEqual({ limit: 1, offset: 0, total: 1 });
    const whole = await get("bank", id);
    const head = await send("bank", { method: "HEAD", path: `${consentsPath}/${id}` });
    expect([head.status, headerOf(head, "content-length")]).toEqual([200, headerOf(whole, "content-length")]);
    for (const [path, allow, other] of [
      [consentsPath, "POST", "GET"],
      [`${consentsPath}/${id}`, "GET, HEAD", "POST"],
      [attestationsPath, "GET, HEAD", "POST"],
    ] as const) {
      for (const method of ["PUT", "PATCH", "OPTIONS", other]) {
        const got = await send("bank", { method, path });
        expect([path, method, got.status, headerOf(got, "allow")]).toEqual([path, method, 405, allow]);
      }
    }
    expect((await cancel("bank", id)).json.data.status).toBe("cancelled");
    expect((await cancel("bank", id)).status).toBe(409);
    expect((await ask("bank", 0, { permissions: [] })).status).toBe(422);
    expect(
      (await send("bank", { method: "POST", path: consentsPath, headers: json, body: "{" })).status,
    ).toBe(400);
    expect((await get("bank-live", id)).status).toBe(404);
    await client.close();
  });

  test("creates a request once whose response is truncated, and does not count it", async () => {
    const faults = [{ when: { requests: [1] as [number] }, then: { truncate: true as const } }];
    const client = await open({ ...previewScenario, faults });
    const { ask, sandbox } = previewClient(client);
    const lost = await ask("bank", 0, {}, { "idempotency-key": "k" }).catch(() => "cut off");
    const again = await ask("bank", 0, {}, { "idempotency-key": "k" });
    expect([again.status, headerOf(again, "idempotent-replayed")]).toEqual([201, "true"]);
    expect(sandbox.consents.list().map(({ id }) => id)).toEqual([again.json.data.id]);
    expect(sandbox.keys.get("bank").usage.today).toBe(1);
    expect(JSON.stringify(lost)).not.toContain(purpose.text);
    await client.close();
  });
});

async function serve(options: Parameters<typeof startServer>[0] = {}) {
  const server = await served({ scenario: previewScenario, ...options });
  const sandbox = server.sandbox as Sandbox;
  return { server, sandbox, port: Number(new URL(server.url).port), key: sandbox.secret("bank") };
}

test("a body may come in pieces and be cut off; a long one is refused on an open connection", async () => {
  const { sandbox, port, key } = await serve();
  const { farmer_id } = sandbox.farmers.at(0);
  const body = JSON.stringify({ farmer_id, purpose, permissions: ["land"] });
  const head = `POST ${consentsPath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\n`;
  const pieces = [...body].map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  const chunked = await converse(port, {
    chunks: [`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`, ...pieces, "0\r\n\r\n"],
    after: "listen",
  });
  expect(chunked.toString()).toMatch(/^HTTP\/1\.1 201 /);
  // Cut off: no client is left to answer, and nothing is made.
  await converse(port, { chunks: [`${head}Content-Length: 500\r\n\r\n`, body], after: "reset" });
  const long = await converse(port, {
    chunks: [
      `${head}Content-Length: 200000\r\n\r\n`,
      Buffer.alloc(200_000, "x"),
      `GET ${attestationsPath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nConnection: close\r\n\r\n`,
    ],
    after: "listen",
  });
  expect(long.toString().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400", "HTTP/1.1 200"]);
  const notUtf8 = await converse(port, {
    chunks: [`${head}Connection: close\r\nContent-Length: 2\r\n\r\n`, Buffer.from([0xc3, 0x28])],
    after: "listen",
  });
  expect(notUtf8.toString()).toContain("it is not UTF-8");
  expect(sandbox.consents.list()).toHaveLength(1);
  expect(sandbox.requests.total()).toBe(4);
});

test("custom handlers get the paths that are not the preview's", async () => {
  const { server, key } = await serve({
    handlers: [
      http.get(`*${attestationsPath}`, () => HttpResponse.json({ mine: true })),
      http.get("*/v1/relying-party/parcels", ({ request }) => {
        const { refusal } = guard(request, { scope: "attestations:read" });
        return refusal ?? HttpResponse.json({ mine: true });
      }),
    ],
  });
  const get = async (path: string) =>
    (await fetch(server.url + path, { headers: { "x-api-key": key } })).json();
  expect(await get(attestationsPath)).toMatchObject({ page: { total: 0 } });
  expect(await get("/v1/relying-party/parcels")).toEqual({ mine: true });
});

test("an instance has a preview if its scenario has one", async () => {
  const { ask } = await serveControl({ scenario: previewScenario });
  const create = async (scenario: string) =>
    (await ask("/instances", { method: "POST", json: { scenario } })).body.data;
  const [on, off] = [await create("announced-endpoints"), await create("key-states")];
  const status = async (url: string, key: string) =>
    (await fetch(url + attestationsPath, { headers: { "x-api-key": key } })).status;
  expect(await status(on.base_url, on.keys.lending)).toBe(200);
  expect(await status(off.base_url, off.keys.active)).toBe(404);
});

test("the control plane lists consent requests, decides for the farmer, and announces each change", async () => {
  const { ask: call, server } = await serveControl({ scenario: previewScenario });
  const { events, until } = await subscribe(server.url);
  const { ask, cancel } = previewClient(clientInProcess(server.sandbox as Sandbox));
  const post = (path: string) => call(path, { method: "POST" });
  const { id } = (await ask("bank", 2, { permissions: ["land", "loans"] })).json.data;
  expect((await call("/consents")).body.data).toMatchObject([
    { id, organization: "bank", farmer: 2, status: "pending", attestations: [] },
  ]);
  expect((await post(`/consents/${id}/grant`)).body.data).toMatchObject({
    status: "granted",
    attestations: [{}, {}],
  });
  for (const again of ["grant", "reject"]) {
    const refused = await post(`/consents/${id}/${again}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, "consent_not_open"]);
  }
  await call("/clock/advance", { method: "POST", json: { by: "1m" } });
  const [{ id: attestation }] = (await call("/consents")).body.data[0].attestations;
  expect((await post(`/attestations/${attestation}/suspend`)).body.data.validity).toBe("suspended");
  expect((await post(`/attestations/${attestation}/suspend`)).body.error.code).toBe("attestation_not_open");
  expect((await post(`/attestations/${attestation}/resume`)).body.data.validity).toBe("active");
  expect((await post(`/consents/${id}/revoke`)).body.data.status).toBe("revoked");
  expect((await post(`/attestations/${attestation}/resume`)).status).toBe(409);
  for (const path of ["/consents/nothing/grant", "/attestations/nothing/suspend"])
    expect((await post(path)).body.error.code).toBe("not_found");
  await cancel("bank", (await ask("bank", 2)).json.data.id);
  const consentEvents = () => events.filter(({ event }) => event.startsWith("consent."));
  await until(() => consentEvents().at(-1)?.data.consent.status === "cancelled");
  expect(consentEvents().map(({ event, data }) => [event, data.consent.status])).toEqual([
    ["consent.requested", "pending"],
    ["consent.changed", "granted"],
    ["consent.changed", "granted"],
    ["consent.changed", "granted"],
    ["consent.changed", "revoked"],
    ["consent.requested", "pending"],
    ["consent.changed", "cancelled"],
  ]);
});

test("without the preview the control plane returns not_found, and shows how to turn it on", async () => {
  const { ask: call } = await serveControl({ scenario: releasedScenario });
  for (const [method, path] of [
    ["GET", "/consents"],
    ["POST", "/consents/x/grant"],
    ["POST", "/attestations/x/suspend"],
  ] as const) {
    const { status, body } = await call(path, { method });
    expect([path, status, body.error.code]).toEqual([path, 404, "not_found"]);
    expect(body.error.message).toContain("preview: true");
  }
});

test("R48 the description has the announced endpoints where the preview is on, each of them marked", async () => {
  const on = await serveControl({ scenario: previewScenario });
  const off = await serveControl({ scenario: releasedScenario });
  expect((await off.ask("/openapi.json")).body).toEqual(openApiDocument());
  const { body } = await on.ask("/openapi.json");
  expect(body).toEqual(JSON.parse((await runCli(["openapi", "--preview"])).stdout));
  expect(JSON.parse((await runCli(["openapi"])).stdout)).toEqual(openApiDocument());
  expect(body.paths).toMatchObject(openApiDocument().paths as object);
  const announced = Object.keys(body.paths).filter(
    (path) => !Object.hasOwn(openApiDocument().paths as object, path),
  );
  const operations = announced.flatMap((path) => Object.values(body.paths[path] as Json)) as Json[];
  expect(operations.map((operation) => operation["x-preview"])).toEqual([true, true, true, true, true]);
  for (const { description } of operations) expect(description).toMatch(/^Preview: .* guess/);
});

test("a state file keeps consent requests, each written before its response", async () => {
  const state = join(temporaryFolder(), "state.json");
  const first = await serve({ state, frozen: true });
  const headers = { "idempotency-key": "k" };
  const { id } = (await previewClient(clientInProcess(first.sandbox)).ask("bank", 2, {}, headers)).json.data;
  expect(existsSync(state) && readFileSync(state, "utf8")).toContain('"farmer":2');
  first.sandbox.consents.grant(id);
  first.sandbox.clock.advance("2m");
  const before = [first.sandbox.consents.list(), first.sandbox.attestations.list()];
  await first.server.close(0);
  const second = await serve({ state, frozen: true });
  expect([second.sandbox.consents.list(), second.sandbox.attestations.list()]).toEqual(before);
  const again = await previewClient(clientInProcess(second.sandbox)).ask("bank", 2, {}, headers);
  expect(again.json.data.id).toBe(id);
});

test("a body of 64 KB is read, and one byte more is too long", async () => {
  const { server, key } = await serve();
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const reasonFor = async (length: number) => {
    const init = { method: "POST", headers, body: " ".repeat(length) };
    return (await (await fetch(server.url + consentsPath, init)).json()).error.details.reason;
  };
  expect([await reasonFor(65_536), await reasonFor(65_537)]).toEqual([
    ...["it is not JSON", "it is longer than 65536 bytes"],
  ]);
});

test("each date of a consent comes true, and a placeholder of an unknown one is rejected", async () => {
  const scenario = { ...previewScenario, consents: [{ organization: "bank", farmer: 0 }] };
  const { ask } = await serveControl({ scenario });
  const unknown = await ask("/send", {
    method: "POST",
    json: { key: "bank", path: `${consentsPath}/{consent.99}` },
  });
  expect([unknown.status, Object.keys(unknown.body.error.details.fields)]).toEqual([422, ["path"]]);
  for (let seen = 0; ; seen++) {
    const { data } = (await ask("/upcoming")).body;
    const next = data.find(({ kind }: Json) => kind === "consent_changes");
    if (next === undefined) {
      expect(seen).toBeGreaterThan(0);
      return;
    }
    await ask("/clock", { method: "PUT", json: { now: next.at } });
    const [{ id, status }] = (await ask("/consents")).body.data;
    expect(next.text).toContain(`Consent ${id} is ${status}`);
  }
});
