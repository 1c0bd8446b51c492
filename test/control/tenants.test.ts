import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { methodsByPath, realPath } from "./calls.js";
import { type Ask, clientOf, serveControl } from "./client.js";

const owner = { authorization: "Bearer the owner's own token" };
const controlToken = owner.authorization.slice("Bearer ".length);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function create(ask: Ask, json: object = {}, headers: object = owner) {
  const { status, body } = await ask("/instances", { method: "POST", json, headers: { ...headers } });
  expect(status).toBe(201);
  return body.data;
}

const codeIn = (claimUrl: string) => claimUrl.replace(/^.*#code=/, "");

const claim = (ask: Ask, id: string, code: string) =>
  ask(`/instances/${id}/claim`, { method: "POST", json: { code } });

const stateOf = async (ask: Ask, id: string, token: string) =>
  (await ask("/state", { base: `/i/${id}`, headers: bearer(token) })).status;

test("R46 a label is any printable text of up to 80 characters, without a key", async () => {
  const { ask } = await serveControl();
  const labeled = (label: string) => ask("/instances", { method: "POST", json: { label } });
  for (const label of ["Lloyd's Bank", "Smith & Sons", "R+V Versicherung", "農林中央金庫", "x".repeat(80)])
    expect((await labeled(label)).body.data.label).toBe(label);
  const keys = ["of SVC_live_somebody-elses", btoa(`SVC_live_${"9f8e7d6c5b4a".repeat(3)}`)];
  for (const wrong of ["x".repeat(81), "two\nlines", "\u202Eevil", ...keys]) {
    const { body, text } = await labeled(wrong);
    expect([Object.keys(body.error.details.fields), text.includes(wrong)]).toEqual([["label"], false]);
  }
});

describe("an instance's own token", () => {
  test("opens that instance and nothing else, and the owner's token opens everything", async () => {
    const { ask, server } = await serveControl({ controlToken });
    const { id, token, keys, base_url } = await create(ask);
    expect(token).toMatch(/^svci_[0-9A-Za-z]{32}$/);
    expect(await stateOf(ask, id, token)).toBe(200);
    expect(await stateOf(ask, id, controlToken)).toBe(200);
    const health = await ask("/health", { base: `/i/${id}`, headers: bearer(token) });
    expect(health.body.scenario).toBe("key-states");
    for (const wrong of [`${token}x`, token.slice(0, -1), "svci_", token.slice(5)])
      expect(await stateOf(ask, id, wrong)).toBe(401);
    expect((await ask("/state", { headers: bearer(token) })).status).toBe(401);
    expect((await ask(`/instances/${id}`, { method: "DELETE", headers: bearer(token) })).status).toBe(401);
    const { status } = await fetch(base_url + mePath, { headers: { "x-api-key": keys.active } });
    expect([status, server.sandbox.requests.list()]).toEqual([200, []]);
  });

  test("is not needed where the server needs none, and is rejected elsewhere", async () => {
    const { ask } = await serveControl();
    const [one, other] = [await create(ask, {}, {}), await create(ask, {}, {})];
    expect((await ask("/state", { base: `/i/${one.id}` })).status).toBe(200);
    expect(await stateOf(ask, one.id, one.token)).toBe(200);
    expect(await stateOf(ask, one.id, other.token)).toBe(401);
    expect((await ask("/state", { headers: bearer(one.token) })).status).toBe(401);
    // Any other token is ignored: a client may have one for another server.
    expect((await ask("/state", { headers: owner })).status).toBe(200);
  });

  test("is exchanged once for the code of a link, which ends the earlier token", async () => {
    const { ask, server } = await serveControl({ controlToken });
    const made = await create(ask, { label: "Harvest Bank" });
    const { id, token, claim_url } = made;
    const code = codeIn(claim_url);
    expect(claim_url).toBe(`${server.url}/i/${id}/__sandbox/#code=${code}`);
    for (const wrong of ["", "x", token, `${code}x`]) {
      const { status } = await claim(ask, id, wrong);
      expect(status).toBe(wrong === "" ? 422 : 404);
    }
    const { id: other } = await create(ask);
    expect((await claim(ask, other, code)).status).toBe(404);
    const { status, body } = await claim(ask, id, code);
    const { claim_url: _, token: __, ...kept } = made;
    const environment = expect.objectContaining({
      SVC_BASE_URL: made.base_url,
      SVC_API_KEY: made.keys.active,
    });
    expect([status, body.data]).toEqual([200, { ...kept, token: body.data.token, environment }]);
    expect(await stateOf(ask, id, body.data.token)).toBe(200);
    expect(await stateOf(ask, id, token)).toBe(401);
    expect((await claim(ask, id, code)).status).toBe(404);
    expect((await claim(ask, "none", code)).body.error.code).toBe("not_found");
    // Anybody can call it, so it reads little.
    const long = await claim(ask, "none", "x".repeat(1024));
    expect([long.status, long.body.error.message]).toEqual([
      413,
      expect.stringContaining("longer than 1 kB"),
    ]);
  });

  test("that is lost is replaced by a new link, which ends the link before", async () => {
    const { ask } = await serveControl({ controlToken });
    const { id, claim_url, token } = await create(ask);
    const link = (headers: object) =>
      ask(`/instances/${id}/link`, { method: "POST", headers: { ...headers } });
    expect((await link(bearer(token))).status).toBe(401);
    const { status, body } = await link(owner);
    expect([status, (await claim(ask, id, codeIn(claim_url))).status]).toEqual([201, 404]);
    expect(await stateOf(ask, id, token)).toBe(200);
    expect((await claim(ask, id, codeIn(body.data.claim_url))).status).toBe(200);
    const none = await ask("/instances/none/link", { method: "POST", headers: owner });
    expect(none.status).toBe(404);
  });

  test("survives a restart with --state, and no secret is in the file", async () => {
    const state = join(temporaryFolder(), "state.json");
    const open = async () => {
      const server = await served({ state, controlToken });
      return { ask: clientOf(server.url), close: () => server.close(0) };
    };
    const before = await open();
    const [kept, claimed] = [
      await create(before.ask, { label: "kept", expires: "90d", requests_per_minute: 60 }),
      await create(before.ask),
    ];
    const { token } = (await claim(before.ask, claimed.id, codeIn(claimed.claim_url))).body.data;
    const linked = await before.ask(`/instances/${kept.id}/link`, { method: "POST", headers: owner });
    const newLink: string = linked.body.data.claim_url;
    const saved = readFileSync(state, "utf8");
    for (const secret of [kept.token, newLink, claimed.token, claimed.claim_url, token])
      expect(saved).not.toContain(secret.slice(-32));
    await before.close();
    const { ask } = await open();
    expect(await stateOf(ask, kept.id, kept.token)).toBe(200);
    expect([await stateOf(ask, claimed.id, token), await stateOf(ask, claimed.id, claimed.token)]).toEqual([
      200, 401,
    ]);
    expect((await claim(ask, claimed.id, codeIn(claimed.claim_url))).status).toBe(404);
    const listed = (await ask("/instances?label=KEPT", { headers: owner })).body.data;
    const { claim_url: _, token: __, keys: ___, ...summary } = kept;
    expect(listed).toEqual([
      {
        ...summary,
        idle_seconds: expect.any(Number),
        traffic: { requests: 0, errors: 0, coverage: 0, last_path_id: null },
        account: {
          bytes_kept: expect.any(Number),
          bytes_waiting: 0,
          calls: 1,
          processor_ms: expect.any(Number),
        },
        base_url: expect.any(String),
        control_url: expect.any(String),
      },
    ]);
    expect((await claim(ask, kept.id, codeIn(kept.claim_url))).status).toBe(404);
    expect((await claim(ask, kept.id, codeIn(newLink))).status).toBe(200);
  });
});

test("an instance shows its own token's holder nothing of any other instance", async () => {
  const { ask } = await serveControl({ controlToken });
  const [own, other] = [await create(ask), await create(ask, { label: "Another Bank", seed: 7 })];
  const path = "/only-the-other-asks-for-this";
  await fetch(other.base_url + path, { headers: { "x-api-key": other.keys.active } });
  await ask("/keys", {
    ...{ method: "POST", base: `/i/${other.id}`, headers: bearer(other.token) },
    json: { organization: "harvest-bank", environment: "test", name: "Other", ref: "only-the-others-key" },
  });
  const readAll = (one: { id: string; token: string }) =>
    Promise.all(
      callsOf(`/i/${one.id}`, "none")
        .filter(({ method }) => method === "GET")
        .map(async (call) => (await ask(call.path, { ...call, headers: bearer(one.token) })).text),
    );
  const [seen, wanted] = [(await readAll(own)).join(), (await readAll(other)).join()];
  for (const text of [path, "only-the-others-key"])
    expect([wanted.includes(text), seen.includes(text)]).toEqual([true, false]);
  for (const text of [other.id, "Another Bank", other.token, own.token]) expect(seen).not.toContain(text);
});

test("a limit of an instance differs from the API's, applies to all its keys, and does not affect other instances", async () => {
  const { ask } = await serveControl({ instanceRate: 3 });
  const [one, other] = [await create(ask, { requests_per_minute: 2 }, {}), await create(ask, {}, {})];
  expect([one.requests_per_minute, other.requests_per_minute]).toEqual([2, 3]);
  const send = (base: string, key: string) => fetch(base + mePath, { headers: { "x-api-key": key } });
  expect((await send(one.base_url, one.keys.active)).status).toBe(200);
  expect((await send(one.base_url, "wrong")).status).toBe(401);
  expect((await send(one.base_url, one.keys.revoked)).status).toBe(401);
  const rejected = await send(one.base_url, one.keys.active);
  expect(rejected.status).toBe(429);
  expect(rejected.headers.get("x-sandbox-limit")).toBe("requests_per_minute=2");
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  const { error } = (await rejected.json()) as { error: { code: string } };
  expect(error.code).toBe("instance_rate_limited");
  expect((await send(other.base_url, other.keys.active)).status).toBe(200);
  // What was rejected is no request of the sandbox, and its dashboard still opens.
  const journal = await ask("/requests", { base: `/i/${one.id}` });
  expect(journal.body.data).toHaveLength(3);
  expect((await ask("/metrics")).text).toMatch(/^svc_sandbox_instance_rejections_total 1$/m);
});

const instanceCount = 5;
/** What needs no token: it shows less then, or has its own secret. */
const open = /^\/(?:health|ready|instances\/\w+\/claim)?$/;

/** Every call of the control plane, in the sandbox of a base. */
function callsOf(base: string, id: string) {
  return Object.entries(methodsByPath).flatMap(([path, methods]) =>
    methods.map((method) => ({ method, path: realPath(path, id), base })),
  );
}

async function expectIsolated(ask: Ask, made: readonly { id: string; token: string }[], headers: object) {
  const states = () =>
    Promise.all(
      made.map(
        async (one) => (await ask("/state", { base: `/i/${one.id}`, headers: bearer(one.token) })).text,
      ),
    );
  const before = await states();
  for (const [index, { id }] of made.entries()) {
    const { token, id: others } = made[(index + 1) % made.length] as (typeof made)[number];
    const calls = [...callsOf(`/i/${id}`, others), ...(index === 0 ? callsOf("", id) : [])];
    expect(calls.length).toBeGreaterThan(50);
    // One after the other: a replica that looks up seventy tokens at once on a busy machine may need more than its second.
    for (const { method, path, base } of calls) {
      const { status, text } = await ask(path, { method, base, headers: bearer(token) });
      if (open.test(path)) expect(text).not.toContain('"scenario"');
      else expect([method, base + path, status]).toEqual([method, base + path, 401]);
    }
  }
  expect(await states()).toEqual(before);
  expect((await ask("/instances", { headers: { ...headers } })).body.data).toHaveLength(made.length);
}

describe("no call of the control plane opens an instance to another instance's token", () => {
  const makeAll = async (ask: Ask, headers: object) => {
    const made: { id: string; token: string }[] = [];
    while (made.length < instanceCount) made.push(await create(ask, {}, headers));
    return made;
  };

  test.each([
    ["with the server's token", { controlToken }, owner],
    ["on a server without a token", {}, {}],
  ])("%s", async (_where, options, headers) => {
    const { ask } = await serveControl(options);
    await expectIsolated(ask, await makeAll(ask, headers), headers);
  });

  test.skipIf(noRedis)("through another replica of the same store, which has only hashes", async () => {
    const redis = await startRedis();
    onTestFinished(redis.close);
    const openOne = async () => {
      // No part of this is about a deadline, and a busy machine may be silent for longer than two seconds.
      const server = await startReplica(redis.url, "key-states", { controlToken, timeout: 60_000 });
      onTestFinished(() => server.close(0));
      return clientOf(server.url);
    };
    const [one, other] = [await openOne(), await openOne()];
    const made = await makeAll(one, owner);
    await expectIsolated(other, made, owner);
    const { id, claim_url, token } = await create(one);
    const code = codeIn(claim_url);
    const claimed = (await claim(other, id, code)).body.data;
    expect([await stateOf(one, id, claimed.token), await stateOf(one, id, token)]).toEqual([200, 401]);
    expect((await claim(one, id, code)).status).toBe(404);
    // A late replica has them from a snapshot.
    const late = await openOne();
    expect([await stateOf(late, id, claimed.token), await stateOf(late, id, token)]).toEqual([200, 401]);
    const { id: first, token: firstToken } = made[0] as (typeof made)[number];
    expect([await stateOf(late, first, firstToken), await stateOf(late, id, firstToken)]).toEqual([200, 401]);
    const stored = redis.files();
    expect(stored).toContain(id);
    for (const secret of [token, code, claimed.token, ...made.map((each) => each.token)])
      expect(stored).not.toContain(secret.slice(-32));
  });
});
