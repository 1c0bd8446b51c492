import { connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { nodePlatform, startInNode } from "../../src/node/platform.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { serveSandbox } from "../../src/server/serve.js";
import { content, documentOf } from "../support/documents.js";
import { mePath } from "../support/send.js";
import { type Asking, clientOf, serveControl } from "./client.js";

// What one partner, or a stranger, may cost: an instance has limits, and the others notice nothing.

const controlToken = "the-owner-of-the-server";
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const owner = bearer(controlToken);

interface Made {
  readonly id: string;
  readonly token: string;
  readonly base_url: string;
  readonly keys: Readonly<Record<string, string>>;
}

async function open(options: Parameters<typeof serveControl>[0] = {}) {
  // Enough for a busy machine, except where a test is about it.
  const instanceLimits = { time: 600_000, ...options.instanceLimits };
  const { ask } = await serveControl({ controlToken, ...options, instanceLimits });
  const made: Made[] = [];
  while (made.length < 2)
    made.push((await ask("/instances", { method: "POST", json: {}, headers: { ...owner } })).body.data);
  const [one, other] = made as [Made, Made];
  const call = (path: string, asking: Asking = {}, { id, token }: Made = one) =>
    ask(path, { base: `/i/${id}`, ...asking, headers: { ...bearer(token), ...asking.headers } });
  const put = (bytes: string, path = "/scenario", method = "PUT") =>
    call(path, { method, bytes, headers: { "content-type": "application/yaml" } });
  const me = (key: string, { base_url }: Made = one) =>
    fetch(base_url + mePath, { headers: { "x-api-key": key } });
  const account = async (index = 0) => {
    const { data, limits } = (await ask("/instances", { headers: { ...owner } })).body;
    return { ...data.find(({ id }: Made) => id === made[index]?.id).account, limits };
  };
  return { ask, one, other, call, put, me, account };
}

const text = { type: "string" };
const note = { type: "object", required: ["id"], properties: { id: text, text } };
const notes = documentOf({
  "/notes": {
    post: {
      operationId: "create",
      requestBody: content({ type: "object", properties: { text } }),
      responses: { 201: { description: "", ...content(note) } },
    },
  },
});

const bankOnly = { version: 1, organizations: { bank: { type: "bank" } } } as const;

const keys = (count: number) =>
  `version: 1\norganizations:\n${Array.from({ length: count }, (_, index) => {
    return `  bank-${index}:\n    type: bank\n    keys:\n      key-${index}: { environment: test }\n`;
  }).join("")}`;

describe("an instance", () => {
  test("keeps at most its bytes, says how many, and a reset makes room; other instances have theirs", async () => {
    const { call, put, account, other } = await open({ instanceLimits: { bytes: 60_000 } });
    expect((await put(keys(1))).status).toBe(200);
    const create = (ref: string, more?: Made) =>
      call(
        "/keys",
        { method: "POST", json: { organization: "bank-0", environment: "test", name: "CI", ref } },
        more,
      );
    let index = 0;
    let made = await create("more-0");
    for (; made.status === 201 && index < 200; index += 1) {
      await call(`/keys/more-${index}/revoke`, { method: "POST" });
      made = await create(`more-${index + 1}`);
    }
    expect([made.status, made.body.error]).toEqual([
      507,
      { code: "instance_full", message: expect.stringMatching(/6\d kB .*60 kB, .*bytes=120kB/) },
    ]);
    expect(index).toBeGreaterThan(50);
    expect((await account()).bytes_kept).toBeGreaterThan(60_000);
    expect((await account(1)).bytes_kept).toBeLessThan(20_000);
    expect((await call("/keys?limit=1", {}, other)).status).toBe(200);
    expect((await call("/reset", { method: "POST" })).status).toBe(200);
    expect((await create("again")).status).toBe(201);
  });

  test("has at most 4 MB of records, no matter for how many organizations", async () => {
    const { call, put } = await open({
      scenario: { ...bankOnly, openapi: { text: JSON.stringify(notes), file: "notes.json" } },
    });
    const banks = Array.from({ length: 150 }, (_, index) => `  bank-${index}: { type: bank }\n`).join("");
    const scenario = `version: 1\norganizations:\n${banks}openapi: notes.json\nrecords: { notes: { create: create } }\n`;
    expect((await put(scenario)).text).toContain(`"scenario"`);
    const statuses: number[] = [];
    for (let index = 0; index < 30; index += 1) {
      const json = { organization: `bank-${index}`, text: "x".repeat(200_000) };
      statuses.push((await call("/records/notes", { method: "POST", json })).status);
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(19);
    expect(new Set(statuses.slice(19))).toEqual(new Set([409]));
  });

  test("has a scenario of at most its bytes and keys, and the owner's own may have more", async () => {
    const { ask, put } = await open();
    const long = `${keys(1)}#`.padEnd(256_001, "x");
    for (const [path, method] of [
      ["/scenario", "PUT"],
      ["/scenario/validate", "POST"],
    ] as const) {
      const { status, body } = await put(long, path, method);
      expect([status, body.error.message]).toEqual([
        413,
        expect.stringMatching(/has 257 kB .* allows 256 kB, .*scenario=512kB/),
      ]);
    }
    const many = "version: 1\npopulation: { organizations: 1001, keys_per_organization: 2 }\n";
    const { status, body } = await put(many);
    expect([status, body.error.details.fields.population]).toEqual([
      422,
      expect.stringMatching(/has 2002 keys .* allows 2000, .*keys=4000/),
    ]);
    const validated = (await put(many, "/scenario/validate", "POST")).body.data.problems;
    expect(validated).toMatchObject([{ line: 2, message: expect.stringContaining("2002 keys") }]);
    const scenario = { version: 1, population: { organizations: 2001 } };
    const json = { scenario };
    expect((await ask("/instances", { method: "POST", json, headers: { ...owner } })).status).toBe(422);
    const headers = { ...owner, "content-type": "application/yaml" };
    expect((await ask("/scenario", { method: "PUT", bytes: many, headers })).status).toBe(200);
  });

  test("pays with its time for what it sends, and then waits for its next minute; others do not", async () => {
    const { ask, one, other, call, put, me, account } = await open({ instanceLimits: { time: 300 } });
    let last = await put(keys(1000), "/scenario/validate", "POST");
    for (let count = 0; last.status === 200 && count < 100; count += 1)
      last = await put(keys(1000), "/scenario/validate", "POST");
    expect([last.status, last.body.error]).toEqual([
      429,
      { code: "instance_rate_limited", message: expect.stringMatching(/processor time .*time=0\.6s/) },
    ]);
    expect(last.headers["x-sandbox-limit"]).toBe("time=300");
    expect(Number(last.headers["retry-after"])).toBeGreaterThan(0);
    expect((await me(one.keys.active as string)).status).toBe(429);
    const { processor_ms, calls, limits } = await account();
    expect(processor_ms).toBeGreaterThanOrEqual(50);
    expect([calls > 0, limits.time]).toEqual([true, 300]);
    expect((await me(other.keys.active as string, other)).status).toBe(200);
    expect((await call("/clock", {}, other)).status).toBe(200);
    // The owner can always look.
    expect((await ask("/clock", { base: `/i/${one.id}`, headers: { ...owner } })).status).toBe(200);
    const { text } = await ask("/metrics", { headers: { ...owner } });
    expect(text).toMatch(/^svc_sandbox_instance_rejections_total [1-9]/m);
    expect(text).toMatch(/^svc_sandbox_instances_kept_bytes [1-9]/m);
  });

  test("whose clients do not read gets no further responses until they do", async () => {
    const { ask, one, other, call, me, account } = await open({ instanceLimits: { waiting: 50_000 } });
    for (let count = 0; count < 200; count += 1) await me(one.keys.active as string);
    const { port } = new URL(one.base_url);
    const path = `${new URL(one.base_url).pathname}/__sandbox/requests`;
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${one.token}\r\n\r\n`;
    // More than the buffers of a connection take.
    const socket = connect(Number(port), "127.0.0.1").pause();
    onTestFinished(() => void socket.destroy());
    socket.write(request.repeat(400));
    await expect.poll(async () => (await account()).bytes_waiting).toBeGreaterThanOrEqual(50_000);
    const rejected = await call("/requests");
    expect([rejected.status, rejected.body.error.message]).toEqual([
      429,
      expect.stringMatching(/not read yet; .*waiting=/),
    ]);
    expect((await call("/requests", {}, other)).status).toBe(200);
    expect((await ask("/requests", { base: `/i/${one.id}`, headers: { ...owner } })).status).toBe(200);
    socket.destroy();
    await expect.poll(async () => (await account()).bytes_waiting).toBe(0);
    expect((await call("/requests")).status).toBe(200);
  });

  test("loses only its own requests if its journal is long", async () => {
    const { one, other, call, me } = await open({ openapi: readOpenApi(notes) });
    await me(other.keys.active as string, other);
    const headers = { "x-api-key": one.keys.active as string, "content-type": "application/json" };
    const body = JSON.stringify({ text: "x".repeat(50_000) });
    for (let count = 0; count < 100; count += 1)
      await fetch(`${one.base_url}/notes`, { method: "POST", headers, body });
    const [long, short] = [
      (await call("/requests")).body.data,
      (await call("/requests", {}, other)).body.data,
    ];
    expect(long.length).toBeLessThan(100);
    expect(long.length).toBeGreaterThan(10);
    expect(short).toHaveLength(1);
  });
});

describe("a stranger who knows only the URL of an instance", () => {
  test("uses up no limit of it, and neither of the owner", async () => {
    const { ask, one, call, me } = await open({ instanceRate: 20 });
    for (let count = 0; count < 25; count += 1) {
      expect((await call("/clock", {}, { ...one, token: "svci_wrong" })).status).toBe(401);
      expect((await fetch(`${one.base_url}/nope`)).status).toBe(404);
      expect((await me("SVC_test_wrong")).status).toBe(401);
    }
    expect((await me(one.keys.active as string)).status).toBe(200);
    expect((await call("/clock")).status).toBe(200);
    expect((await ask("/clock", { base: `/i/${one.id}`, headers: { ...owner } })).status).toBe(200);
  });

  test("is counted by the address, and partners at the same address are still recognized", async () => {
    // No time passes that would pay for what the calls cost.
    const spy = vi.spyOn(nodePlatform, "stopwatch").mockReturnValue(1e6);
    onTestFinished(() => spy.mockRestore());
    const { ask, one, other, call, me } = await open({ instanceLimits: { time: 6 } });
    const wrong = () => call("/clock", {}, { ...one, token: "svci_wrong" });
    let status = 401;
    for (let count = 0; status === 401 && count < 2000; count += 1) ({ status } = await wrong());
    expect(status).toBe(429);
    expect((await me("SVC_test_wrong")).status).toBe(429);
    expect((await fetch(`${one.base_url.replace(one.id, "no-instance")}/nope`)).status).toBe(429);
    expect((await me(one.keys.active as string)).status).toBe(200);
    expect((await call("/clock", {}, other)).status).toBe(200);
    // A balancer at this address still sees that the server is ready.
    expect((await ask("/ready")).status).toBe(200);
  });
});

test("R46 a link's code in place of an id is in no log, and no line is long", async () => {
  const lines: string[] = [];
  const sandbox = startInNode(bundledScenarios.active, { name: "active" });
  const server = await serveSandbox(sandbox, {
    port: 0,
    onAudit: (...about) => void lines.push(JSON.stringify(about)),
  });
  onTestFinished(() => server.close(0));
  const ask = clientOf(server.url);
  const one: Made = (await ask("/instances", { method: "POST", json: {} })).body.data;
  const code = "x4".repeat(16);
  for (const id of [code, "y".repeat(60_000), one.id])
    await ask(`/instances/${id}/claim`, { method: "POST", json: { code } });
  const claims = lines.filter((line) => line.includes("POST /instances/"));
  expect(claims).toHaveLength(3);
  expect(claims.map((line) => line.length < 700 && !line.includes(code))).toEqual([true, true, true]);
  expect(claims[2]).toContain(one.id);
});
