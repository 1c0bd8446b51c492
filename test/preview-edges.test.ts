import { HttpResponse, http } from "msw";
import { expect, onTestFinished, test } from "vitest";
import { permissions } from "../src/domain/attestation.js";
import { createSandbox, guard, type Scenario } from "../src/index.js";
import { startServer } from "../src/node/index.js";
import { advanceClock } from "../src/sandbox/operations/change-world.js";
import { describeDoors, headerOf } from "./support/doors.js";
import { attestationsPath, consentsPath, previewClient, purpose } from "./support/preview-client.js";
import { previewScenario } from "./support/preview-scenario.js";
import { converse } from "./support/raw-socket.js";

const hour = 3_600_000;

describeDoors("the preview in other worlds", (open) => {
  test("in the profile varied answers stay as described, members and all", async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const { ask, attestations, get, cancel, send, door } = previewClient(
        await open(previewScenario, { profile: "varied", seed }),
      );
      const made = await ask("bank", 0, { permissions }, { "idempotency-key": "k" });
      const again = await ask("bank", 0, { permissions }, { "idempotency-key": "k" });
      expect([made.status, again.status, headerOf(again, "idempotent-replayed")]).toEqual([201, 201, "true"]);
      expect(again.json).toEqual(made.json);
      advanceClock(door.world, 3 * hour);
      expect((await attestations("bank")).json.page.total).toBe(6);
      const { id } = made.json.data;
      expect((await get("bank", id)).json.data.status).toBe("granted");
      const refused = [
        await get("bank-live", id),
        await ask("bank", 0, { permissions: [] }),
        await ask("bank", 1, {}, { "idempotency-key": "k" }),
        await send("bank", { method: "POST", path: consentsPath }),
        await send("bank", { method: "DELETE", path: attestationsPath }),
        await send("bank-none", { path: attestationsPath }),
      ];
      await cancel("bank", id);
      refused.push(await cancel("bank", id));
      expect(refused.map(({ status, json }) => [status, json.error.code])).toEqual([
        [404, "not_found"],
        [422, "validation_failed"],
        [422, "idempotency_key_reused"],
        [400, "bad_request"],
        [405, "method_not_allowed"],
        [403, "insufficient_scope"],
        [409, "conflict"],
      ]);
      await door.close();
    }
  });

  test("a request whose answer is cut off is made all the same, once, and not counted", async () => {
    const scenario: Scenario = {
      ...previewScenario,
      faults: [{ when: { requests: [1] }, then: { truncate: true } }],
    };
    const { ask, door } = previewClient(await open(scenario));
    const headers = { "idempotency-key": "k" };
    const lost = await ask("bank", 0, {}, headers).catch(() => "cut off");
    const again = await ask("bank", 0, {}, headers);
    expect([again.status, headerOf(again, "idempotent-replayed")]).toEqual([201, "true"]);
    expect(door.world.consents.all.map(({ id }) => id)).toEqual([again.json.data.id]);
    expect(door.world.registry.key("bank").usage.dayCount).toBe(1);
    expect(JSON.stringify(lost)).not.toContain(again.json.data.purpose.text);
    await door.close();
  });

  test("a request that a fault spoils makes nothing, and one that a fault only delays does", async () => {
    const scenario: Scenario = {
      ...previewScenario,
      faults: [
        { when: { requests: [1] }, then: { status: 503 } },
        { when: { path_id: "422.validation" }, then: { status: 500 } },
        { when: { path_id: "404.unknown_record" }, then: { latency: "1ms" } },
        { when: { path_id: "200.test" }, then: { latency: "1ms" } },
      ],
    };
    const { ask, get, door } = previewClient(await open(scenario));
    const spoilt = await ask("bank", 0);
    expect([spoilt.status, door.world.consents.all.length]).toEqual([503, 0]);
    expect((await ask("bank", 0, { permissions: [] })).status).toBe(500);
    expect((await get("bank", "nothing")).status).toBe(404);
    const made = await ask("bank", 0);
    expect([made.status, door.world.consents.all.length]).toEqual([201, 1]);
    expect(door.world.journal.list().map(({ fault }) => fault)).toEqual([
      "fault.status",
      "fault.status",
      "fault.latency",
      "fault.latency",
    ]);
    await door.close();
  });

  test("what an endpoint takes earns no advice, and what it does not take does", async () => {
    const { ask, attestations, send, get, door } = previewClient(await open(previewScenario));
    const { id } = (await ask("bank", 0)).json.data;
    await attestations("bank", "?limit=5");
    await get("bank", id);
    await get("bank", `${consentsPath}/${id}?verbose=1`);
    await send("bank", { method: "POST", path: `${consentsPath}/${id}/cancel`, body: "{}" });
    expect(door.world.journal.list().map(({ advice }) => advice)).toEqual([
      [],
      [],
      [],
      ["query-or-body-sent"],
      ["query-or-body-sent"],
    ]);
    await door.close();
  });
});

async function serve(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer({ scenario: previewScenario, ...options });
  onTestFinished(() => server.close(0));
  const plain = server.sandbox as { secret(ref: string): string };
  return { server, port: Number(new URL(server.url).port), key: plain.secret("bank") };
}

test("a body may come in pieces, without its length, and be cut off; a long one is refused on an open connection", async () => {
  const { server, port, key } = await serve();
  const farmer_id = server.sandbox.farmers.at(0).farmer_id;
  const body = JSON.stringify({ farmer_id, purpose, permissions: ["land"] });
  const head = `POST ${consentsPath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\n`;
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const pieces = [...body].map(chunk);
  const chunked = await converse(port, {
    chunks: [`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`, ...pieces, "0\r\n\r\n"],
    after: "listen",
  });
  expect(chunked.toString()).toMatch(/^HTTP\/1\.1 201 /);
  // Cut off: nobody is left to answer, and nothing is made.
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
  expect(server.sandbox.consents.list()).toHaveLength(1);
  expect(server.sandbox.requests.total()).toBe(4);
});

test("with the preview its paths are the sandbox's, and handlers of one's own have all others", async () => {
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

test("instances have a preview of their own, or none", async () => {
  const { server } = await serve();
  const create = async (scenario: unknown) => {
    const response = await fetch(`${server.controlUrl}/instances`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ scenario }),
    });
    return (await response.json()).data;
  };
  const [on, off] = [await create("announced-endpoints"), await create("key-states")];
  const status = async (url: string, key: string) =>
    (await fetch(url + attestationsPath, { headers: { "x-api-key": key } })).status;
  expect(await status(on.base_url, on.keys.lending)).toBe(200);
  expect(await status(off.base_url, off.keys.active)).toBe(404);
});

test("two sandboxes of one scenario and seed give the same ids and answers, and another seed gives others", async () => {
  const run = async (seed: number) => {
    const sandbox = createSandbox({ scenario: previewScenario, seed });
    const plain = sandbox as { secret(ref: string): string } & typeof sandbox;
    const headers = { "x-api-key": plain.secret("bank"), "content-type": "application/json" };
    const shown = [];
    for (const farmer of [0, 5, 6, 7]) {
      const body = JSON.stringify({ farmer_id: sandbox.farmers.at(farmer).farmer_id, purpose, permissions });
      const url = `https://any.example${consentsPath}`;
      shown.push(await (await sandbox.fetch(url, { method: "POST", headers, body })).json());
    }
    sandbox.clock.advance("1d");
    shown.push(await (await sandbox.fetch(`https://any.example${attestationsPath}`, { headers })).json());
    return JSON.stringify(shown);
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(1)).not.toBe(await run(2));
});
