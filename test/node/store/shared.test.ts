import { afterEach, beforeEach, expect, test } from "vitest";
import { logEvents } from "../../../src/cli/serve/log.js";
import { SandboxError } from "../../../src/domain/errors.js";
import { findKeys } from "../../../src/domain/redact.js";
import { randomStream } from "../../../src/domain/seed.js";
import type { Scenario } from "../../../src/index.js";
import type { LogEntry, ServerLog } from "../../../src/log/replica/shared-log.js";
import { subscribe } from "../../control/subscribe.js";
import { control } from "../../support/call-control.js";
import { exchange } from "../../support/exchange.js";
import { createMemoryStore, type MemoryStore } from "../../support/memory-log.js";
import { converse } from "../../support/raw-socket.js";
import { type ReplicaServer, type ReplicaTestOptions, startReplica } from "../../support/replicas.js";
import { mePath } from "../../support/send.js";
import { sendOnSocket } from "../../support/send-on-socket.js";

let store: MemoryStore;
let time = 0;
let servers: ReplicaServer[] = [];

beforeEach(() => {
  const stream = randomStream(1, "interleaving");
  time = Date.parse("2026-03-02T09:00:00Z");
  store = createMemoryStore({ time: () => time, random: () => stream() / 2 ** 32 });
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.close(0)));
  servers = [];
});

async function open(
  options: ReplicaTestOptions = {},
  scenario: Scenario | "key-states" = "key-states",
  log: ServerLog = store.open(),
) {
  const server = await startReplica(log, scenario, { frozen: false, ...options });
  servers.push(server);
  return server;
}

const three = (options?: ReplicaTestOptions, scenario?: Scenario) =>
  Promise.all([1, 2, 3].map(() => open(options, scenario)));

const ask = ({ port }: ReplicaServer, key: string, path = mePath) =>
  sendOnSocket(port)({ headers: { "x-api-key": key }, path });

const call = ({ controlUrl }: ReplicaServer, route: string, body?: object) =>
  control(controlUrl, route, body);

test("a replica that drains responds, ends each connection and is not ready, so that no request is lost", async () => {
  const [one] = (await three()) as [ReplicaServer];
  let end = () => {};
  const drained = new Promise<void>((resolve) => {
    end = resolve;
  });
  const closing = one.close(0, drained);
  const response = await exchange(one.url, { path: mePath });
  expect([response.status, response.headers.connection]).toEqual([401, "close"]);
  const ready = await exchange(one.controlUrl as string, { path: "/__sandbox/ready" });
  expect([ready.status, JSON.parse(String(ready.bytes)).error.message]).toEqual([
    503,
    "The sandbox is stopping.",
  ]);
  end();
  await closing;
  await expect(exchange(one.url, { path: mePath })).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("a replica without memory left unloads instances, starts no more, and loses nothing", async () => {
  const roomy = await open();
  const { id, keys } = (await call(roomy, "POST /instances", {})).body.data;
  const tight = await open({ maxMemory: 1e6 });
  const askAt = (replica: ReplicaServer) => ask(replica, keys.active, `/i/${id}${mePath}`);
  expect((await askAt(tight)).status).toBe(200);
  const { status, body } = await call(tight, "POST /instances", {});
  expect([status, body.error.code]).toEqual([507, "memory_limit_reached"]);
  expect(tight.log.instances.loaded()).toEqual([]);
  expect((await call(roomy, "POST /instances", {})).status).toBe(201);
  expect((await askAt(tight)).status).toBe(200);
  const { data } = (await control(`${roomy.url}/i/${id}/__sandbox`, "GET /requests")).body;
  expect(data).toHaveLength(2);
});

test("a log of few and long entries is compacted", async () => {
  const one = await open();
  const body = `version: 1\norganizations: { a-bank: { type: bank } }\n# ${"long ".repeat(190_000)}`;
  const headers = { "content-type": "application/yaml" };
  for (let n = 0; n < 9; n += 1) {
    expect((await fetch(`${one.controlUrl}/scenario`, { method: "PUT", headers, body })).status).toBe(200);
  }
  await expect.poll(() => one.log.status()?.entries).toBeLessThan(5);
  expect(one.log.status()?.characters).toBeLessThan(8_000_000);
});

test("an entry stays short, however many keys a client repeats in a request", async () => {
  const one = await open();
  const keys = Array.from({ length: 3000 }, (_, n) => `SVC_test_${n}`).join(",");
  for (const request of [
    { path: `/v1/${keys}` },
    { path: `${mePath}?${keys}` },
    { headers: { "x-api-key": keys } },
    { headers: { other: keys } },
  ]) {
    await sendOnSocket(one.port)({ path: mePath, ...request });
  }
  expect(store.entries.filter(({ text }) => text.length > 30_000)).toEqual([]);
  expect(store.entries.filter(({ text }) => text.includes("request"))).toHaveLength(4);
});

test("a key made by one replica works at every other, and nothing in the store is a key", async () => {
  const [one, other, third] = (await three()) as [ReplicaServer, ReplicaServer, ReplicaServer];
  const creation = { organization: "relying-party", environment: "live", name: "Shared", ref: "shared" };
  const organization = Object.keys((await call(one, "GET /state")).body.data.organizations).length;
  expect(organization).toBeGreaterThan(0);
  const [{ ref }] = (await call(one, "GET /organizations")).body.data;
  const made = await call(one, "POST /keys", { ...creation, organization: ref, environment: "test" });
  expect(made.status).toBe(201);
  const { secret } = made.body.data;
  expect(findKeys(secret)).toEqual([secret]);
  expect((await ask(other, secret)).status).toBe(200);
  const rotated = await call(third, "POST /keys/shared/rotate", { as: "next" });
  expect((await ask(one, rotated.body.data.secret)).status).toBe(200);
  expect((await call(other, "POST /keys/next/revoke", {})).status).toBe(200);
  expect((await ask(third, rotated.body.data.secret)).status).toBe(401);
  await ask(one, `Bearer ${secret}`);
  await ask(one, secret, `${mePath}?key=${secret}`);
  await ask(one, secret, `/v1/${secret}`);
  await call(one, "POST /send", { key: "shared", headers: { authorization: `Bearer ${secret}` } });
  await call(one, `POST /keys/${secret}/revoke`, {});
  const stored = store.entries.map(({ text }) => text).join("\n");
  for (const key of [secret, rotated.body.data.secret, one.copy.secret("active")]) {
    expect(stored).not.toContain(key);
    expect(stored).not.toContain(key.slice(-20));
  }
});

test("of 300 parallel requests at three replicas exactly as many are let in as the minute has", async () => {
  const replicas = await three();
  const { copy } = replicas[0] as ReplicaServer;
  const limit = copy.keys.get("active").limits.perMinute;
  const statuses = await Promise.all(
    Array.from({ length: limit + 100 }, (_, n) =>
      ask(replicas[n % 3] as ReplicaServer, copy.secret("active")).then(({ status }) => status),
    ),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(limit);
  expect(statuses.filter((status) => status === 429)).toHaveLength(100);
});

test("five active keys are never six, with 30 administrators at once", async () => {
  const replicas = await three();
  const { ref } = (await call(replicas[0] as ReplicaServer, "GET /organizations")).body.data[0];
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      call(replicas[n % 3] as ReplicaServer, "POST /keys", {
        organization: ref,
        environment: "test",
        name: `n${n}`,
      }),
    ),
  );
  const active = (replicas[1] as ReplicaServer).copy.keys
    .list()
    .filter(
      ({ state, organization, environment }) =>
        state === "active" && organization === ref && environment === "test",
    );
  expect(active).toHaveLength(5);
  expect(
    answers
      .filter(({ status }) => status === 409)
      .every(({ body }) => body.error.code === "key_limit_reached"),
  ).toBe(true);
});

test("every entry has the same outcome in every copy, with compactions in the middle, while the clock runs", async () => {
  const outcomes: Map<string, string>[] = [];
  const recorded = (log: ServerLog): ServerLog => {
    const seen = new Map<string, string>();
    outcomes.push(seen);
    return {
      ...log,
      follow: ({ start, apply }) =>
        log.follow({
          start,
          apply(entry: LogEntry) {
            const outcome = apply(entry) as Record<string, unknown>;
            const { by } = JSON.parse(entry.text);
            if (entry.text.includes('"kind":"request"'))
              seen.set(entry.position, JSON.stringify({ ...(outcome.value as object), world: by }));
            return outcome;
          },
        }),
    };
  };
  const replicas = await Promise.all(
    [1, 2, 3].map(() => open({ compactEvery: 50 }, "key-states", recorded(store.open()))),
  );
  const refs = ["active", "legacy", "revoked", "rate-limited", "retiring", "wrong-scope"] as const;
  const { copy } = replicas[0] as ReplicaServer;
  const secrets = refs.map((ref) => copy.secret(ref));
  const stream = randomStream(7, "traffic");
  await Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      const replica = replicas[stream() % 3] as ReplicaServer;
      time += stream() % 300;
      if (n % 20 === 0) return call(replica, "POST /clock/advance", { by: "7s" });
      if (n % 33 === 0)
        return call(replica, "PUT /assumptions", {
          minute_window: n % 2 === 0 ? "sliding" : "fixed",
          rate_limit_headers: "x",
        });
      return ask(replica, secrets[stream() % secrets.length] as string);
    }),
  );
  const late = await open({ compactEvery: 50 });
  const looks = async (replica: ReplicaServer) =>
    JSON.stringify(
      await Promise.all(
        ["state", "requests", "report"].map(async (what) => (await call(replica, `GET /${what}`)).body),
      ),
    );
  const expected = await looks(late);
  for (const replica of replicas) expect(await looks(replica)).toBe(expected);
  const [first, ...others] = outcomes as [Map<string, string>, ...Map<string, string>[]];
  expect(first.size).toBeGreaterThan(300);
  // One that was far behind has jumped over some.
  const inAll = (position: string) => outcomes.every((each) => each.has(position));
  for (const other of others) {
    for (const [position, outcome] of other) if (inAll(position)) expect(outcome).toBe(first.get(position));
  }
  expect(late.log.status()?.entries).toBeLessThan(100);
});

test("while the store is away nothing is answered, and it comes back by itself", async () => {
  const [one, other] = (await three()) as [ReplicaServer, ReplicaServer];
  const active = one.copy.secret("active");
  expect((await ask(one, active)).status).toBe(200);
  store.cut();
  const refused = await ask(one, active);
  expect(refused.status).toBe(503);
  expect(JSON.parse(refused.body)).toEqual({
    error: { code: "service_unavailable", message: "The service is not available at the moment." },
  });
  const write = await call(other, "POST /keys/active/revoke", {});
  expect(write).toMatchObject({ status: 503, body: { error: { code: "store_unavailable" } } });
  expect((await call(one, "GET /state")).status).toBe(503);
  expect((await call(one, "GET /ready")).status).toBe(503);
  expect((await call(one, "GET /health")).body).toMatchObject({ status: "ok", store: "unreachable" });
  store.mend();
  await expect.poll(async () => (await ask(one, active)).status).toBe(200);
  expect((await call(other, "GET /health")).body.store).toBe("reachable");
  expect((await call(one, "GET /ready")).status).toBe(200);
});

test("a store that lost its data is begun anew, and so are all replicas", async () => {
  const [one, other, third] = (await three()) as [ReplicaServer, ReplicaServer, ReplicaServer];
  await call(one, "POST /keys/active/revoke", {});
  await call(one, "POST /instances", { label: "gone" });
  time += 60_000;
  store.lose();
  await expect.poll(async () => (await ask(other, one.copy.secret("active"))).status).toBe(200);
  expect((await call(third, "GET /instances")).body.data).toEqual([]);
  expect((await call(third, "GET /requests")).body.data).toHaveLength(1);
  for (const { copy } of [one, other, third]) expect(copy.keys.get("active").state).toBe("active");
});

test("a timeline goes on, and idle instances go, in every copy though nobody asks", async () => {
  const started = Date.now();
  store = createMemoryStore({ time: () => time + Date.now() - started, random: () => 0.5 });
  const organizations = { bank: { type: "bank" as const, keys: { only: { environment: "test" as const } } } };
  const timeline = [{ at: "300ms", revoke: { key: "only" } }];
  const scenario: Scenario = { version: 1, organizations, timeline };
  const replicas = await three({ instanceTtl: 300 }, scenario);
  await call(replicas[0] as ReplicaServer, "POST /instances", {});
  await expect
    .poll(() => replicas.map(({ copy }) => copy.keys.get("only").state))
    .toEqual(["revoked", "revoked", "revoked"]);
  await expect.poll(() => replicas.map(({ log }) => log.instances.list().length)).toEqual([0, 0, 0]);
  // Once for all of them, or once for each.
  const sweeps = store.entries.filter(({ text }) => text.includes('"kind":"sweep"'));
  expect(sweeps.length).toBeGreaterThan(0);
});

test("an instance made by one replica is served by every other at once, and is gone everywhere", async () => {
  const [one, other, third] = (await three()) as [ReplicaServer, ReplicaServer, ReplicaServer];
  for (let n = 0; n < 10; n++) {
    const { id, keys, base_url: url } = (await call(one, "POST /instances", {})).body.data;
    expect(url).toBe(`${one.url}/i/${id}`);
    expect((await ask(other, keys.active, `/i/${id}${mePath}`)).status).toBe(200);
    expect((await control(`${third.url}/i/${id}/__sandbox`, "GET /requests")).body.data).toHaveLength(1);
    expect((await call(third, `DELETE /instances/${id}`)).status).toBe(204);
    expect((await ask(one, keys.active, `/i/${id}${mePath}`)).status).toBe(404);
    expect((await ask(other, keys.active, `/i/${id}${mePath}`)).status).toBe(404);
  }
});

test("requests that are pipelined on one connection are answered in their order", async () => {
  const [one, other] = (await three()) as [ReplicaServer, ReplicaServer];
  const paths = Array.from({ length: 20 }, (_, n) =>
    n % 3 === 0 ? "/nothing" : n % 3 === 1 ? mePath : "/__sandbox/health",
  );
  const busy = Promise.all(Array.from({ length: 20 }, () => call(other, "GET /clock")));
  const heads = paths.map((path, index) => {
    const connection = index === paths.length - 1 ? "close" : "keep-alive";
    return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
  });
  const answered = await converse(one.port, { chunks: [heads.join("")], after: "stay" });
  const statuses = [...answered.toString().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  expect(statuses).toEqual(paths.map((_, n) => [404, 401, 200][n % 3]));
  await busy;
});

test("a fault set through one replica hits the requests to another, and an unread answer counts everywhere", async () => {
  const [one, other, third] = (await three()) as [ReplicaServer, ReplicaServer, ReplicaServer];
  const active = one.copy.secret("active");
  await call(one, "PUT /faults", { faults: [{ then: { reset: true } }] });
  await expect(ask(other, active)).rejects.toThrow();
  await call(third, "PUT /faults", { faults: [{ then: { truncate: true } }] });
  await expect(ask(other, active)).rejects.toThrow();
  await call(third, "PUT /faults", { faults: [{ then: { latency: "30s" } }] });
  const impatient = new AbortController();
  const asked = fetch(other.url + mePath, { headers: { "x-api-key": active }, signal: impatient.signal });
  await expect.poll(async () => (await call(one, "GET /requests")).body.data.length).toBe(3);
  impatient.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(async () => (await call(one, "GET /report")).body.data.unread).toBe(1);
  expect((await call(one, "GET /requests")).body.data.map(({ unread = false }) => unread)).toContain(true);
  expect(await call(third, "GET /report")).toEqual(await call(other, "GET /report"));
});

test("events of every replica are told by each, and one that goes on at another replica is told of the gap", async () => {
  const [one, other] = (await three()) as [ReplicaServer, ReplicaServer];
  const listener = await subscribe(other.url);
  await call(one, "POST /keys/active/revoke", {});
  await ask(one, one.copy.secret("active"));
  await listener.until((events) => events.length >= 2);
  expect(listener.events.map(({ event }) => event)).toEqual(["key.revoked", "request"]);
  const again = await subscribe(one.url, { from: listener.events[0]?.id as number });
  await again.until((events) => events.length >= 1);
  expect(again.events.map(({ event }) => event)).toEqual(["events.lost"]);
});

test("of the requests to all replicas, each logs its own", async () => {
  const replicas = await three();
  const logged = replicas.map(({ log }) => {
    const lines: string[] = [];
    logEvents(
      log,
      {},
      {
        event: (event) => lines.push(event.type === "request" ? event.exchange.path : event.type),
        note() {},
        problem() {},
      },
    );
    return lines;
  });
  const [one, other] = replicas as [ReplicaServer, ReplicaServer];
  await ask(one, "x", "/one");
  await Promise.all([ask(other, "x", "/two"), ask(other, "x", "/two"), ask(one, "x", "/one")]);
  await call(one, "GET /clock");
  expect(logged).toEqual([["/one", "/one"], ["/two", "/two"], []]);
});

test("a replica that stops ends the streams of its instances at once, which live on elsewhere", async () => {
  const [one, other] = (await three()) as [ReplicaServer, ReplicaServer];
  const { id, keys } = (await call(one, "POST /instances", {})).body.data;
  const listener = await subscribe(one.url, { base: `/i/${id}` });
  await one.close(60_000);
  expect(await listener.ended).toBe("ended");
  expect((await ask(other, keys.active, `/i/${id}${mePath}`)).status).toBe(200);
});

test("an instance has its own log: its requests reach only the replicas that use it", async () => {
  const [one, other, third] = (await three()) as [ReplicaServer, ReplicaServer, ReplicaServer];
  const { id, keys } = (await call(one, "POST /instances", {})).body.data;
  expect(store.ids()).toEqual([]);
  const path = `/i/${id}${mePath}`;
  await Promise.all(Array.from({ length: 30 }, (_, n) => ask(n % 2 ? one : other, keys.active, path)));
  expect(store.entriesOf(id)?.filter(({ text }) => text.includes('"request"'))).toHaveLength(30);
  expect(store.entries.filter(({ text }) => text.includes('"kind":"request"'))).toEqual([]);
  expect([one, other, third].map(({ log }) => log.instances.loaded().length)).toEqual([1, 1, 0]);
  expect((await call(third, "GET /instances")).body.data).toHaveLength(1);
  expect(third.log.instances.loaded()).toEqual([]);
});

test("requests to an instance count in the server's report once, and also after its removal", async () => {
  const [one, other] = (await three()) as [ReplicaServer, ReplicaServer];
  const { id, keys } = (await call(one, "POST /instances", {})).body.data;
  const path = `/i/${id}${mePath}`;
  for (const replica of [one, other, other]) await ask(replica, keys.active, path);
  await call(one, `DELETE /instances/${id}`);
  const requests = async () => (await call(one, "GET /report")).body.data.requests;
  await expect.poll(requests).toBe(3);
  for (const replica of [one, other]) await call(replica, "GET /clock");
  expect(await requests()).toBe(3);
});

test("a removed instance leaves nothing in the store, also when the replica that removed it could not erase it", async () => {
  const log = store.open();
  const one = await open({ onProblem() {} }, "key-states", {
    ...log,
    erase: () => Promise.reject(new SandboxError("store_unavailable", "It is away.")),
  });
  const other = await open();
  const { id, keys } = (await call(other, "POST /instances", {})).body.data;
  expect((await ask(one, keys.active, `/i/${id}${mePath}`)).status).toBe(200);
  expect(store.ids()).toEqual([id]);
  expect((await call(one, `DELETE /instances/${id}`)).status).toBe(503);
  time += 5000;
  // Time goes on with the next entry.
  await call(other, "GET /clock");
  await expect.poll(() => store.ids()).toEqual([]);
  expect((await ask(other, keys.active, `/i/${id}${mePath}`)).status).toBe(404);
  const next = (await call(other, "POST /instances", {})).body.data;
  await ask(other, next.keys.active, `/i/${next.id}${mePath}`);
  expect((await call(other, `DELETE /instances/${next.id}`)).status).toBe(204);
  expect(store.ids()).toEqual([]);
});

test("an instance whose log the store has lost is removed, and the others stay", async () => {
  const [one, other] = (await three()) as [ReplicaServer, ReplicaServer];
  const made: { id: string; keys: Record<string, string> }[] = [];
  for (let n = 0; n < 2; n += 1) made.push((await call(one, "POST /instances", {})).body.data);
  const statuses = () =>
    Promise.all(
      made.map(({ id, keys }) =>
        ask(other, keys.active as string, `/i/${id}${mePath}`).then(({ status }) => status),
      ),
    );
  expect(await statuses()).toEqual([200, 200]);
  // Known to be begun from here on.
  await call(other, "GET /clock");
  const [lost, kept] = made.map(({ id }) => id) as [string, string];
  await store.open().erase(lost);
  expect(await statuses()).toEqual([404, 200]);
  const { data } = (await call(one, "GET /instances")).body;
  expect(data.map(({ id }: { id: string }) => id)).toEqual([kept]);
});
