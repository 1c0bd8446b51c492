import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { nodePlatform } from "../../src/node/platform.js";
import { control } from "../support/call-control.js";
import { inParallel } from "../support/in-parallel.js";
import { readMetrics } from "../support/prometheus.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.js";
import { type ReplicaServer, type ReplicaTestOptions, startReplica } from "../support/replicas.js";
import { startBin } from "../support/running-command.js";
import { mePath } from "../support/send.js";
import { sendOnSocket } from "../support/send-on-socket.js";
import { startProxy, type TcpProxy } from "../support/tcp-proxy.js";

const banks = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      keys: { one: { environment: "test", limits: { per_minute: 1_000_000, per_day: 1_000_000 } } },
    },
  },
} as const;

describe.skipIf(noRedis)("sandboxes in a Redis", () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let servers: ReplicaServer[] = [];

  beforeAll(async () => {
    redis = await startRedis(["--appendonly", "no"]);
  });
  afterAll(() => redis.close());
  beforeEach(async () => {
    await setMemory(0);
    await redis.command("FLUSHALL");
    proxy = await startProxy(redis.port);
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close(0)));
    servers = [];
    proxy.close();
  });

  const open = async (options: ReplicaTestOptions = {}, url = redis.url) => {
    const server = await startReplica(url, banks, options);
    servers.push(server);
    return server;
  };
  const behindProxy = (timeout = 2000) => open({ timeout }, `redis://127.0.0.1:${proxy.port}`);
  const call = ({ controlUrl }: ReplicaServer, route: string, body?: object) =>
    control(controlUrl, route, body);
  /** The key of each instance, by its path. */
  const keys = new Map<string, string>();
  const statusAt = async ({ port, copy }: ReplicaServer, base = "", path = mePath) => {
    const key = base === "" ? copy.secret("one") : (keys.get(base) as string);
    return (await sendOnSocket(port)({ path: base + path, headers: { "x-api-key": key } })).status;
  };
  const create = async (server: ReplicaServer, body: object = {}) => {
    const created = await call(server, "POST /instances", body);
    expect(created.status).toBe(201);
    const { id, keys: secrets } = created.body.data;
    keys.set(`/i/${id}`, secrets.one);
    return `/i/${id}`;
  };
  const setMemory = (bytes: number) => redis.command("CONFIG", "SET", "maxmemory", String(bytes));
  const usedMemory = async () =>
    Number(/used_memory:(\d+)/.exec(String(await redis.command("INFO", "memory")))?.[1]);
  const journalOf = async (server: ReplicaServer, base: string) => {
    const { body } = await control(`${server.url}${base}/__sandbox`, "GET /requests?limit=1000");
    return (body.data as readonly { id: string }[]).map(({ id }) => id);
  };

  test.each(["XADD", "HGET", "or 'nothing'"])(
    "a claim that got 503 while Redis was silent, from %j on, is never carried out",
    async (text) => {
      const server = await behindProxy(500);
      const { id, claim_url } = (await call(server, "POST /instances", {})).body.data;
      const claim = async (code: string) =>
        (await call(server, `POST /instances/${id}/claim`, { code })).status;
      const code = claim_url.replace(/^.*#code=/, "");
      proxy.stallAt(text);
      // The wrong ones get a response as soon as their instance is read.
      const codes = text === "XADD" ? [code, "wrong", "wrong"] : [code];
      expect(new Set(await Promise.all(codes.map(claim)))).toEqual(new Set([503]));
      proxy.mend();
      await expect.poll(() => statusAt(server)).toBe(200);
      expect([await claim("wrong"), await claim(code), await claim(code)]).toEqual([404, 200, 404]);
    },
  );

  /** A stopwatch that only the test moves, for everything that opens after this call. */
  const stoppedWatch = () => {
    let now = 1e6;
    const spy = vi.spyOn(nodePlatform, "stopwatch").mockImplementation(() => now);
    onTestFinished(() => spy.mockRestore());
    return {
      advance(ms: number) {
        now += ms;
      },
    };
  };

  /** Resolves once a server handles everything that was sent to it before: these calls do not need Redis. */
  const arrived = async (server: ReplicaServer) => {
    for (let n = 0; n < 4; n += 1) await call(server, "GET /health");
  };

  test("a silent Redis gives 503 once the timeout has passed, an unloaded instance and a token within a second, and never earlier", async () => {
    const watch = stoppedWatch();
    const timeout = 3_600_000;
    const [server, other] = [await behindProxy(timeout), await open()];
    const base = await create(other);
    expect((await call(server, "GET /keys")).status).toBe(200);
    proxy.stall();
    const ended: string[] = [];
    const follow = (name: string, statuses: Promise<{ status: number } | number>) =>
      statuses.then((found) => ended.push(`${name} ${typeof found === "number" ? found : found.status}`));
    follow("request", statusAt(server));
    follow("read", call(server, "GET /keys"));
    follow("change", call(server, "POST /keys/one/revoke", {}));
    follow("creation", call(server, "POST /instances", {}));
    follow("instance", statusAt(server, base));
    const headers = { authorization: "Bearer none" };
    follow("token", fetch(`${server.url}${base}/__sandbox/keys`, { headers }));
    await arrived(server);
    watch.advance(1000);
    await expect.poll(() => ended.toSorted()).toEqual(["instance 503", "token 503"]);
    watch.advance(timeout - 1001);
    const late = statusAt(server).then((status) => ended.push(`late ${status}`));
    await arrived(server);
    expect(ended).toHaveLength(2);
    watch.advance(1001);
    await expect.poll(() => ended.length).toBe(6);
    expect(ended.slice(2).toSorted()).toEqual(["change 503", "creation 503", "read 503", "request 503"]);
    watch.advance(timeout);
    await late;
    expect(ended.at(-1)).toBe("late 503");
    expect((await call(server, "GET /ready")).status).toBe(503);
    expect(server.lines).toContainEqual(expect.stringMatching(/is away: it does not respond\./));
    expect(server.lines).toContain("503 store_unavailable GET /v1/relying-party/me");
    proxy.mend();
    await expect.poll(async () => (await call(server, "GET /ready")).status).toBe(200);
    expect(server.lines).toContainEqual(expect.stringMatching(/ is back\.$/));
    expect(await statusAt(server)).toBe(200);
  });

  test("a change that got 503 while it waited for its turn is not carried out later", async () => {
    const watch = stoppedWatch();
    const [server, other] = [await behindProxy(60_000), await open()];
    expect(await statusAt(server)).toBe(200);
    proxy.stall();
    const first = statusAt(server);
    await expect.poll(() => proxy.held()).toBeGreaterThan(0);
    const changes = [
      call(server, "POST /keys/one/revoke", {}),
      call(server, "POST /clock/advance", { by: "1d" }),
    ];
    await arrived(server);
    watch.advance(61_000);
    expect([await first, ...(await Promise.all(changes)).map((a) => a.status)]).toEqual([503, 503, 503]);
    proxy.mend();
    await expect.poll(() => statusAt(server)).toBe(200);
    const [key] = (await call(other, "GET /keys")).body.data;
    expect([key.state, key.usage.today]).toEqual(["active", (await journalOf(other, "")).length]);
  });

  test("a server unloads the instances that nobody uses for a minute, and loads them again", async () => {
    const watch = stoppedWatch();
    const server = await open({ instanceTtl: 3_600_000 });
    const idle = await create(server);
    expect(await statusAt(server, idle)).toBe(200);
    const loaded = () => server.store.instances.loaded().map(({ id }) => `/i/${id}`);
    expect(loaded()).toEqual([idle]);
    watch.advance(61_000);
    await expect.poll(loaded).toEqual([]);
    expect(await statusAt(server, idle)).toBe(200);
    expect(await journalOf(server, idle)).toHaveLength(2);
  });

  test("a server with little memory keeps at most ten instances loaded, and unloads those that were used longest ago", async () => {
    const watch = stoppedWatch();
    const [small, other] = [await open({ maxMemory: 1 }), await open()];
    // Measures its memory, and not again while the watch stands.
    small.store.runDue();
    const bases: string[] = [];
    for (let n = 0; n < 11; n += 1) bases.push(await create(other));
    for (const base of bases) {
      watch.advance(1);
      expect(await statusAt(small, base)).toBe(200);
    }
    const loaded = small.store.instances.loaded().map(({ id }) => `/i/${id}`);
    expect(loaded).toEqual(bases.slice(2));
    expect((await call(small, "POST /instances", {})).body.error.code).toBe("memory_limit_reached");
  });

  test("metrics show the size of the store, its losses, what it rejects, and whether it responds", async () => {
    const watch = stoppedWatch();
    const server = await behindProxy();
    const metrics = async () => {
      const text = await (await fetch(`${server.controlUrl}/metrics`)).text();
      const names = ["bytes", "full", "writable", "rejections_total", "up", "losses_total"];
      const all = readMetrics(text);
      return Object.fromEntries(
        names.map((name) => [name, all.get(`svc_sandbox_store_${name}`)?.samples[0]?.value]),
      );
    };
    const fine = { full: 0, writable: 1, rejections_total: 0, up: 1, losses_total: 0 };
    expect(await metrics()).toMatchObject(fine);
    watch.advance(5000);
    await expect.poll(async () => (await metrics()).bytes).toBeGreaterThan(1000);
    proxy.stall();
    const silent = statusAt(server);
    await expect.poll(() => proxy.held()).toBeGreaterThan(0);
    watch.advance(3000);
    expect(await silent).toBe(503);
    expect(await metrics()).toMatchObject({ ...fine, writable: 0, rejections_total: 1, up: 0 });
    proxy.mend();
    await expect.poll(async () => (await metrics()).up).toBe(1);
    await redis.command("FLUSHALL");
    expect(await statusAt(server)).toBe(200);
    expect(await metrics()).toMatchObject({ ...fine, rejections_total: 1, losses_total: 1 });
    await setMemory(1);
    expect(await statusAt(server)).toBe(503);
    expect(await metrics()).toMatchObject({ full: 1, writable: 0, rejections_total: 2, up: 1 });
  });

  test.each([
    ["SIGINT", /^Stopping/m, /in 5 seconds/],
    ["SIGTERM", /^Stopping in 5 seconds/m, /^$/],
  ] as const)(
    "with --store, %s drains a replica only if a load balancer sent it",
    async (signal, shown, absent) => {
      const running = startBin(["start", "--port", "0", "--store", redis.url, "--log", "pretty"]);
      await running.until(/http:/);
      running.child.kill(signal);
      const { code, stderr } = await running.ended;
      expect(code).toBe(0);
      expect(stderr).toMatch(shown);
      expect(stderr).not.toMatch(absent);
    },
  );

  test("a request whose reply is lost gets 503, and is counted at most once", async () => {
    const [server, other] = [await behindProxy(), await open()];
    await statusAt(server);
    proxy.loseReplies();
    const lost = await Promise.all([statusAt(server), statusAt(server, "", "/v1/lost")]);
    expect(lost).toEqual([503, 503]);
    proxy.mend();
    await expect.poll(() => statusAt(server)).toBe(200);
    const stored: { path: string }[] = (await call(other, "GET /requests?limit=1000")).body.data;
    expect(stored.filter(({ path }) => path === "/v1/lost").length).toBeLessThanOrEqual(1);
    const [{ usage }] = (await call(other, "GET /keys")).body.data;
    expect(usage.today).toBe(stored.filter(({ path }) => path === mePath).length);
    expect(await journalOf(server, "")).toEqual(await journalOf(other, ""));
  });

  test("a request whose reply is lost ends with its result once the connection is back", async () => {
    const [server, other] = [await behindProxy(20_000), await open()];
    await statusAt(server);
    proxy.loseReplies();
    const responses = Promise.all([statusAt(server), statusAt(server)]);
    const usage = async () => (await call(other, "GET /keys")).body.data[0].usage.today;
    await expect.poll(usage).toBeGreaterThan(1);
    proxy.mend();
    expect(await responses).toEqual([200, 200]);
    expect(await usage()).toBe(3);
  });

  test("servers whose connections are cut twice while they load an instance lose nothing of it", async () => {
    const [server, other] = [await behindProxy(), await open()];
    const base = await create(other);
    const acknowledged: string[] = [];
    for (let cut = 0; cut < 2; cut++) {
      for (let made = 0; made < 5; made++) {
        const ref = `key-${cut}-${made}`;
        const body = { ref, organization: "bank", environment: "test", name: "Kept" };
        expect((await control(`${other.url}${base}/__sandbox`, "POST /keys", body)).status).toBe(201);
        acknowledged.push(ref);
        await control(`${other.url}${base}/__sandbox`, `POST /keys/${ref}/revoke`);
      }
      proxy.loseReplies();
      expect(await statusAt(server, base)).toBe(503);
      proxy.mend();
      await expect.poll(() => statusAt(server)).toBe(200);
    }
    for (const each of [server, await open()]) {
      const { body } = await control(`${each.url}${base}/__sandbox`, "GET /keys");
      const keys: { ref: string; state: string }[] = body.data;
      const revoked = keys.filter(({ state }) => state === "revoked").map(({ ref }) => ref);
      expect(revoked).toEqual(acknowledged);
    }
  });

  test("a server that was not running for longer than the timeout reads the replies that have arrived", async () => {
    const server = await open({ timeout: 200 });
    await statusAt(server);
    const waiting = statusAt(server);
    // Until the request is sent to Redis.
    await expect.poll(() => server.store.status()?.reachable).toBe(true);
    const end = performance.now() + 600;
    while (performance.now() < end);
    expect(await waiting).toBe(200);
    expect(server.lines.filter((line) => line.includes("is away"))).toEqual([]);
  });

  test("a sandbox is compacted after 256 requests, and its journal is equal on every server, also one that is behind", async () => {
    const [one, other, behind] = [await open(), await open(), await open()];
    const base = await create(one);
    expect(await statusAt(behind, base)).toBe(200);
    await inParallel(1000, 16, async (n) => {
      expect(await statusAt(n % 2 === 0 ? one : other, base)).toBe(200);
    });
    const [, id] = /\/i\/(.*)/.exec(base) as unknown as [string, string];
    const entries = async () => Number(await redis.command("XLEN", `{svc-sandbox:}:${id}:log`));
    await expect.poll(entries).toBeLessThan(256);
    const late = await open();
    const journals = await Promise.all([one, other, behind, late].map((server) => journalOf(server, base)));
    expect(journals[0]?.length).toBeGreaterThanOrEqual(100);
    expect(journals[0]?.length).toBeLessThan(400);
    for (const journal of journals) expect(journal).toEqual(journals[0]);
    const { usage } = (await control(`${late.url}${base}/__sandbox`, "GET /keys")).body.data[0];
    expect(usage.today).toBe(1001);
  });

  test("three servers that use one sandbox at once each get a fair part of its turns", async () => {
    const three = [await open(), await open(), await open()];
    const counts = three.map(() => 0);
    const total = () => counts.reduce((sum, one) => sum + one, 0);
    const client = async (index: number) => {
      while (total() < 1500) {
        expect(await statusAt(three[index] as ReplicaServer)).toBe(200);
        counts[index] = (counts[index] as number) + 1;
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, n) => client(n % 3)));
    for (const count of counts) expect(count / total()).toBeGreaterThan(1 / 5);
    const [{ sandbox }] = three.map(({ store }) => store) as [ReplicaServer["store"]];
    await statusAt(three[0] as ReplicaServer);
    expect(sandbox.counters.requests()).toBe(total() + 1);
  });

  test("a full Redis gets 503 for requests; reads and removals continue; everything works when it has room", async () => {
    const server = await open();
    const bases = await Promise.all(Array.from({ length: 5 }, () => create(server)));
    await inParallel(500, 16, async (n) => {
      await statusAt(server, bases[n % 5], `/v1/${"words/".repeat(30)}${n}`);
    });
    await setMemory(1);
    expect(await statusAt(server, bases[0])).toBe(503);
    expect((await call(server, "GET /keys")).status).toBe(200);
    expect((await call(server, "GET /ready")).body.error.message).toMatch(/it is full/);
    expect((await call(server, "GET /health")).body).toMatchObject({ store: "full" });
    const { status, body } = await call(server, "POST /instances", {});
    expect([status, body.error.code]).toEqual([507, "memory_limit_reached"]);
    expect((await call(server, `DELETE ${bases[4]?.replace("/i", "/instances")}`)).status).toBe(204);
    await setMemory(0);
    await expect.poll(async () => (await call(server, "GET /ready")).status).toBe(200);
    expect(await statusAt(server, bases[0])).toBe(200);
    expect(server.lines).toContainEqual(expect.stringMatching(/accepts writes again\.$/));
  });

  test("a full Redis with a step that is due takes changes again when it has room", async () => {
    const timed = { ...banks, timeline: [{ at: "4s", revoke: { key: "one" } }] };
    const server = await startReplica(redis.url, timed, { frozen: false });
    servers.push(server);
    await setMemory(1);
    expect(await statusAt(server)).toBe(503);
    const status = async () => (await call(server, "GET /keys")).status;
    // Reads run what is due before.
    await expect.poll(status, { timeout: 30_000 }).toBe(503);
    await setMemory(0);
    await expect.poll(status, { timeout: 30_000 }).toBe(200);
    expect(await statusAt(server)).toBe(401);
  });

  test("a change of an instance that is stored is acknowledged, also if Redis is full before the list is changed", async () => {
    const server = await behindProxy(60_000);
    const url = `${server.url}${await create(server)}/__sandbox`;
    // The list shows the scenario.
    proxy.stallAt("or 'nothing'");
    const changed = control(url, "PUT /scenario", { name: "key-states" });
    await expect.poll(() => proxy.held()).toBeGreaterThan(0);
    await setMemory(1);
    proxy.mend();
    expect((await changed).status).toBe(200);
  });

  test("an instance that may not fit into Redis is rejected before the others fail", async () => {
    const server = await open();
    await setMemory((await usedMemory()) + 1_000_000);
    let made = 0;
    for (let status = 201; status === 201; made += 1)
      ({ status } = await call(server, "POST /instances", {}));
    expect(made).toBeLessThan(7);
    expect(await statusAt(server)).toBe(200);
  });

  test("a Redis that comes back empty starts the sandbox again, and every server reports it", async () => {
    const [one, other] = [await open(), await open()];
    await call(one, "POST /keys/one/revoke", {});
    const base = await create(one);
    await redis.command("FLUSHALL");
    // Numbers an instance, before any server has noticed.
    await redis.command("HINCRBY", "{svc-sandbox:}:own:state", "groups", "1");
    for (const server of [other, one]) expect(await statusAt(server)).toBe(200);
    expect(await statusAt(one, base)).toBe(404);
    expect((await call(other, "GET /instances")).body.data).toEqual([]);
    for (const server of [one, other])
      expect(server.lines).toContainEqual(expect.stringMatching(/has lost data/));
  });

  test("an instance that expired shows when, also on a server that had not loaded it, and one server records it", async () => {
    const [one, other] = [await open({ instanceTtl: 2000 }), await open({ instanceTtl: 2000 })];
    const base = await create(one, { label: "partner" });
    const textAt = async ({ url }: ReplicaServer) => (await fetch(url + base + mePath)).text();
    // Asking more often would be a use.
    await expect.poll(() => textAt(one), { timeout: 30_000, interval: 4000 }).toMatch(/expired at 20\d\d-/);
    expect(await textAt(other)).toMatch(/This sandbox expired at 20\d\d-.*Ask whoever runs this server/);
    expect((await call(other, "GET /instances")).body.data).toEqual([]);
    const id = base.slice(3);
    const expired = [...one.lines, ...other.lines].filter((line) => line.startsWith("expired"));
    expect(expired).toEqual([`expired DELETE /instances/${id}`]);
  });

  test("POST /instances twice with the same Idempotency-Key makes one instance, also at another server", async () => {
    const [server, other] = [await open(), await open()];
    const post = async ({ controlUrl }: ReplicaServer, key: string, label: string) => {
      const headers = { "content-type": "application/json", "idempotency-key": key };
      const init = { method: "POST", headers, body: JSON.stringify({ label }) };
      const response = await fetch(`${controlUrl}/instances`, init);
      return { status: response.status, ...((await response.json()) as { data?: Record<string, string> }) };
    };
    const made = await Promise.all([server, other, other, server].map((one) => post(one, "a", "one")));
    expect(new Set(made.map(({ status, data }) => `${status} ${data?.id}`))).toEqual(
      new Set([`201 ${made[0]?.data?.id}`]),
    );
    expect(new Set(made.map(({ data }) => data?.token)).size).toBe(4);
    expect([(await post(other, "a", "two")).status, (await post(other, "b", "two")).status]).toEqual([
      422, 201,
    ]);
    expect((await call(server, "GET /instances")).body.total).toBe(2);
  });

  test("a claim with a wrong code loads no instance", async () => {
    const [server, other] = [await open(), await open()];
    const { id, claim_url } = (await call(server, "POST /instances", {})).body.data;
    const claim = async (code: string) => (await call(other, `POST /instances/${id}/claim`, { code })).status;
    const loaded = () => other.store.instances.loaded().length;
    expect([await claim("wrong"), loaded()]).toEqual([404, 0]);
    expect([await claim(claim_url.replace(/^.*#code=/, "")), loaded()]).toEqual([200, 1]);
  });

  test("creating, linking, claiming and removing an instance is recorded, without a secret", async () => {
    const server = await open();
    const { id, claim_url } = (await call(server, "POST /instances", { label: "partner" })).body.data;
    const link = (await call(server, `POST /instances/${id}/link`, {})).body.data.claim_url;
    const codes = [claim_url, link].map((url: string) => url.replace(/^.*#code=/, ""));
    const claims = await Promise.all(
      [codes[0], codes[1], codes[1]].map((code) => call(server, `POST /instances/${id}/claim`, { code })),
    );
    expect(claims.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    await call(server, `DELETE /instances/${id}`);
    const claim = `POST /instances/${id}/claim`;
    const recorded = ["201 POST /instances", `201 POST /instances/${id}/link`, `200 ${claim}`];
    recorded.push(`204 DELETE /instances/${id}`, `404 not_found ${claim}`, `404 not_found ${claim}`);
    const lines = () => server.lines.filter((line) => line.includes("/instances")).sort();
    await expect.poll(lines).toEqual(recorded.sort());
  });

  test("the list shows the current scenario of an instance, and the last use on any server", async () => {
    const [one, other] = [await open(), await open()];
    const base = await create(one);
    await control(`${one.url}${base}/__sandbox`, "PUT /scenario", { name: "key-states" });
    const [listed] = (await call(other, "GET /instances")).body.data;
    expect(listed).toMatchObject({ scenario: "key-states", idle_seconds: 0 });
  });
});
