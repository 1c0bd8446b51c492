import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { keysOf, readRedisAddress } from "../../../src/log/redis/address.js";
import { openRedisLog, type RedisLogOptions } from "../../../src/log/redis/redis-store.js";
import type { LogEntry, LogSnapshot, ServerLog, SharedLog } from "../../../src/log/replica/shared-log.js";
import { testSharedLog } from "../../support/log-behaviour.js";
import { noRedis, type RedisServer, startRedis } from "../../support/redis-server.js";
import { foundedAt, startReplica } from "../../support/replicas.js";
import { startProxy, type TcpProxy } from "../../support/tcp-proxy.js";

interface Replica {
  readonly log: ServerLog;
  readonly starts: LogSnapshot[];
  /** Those since the last start. */
  readonly entries: LogEntry[];
  readonly texts: () => string[];
}

let logs: SharedLog[] = [];

async function openLog(port: number, options: Partial<RedisLogOptions> = {}): Promise<ServerLog> {
  const address = readRedisAddress(`redis://127.0.0.1:${port}`);
  if (address === undefined) throw new Error("no address");
  const log = await openRedisLog({
    address,
    timeout: 1000,
    founding: '{"scenario":"a"}',
    first: foundedAt,
    ...options,
  });
  logs.push(log);
  return log;
}

async function openReplica(port: number, options: Partial<RedisLogOptions> = {}): Promise<Replica> {
  const log = await openLog(port, options);
  const starts: LogSnapshot[] = [];
  const entries: LogEntry[] = [];
  await log.follow({
    start(from) {
      starts.push(from);
      entries.length = 0;
    },
    apply(entry) {
      entries.push(entry);
      return entry.text;
    },
  });
  return { log, starts, entries, texts: () => entries.map(({ text }) => text) };
}

/** Appends `<name>:0`, `<name>:1`, … one after the other until it is stopped; answers how, and which were acknowledged. */
function keepAppending({ log }: Replica, name: string) {
  const acknowledged: string[] = [];
  let refused = 0;
  let isStopped = false;
  const run = async () => {
    for (let n = 0; !isStopped; n += 1) {
      const text = `${name}:${n}`;
      await log.append(text).then(
        () => acknowledged.push(text),
        async () => {
          refused += 1;
          await new Promise((resolve) => setImmediate(resolve));
        },
      );
    }
  };
  const running = run();
  return {
    acknowledged,
    refused: () => refused,
    stop() {
      isStopped = true;
      return running;
    },
  };
}

/** Checks that all have the same entries, among them each acknowledged one, and none twice. */
async function expectOneHistory(replicas: readonly Replica[], acknowledged: readonly string[]) {
  const last = await openReplica(redis.port);
  await last.log.append("the last one");
  await expect.poll(() => replicas.every(({ texts }) => texts().at(-1) === "the last one")).toBe(true);
  const texts = last.texts();
  for (const replica of replicas) expect(replica.texts()).toEqual(texts);
  expect(new Set(texts).size).toBe(texts.length);
  const there = new Set(texts);
  expect(acknowledged.filter((text) => !there.has(text))).toEqual([]);
}

let redis: RedisServer;
let proxy: TcpProxy;

describe.skipIf(noRedis)("a log in Redis", () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());
  beforeEach(async () => {
    await redis.command("FLUSHALL");
    proxy = await startProxy(redis.port);
  });
  afterEach(async () => {
    await Promise.all(logs.map((log) => log.close()));
    logs = [];
    proxy.close();
  });

  testSharedLog(async () => ({
    open: () => openLog(proxy.port),
    cut: proxy.cut,
    mend: proxy.mend,
    lose: async () => void (await redis.command("FLUSHALL")),
    end() {},
  }));

  test("is one for several processes: each gets every entry once, in one order", async () => {
    const children = Array.from({ length: 3 }, () => startProcess(redis.url));
    await Promise.all(children.map((child) => child.ready));
    const here = [await openReplica(redis.port), await openReplica(redis.port)];
    const texts = Array.from({ length: 300 }, (_, n) => String(n));
    await Promise.all([
      ...children.flatMap((child, of) => texts.map((text) => child.append(`child ${of}:${text}`))),
      ...here.flatMap(({ log }, of) => texts.map((text) => log.append(`here ${of}:${text}`))),
    ]);
    const acknowledged = here.flatMap((_, of) => texts.map((text) => `here ${of}:${text}`));
    await expectOneHistory(here, acknowledged);
    const [first] = here as [Replica];
    expect(first.entries).toHaveLength(1501);
    for (const child of children) {
      await expect.poll(() => child.texts()).toEqual(first.texts());
    }
  });

  test("has an entry that is acknowledged once, over a crash of Redis, restarted with its append-only file", async () => {
    const replicas = await Promise.all([1, 2, 3].map(() => openReplica(redis.port)));
    const writers = replicas.map((replica, of) => keepAppending(replica, `writer ${of}`));
    for (let round = 0; round < 3; round += 1) {
      const before = writers.map(({ acknowledged }) => acknowledged.length);
      await expect
        .poll(() =>
          writers.every(({ acknowledged }, of) => acknowledged.length > (before[of] as number) + 20),
        )
        .toBe(true);
      await redis.crash();
      await redis.restart();
    }
    const before = writers.map(({ acknowledged }) => acknowledged.length);
    await expect
      .poll(() => writers.every(({ acknowledged }, of) => acknowledged.length > (before[of] as number)))
      .toBe(true);
    await Promise.all(writers.map(({ stop }) => stop()));
    await expectOneHistory(
      replicas,
      writers.flatMap(({ acknowledged }) => acknowledged),
    );
    for (const { starts } of replicas) expect(starts).toHaveLength(1);
  });

  test("appends nothing twice when its connection is cut, or breaks before the reply", async () => {
    const replicas = [await openReplica(proxy.port), await openReplica(proxy.port)];
    const writers = replicas.map((replica, of) => keepAppending(replica, `writer ${of}`));
    for (let round = 0; round < 12; round += 1) {
      const before = writers.map(({ acknowledged }) => acknowledged.length);
      await expect
        .poll(() => writers.every(({ acknowledged }, of) => acknowledged.length > (before[of] as number) + 5))
        .toBe(true);
      if (round % 2 === 0) proxy.cut();
      else proxy.loseReplies();
      await expect.poll(() => replicas.some(({ log }) => !log.status().reachable)).toBe(true);
      proxy.mend();
    }
    await Promise.all(writers.map(({ stop }) => stop()));
    await expectOneHistory(
      replicas,
      writers.flatMap(({ acknowledged }) => acknowledged),
    );
  });

  test("finds an append whose reply was lost when it is back, and acknowledges it", async () => {
    const { log, texts } = await openReplica(proxy.port, { timeout: 20_000 });
    await log.append("before");
    proxy.loseReplies();
    const append = log.append("its reply is lost");
    await expect.poll(() => log.status().reachable).toBe(false);
    proxy.mend();
    expect(await append).toBe("its reply is lost");
    expect(texts()).toEqual(["before", "its reply is lost"]);
  });

  test("refuses what is not answered in time, fails at once while it is away, and comes back", async () => {
    const notes: string[] = [];
    const stalled = await openReplica(proxy.port, { timeout: 300, onNote: (note) => notes.push(note) });
    const other = await openReplica(redis.port);
    await stalled.log.append("before");
    proxy.stall();
    await expect(stalled.log.append("stalled")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect.poll(() => stalled.log.status().reachable).toBe(false);
    // By then it has tried to connect again.
    await expect.poll(() => outcomeNow(stalled.log.append("meanwhile"))).toBe("refused");
    await other.log.append("of another one");
    proxy.mend();
    await expect.poll(() => stalled.log.append("after").catch(() => "refused")).toBe("after");
    await expectOneHistory([stalled, other], ["before", "of another one", "after"]);
    expect(notes.at(-2)).toMatch(/^The store redis:\/\/127\.0\.0\.1:\d+ is away: it does not respond\. /);
    expect(notes.at(-1)).toMatch(/ is back\.$/);
  });

  test("brings a replica that was paused what it has missed before it answers", async () => {
    const paused = startProcess(redis.url);
    await paused.ready;
    await paused.append("before");
    paused.signal("SIGSTOP");
    const other = await openReplica(redis.port);
    for (let n = 0; n < 500; n += 1) other.log.append(String(n));
    await other.log.append("the last of the others");
    paused.signal("SIGCONT");
    expect(await paused.append("after")).toBe(503);
    expect((await paused.texts()).slice(-2)).toEqual(["the last of the others", "after"]);
  });

  test("starts a replica anew from a snapshot when what it has missed is forgotten", async () => {
    const [late, other] = [await openReplica(proxy.port), await openReplica(redis.port)];
    await late.log.append("before");
    proxy.cut();
    for (const text of ["a", "b"]) {
      await other.log.append(text);
      await other.log.keepSnapshot({ position: (other.entries.at(-1) as LogEntry).position, text });
    }
    await other.log.append("c");
    proxy.mend();
    await expect.poll(() => late.texts()).toEqual(["c"]);
    expect(late.starts.slice(1).map(({ text }) => text)).toEqual(["b"]);
    expect(await late.log.append("d")).toBe("d");
    expect(late.log.status().entries).toBe(2);
  });

  test("starts a replica anew when Redis comes back without its latest entries", async () => {
    const own = await startRedis(["--appendonly", "no"]);
    onTestFinished(own.close);
    const notes: string[] = [];
    const replicas = [
      await openReplica(own.port, { onNote: (note) => notes.push(note) }),
      await openReplica(own.port),
    ] as const;
    await replicas[0].log.append("saved");
    await own.command("SAVE");
    for (const text of ["lost 1", "lost 2", "lost 3"]) await replicas[0].log.append(text);
    await expect.poll(() => replicas[1].texts()).toHaveLength(4);
    await own.crash();
    await own.restart();
    await expect.poll(() => replicas[1].log.append("new").catch(() => "refused")).toBe("new");
    await expect
      .poll(() => replicas.map(({ texts }) => texts()))
      .toEqual([
        ["saved", "new"],
        ["saved", "new"],
      ]);
    expect(replicas.map(({ log }) => log.status().losses)).toEqual([1, 1]);
    expect(notes).toContainEqual(expect.stringMatching(/has lost data: the sandbox starts again/));
    expect(notes[0]).toMatch(/has no append-only file: its data may be lost when it restarts\./);
  });

  test("a replica starts on a log whose Redis is full, and goes on when it has room", async () => {
    const first = await openReplica(redis.port);
    await first.log.append("one");
    await redis.command("CONFIG", "SET", "maxmemory", "1");
    onTestFinished(async () => void (await redis.command("CONFIG", "SET", "maxmemory", "0")));
    const late = await openReplica(redis.port);
    expect(late.texts()).toEqual(["one"]);
    await expect(late.log.append("two")).rejects.toMatchObject({ code: "store_unavailable" });
    await redis.command("CONFIG", "SET", "maxmemory", "0");
    await expect.poll(() => late.log.status().reachable).toBe(true);
    await late.log.append("three");
    await expect.poll(() => first.texts().at(-1)).toBe("three");
  });

  test("says that Redis is full, fails at once, and goes on when it has room", async () => {
    const { log } = await openReplica(redis.port, { timeout: 20_000 });
    await log.append("before");
    await redis.command("CONFIG", "SET", "maxmemory", "1");
    onTestFinished(async () => void (await redis.command("CONFIG", "SET", "maxmemory", "0")));
    await expect(log.append("no room")).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("it is full: its maxmemory is reached"),
    });
    await redis.command("CONFIG", "SET", "maxmemory", "0");
    await expect.poll(() => log.append("room").catch(() => "refused")).toBe("room");
  });

  test("is away while its master is demoted, and back when it takes writes", async () => {
    const { log } = await openReplica(redis.port);
    await log.append("before");
    await redis.command("REPLICAOF", "127.0.0.1", "1");
    onTestFinished(async () => void (await redis.command("REPLICAOF", "NO", "ONE")));
    await expect(log.append("demoted")).rejects.toMatchObject({
      message: expect.stringContaining("it is a read-only replica of another Redis"),
    });
    expect(log.status().reachable).toBe(false);
    await redis.command("REPLICAOF", "NO", "ONE");
    await expect.poll(() => log.append("after").catch(() => "refused")).toBe("after");
  });

  test("has a time that continues at its own pace when the clock of Redis goes back", async () => {
    const { log, entries } = await openReplica(redis.port);
    await log.append("before");
    const ahead = Date.now() + 600_000;
    // As a master whose clock is fast leaves it behind.
    await redis.command(
      "EVAL",
      "redis.call('XADD', KEYS[2], ARGV[1], redis.call('HGET', KEYS[1], 'epoch'), 'fast 1', '1', 'fast') redis.call('HSET', KEYS[1], 'head', ARGV[1])",
      "2",
      "{svc-sandbox:}:meta",
      "{svc-sandbox:}:log",
      `${ahead}-2`,
    );
    await log.append("after");
    await expect
      .poll(async () => {
        await log.append("later");
        return (entries.at(-1) as LogEntry).at - ahead;
      })
      .toBeGreaterThan(20);
    expect((entries.at(-1) as LogEntry).at - ahead).toBeLessThan(300_000);
  });

  test("stores a snapshot that takes longer than the timeout, and loses no connection by it", async () => {
    const notes: string[] = [];
    const { log, entries } = await openReplica(proxy.port, {
      timeout: 300,
      onNote: (note) => notes.push(note),
    });
    await log.append("before");
    proxy.slow();
    const { position } = entries.at(-1) as LogEntry;
    const text = "long ".repeat(400_000);
    const kept = log.keepSnapshot({ position, text });
    expect(await log.append("meanwhile")).toBe("meanwhile");
    await kept;
    expect(await redis.command("STRLEN", "{svc-sandbox:}:snapshot")).toBe(position.length + 1 + text.length);
    expect(notes).toEqual([]);
  });

  test("starts a replica anew that had only a snapshot when Redis comes back without it", async () => {
    const own = await startRedis(["--appendonly", "no"]);
    onTestFinished(own.close);
    const first = await openReplica(own.port);
    await first.log.append("saved");
    await own.command("SAVE");
    await first.log.append("lost");
    await first.log.keepSnapshot({ position: (first.entries.at(-1) as LogEntry).position, text: "lost" });
    const late = await openReplica(own.port);
    expect(late.starts.map(({ text }) => text)).toEqual(["lost"]);
    await first.log.close();
    await own.crash();
    await own.restart();
    await expect.poll(() => late.log.append("new").catch(() => "refused"), { timeout: 5000 }).toBe("new");
    expect(late.texts()).toEqual(["saved", "new"]);
  });

  test.each([
    ["first", []],
    ["newest", ["a", "b"]],
  ])("without its %s snapshot is refused at a start, and serves a replica that does not need it", async (_, texts) => {
    const { log, entries } = await openReplica(redis.port);
    for (const text of texts) {
      await log.append(text);
      await log.keepSnapshot({ position: (entries.at(-1) as LogEntry).position, text });
    }
    await redis.command("DEL", "{svc-sandbox:}:snapshot");
    await expect(openLog(redis.port)).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringContaining("its snapshot is gone"),
    });
    expect(await log.append("c")).toBe("c");
  });

  test("makes room by a snapshot when Redis is full, and serves again without any traffic", async () => {
    const server = await startReplica(await openLog(redis.port), "active");
    onTestFinished(() => server.close(0));
    const put = () =>
      fetch(`${server.controlUrl}/scenario`, {
        method: "PUT",
        headers: { "content-type": "application/yaml" },
        body: `version: 1\norganizations: { a-bank: { type: bank } }\n# ${"long ".repeat(40_000)}`,
      }).then(({ status }) => status);
    const ready = async () => (await fetch(`${server.controlUrl}/ready`)).status;
    expect(await put()).toBe(200);
    const [, used = ""] = /used_memory:(\d+)/.exec(String(await redis.command("INFO", "memory"))) ?? [];
    await redis.command("CONFIG", "SET", "maxmemory", String(Number(used) + 3_000_000));
    onTestFinished(async () => void (await redis.command("CONFIG", "SET", "maxmemory", "0")));
    let status = 200;
    for (let n = 0; n < 40 && status === 200; n += 1) status = await put();
    expect(status).toBe(503);
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
    expect(await put()).toBe(200);
    const late = await startReplica(await openLog(redis.port), "active");
    onTestFinished(() => late.close(0));
    expect(late.copy.keys.list()).toEqual([]);
  });

  test("of an instance is gone with its keys, and is not begun again by a replica that has it open", async () => {
    const servers = [
      await startReplica(await openLog(redis.port), "active"),
      await startReplica(await openLog(redis.port), "active"),
    ] as const;
    const made = await fetch(`${servers[0].controlUrl}/instances`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const { id } = (await made.json()).data;
    const keysNow = async () =>
      ((await redis.command("KEYS", "*")) as string[]).filter((key) => key.includes(id)).length;
    const statusAt = async ({ url }: (typeof servers)[number]) =>
      (await fetch(`${url}/i/${id}/v1/relying-party/me`)).status;
    expect([await statusAt(servers[0]), await statusAt(servers[1]), await keysNow()]).toEqual([401, 401, 3]);
    await fetch(`${servers[0].controlUrl}/instances/${id}`, { method: "DELETE" });
    expect([await statusAt(servers[1]), await statusAt(servers[0]), await keysNow()]).toEqual([404, 404, 0]);
    await Promise.all(servers.map((server) => server.close(0)));
  });

  test("has all its keys in one slot of a cluster, and each instance its own", async () => {
    const cluster = await startRedis(["--cluster-enabled", "yes"]);
    onTestFinished(cluster.close);
    const slotsOf = (id?: string) =>
      Promise.all(keysOf("svc-sandbox:", id).map((key) => cluster.command("CLUSTER", "KEYSLOT", key)));
    const slots = await Promise.all([undefined, "kzmHPvGU74tR", "mQCGx5QCUEuC"].map(slotsOf));
    for (const [first, ...others] of slots) for (const slot of others) expect(slot).toBe(first);
    expect(new Set(slots.map(([first]) => first)).size).toBe(3);
  });

  test("is begun once by many at once", async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => openReplica(redis.port)));
    expect(new Set(opened.map(({ starts }) => starts[0]?.position)).size).toBe(1);
    await redis.command("FLUSHALL");
    const foundings = ["a", "b", "a", "b"].map((seed) => JSON.stringify({ seed }));
    const outcomes = await Promise.allSettled(
      foundings.map((founding) => openLog(redis.port, { founding, prefix: "race:" })),
    );
    const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused.map(({ code }) => code)).toEqual(["store_mismatch", "store_mismatch"]);
    expect(refused[0].message).toMatch(/started with seed "[ab]", and this one has seed "[ab]"/);
  });

  test("of 20,000 entries is read in pieces", async () => {
    const early = await openReplica(redis.port);
    await early.log.append("0");
    await redis.command("EVAL", fill, "2", "{svc-sandbox:}:meta", "{svc-sandbox:}:log", "19999");
    const late = await openReplica(redis.port);
    expect(late.entries).toHaveLength(20_000);
    expect(late.texts().every((text, n) => text === String(n))).toBe(true);
    expect(await late.log.append("more")).toBe("more");
    await expect.poll(() => early.entries.length).toBe(20_001);
  });

  test("ends a call of many and of long texts in several batches", async () => {
    const { log, entries } = await openReplica(redis.port);
    const texts = Array.from({ length: 1200 }, (_, n) =>
      n % 100 === 0 ? "long ".repeat(50_000) : String(n),
    );
    expect(await Promise.all(texts.map((text) => log.append(text)))).toEqual(texts);
    expect(entries.map(({ text }) => text)).toEqual(texts);
  });
});

/** Appends numbers as one replica does that sends each by itself. */
const fill = `
local head, epoch = redis.call('HGET', KEYS[1], 'head'), redis.call('HGET', KEYS[1], 'epoch')
local at, number = string.match(head, '^(%d+)%-(%d+)$')
for n = 1, tonumber(ARGV[1]) do
  redis.call('XADD', KEYS[2], string.format('%s-%.0f', at, number + n), epoch, 'filler ' .. n, '1', n)
end
redis.call('HSET', KEYS[1], 'head', string.format('%s-%.0f', at, number + ARGV[1]))
`;

/** How a promise stands after a turn of the event loop. */
function outcomeNow(promise: Promise<unknown>): Promise<unknown> {
  const pending = new Promise((resolve) => setImmediate(() => resolve("pending")));
  return Promise.race([promise.catch(() => "refused"), pending]);
}

/** A replica in a process of its own. */
function startProcess(url: string) {
  const script = join(import.meta.dirname, "../../support/log-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const waiting = new Map<string, (value: never) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const { to, value } = JSON.parse(line);
    waiting.get(to)?.(value as never);
  });
  const answerTo = <Value>(line: string) =>
    new Promise<Value>((resolve) => {
      waiting.set(line, resolve);
    });
  const send = <Value>(line: string) => {
    const answer = answerTo<Value>(line);
    child.stdin.write(`${line}\n`);
    return answer;
  };
  return {
    ready: answerTo<true>("ready"),
    append: (text: string) => send<number | "refused">(text),
    texts: () => send<string[]>(""),
    signal: (name: NodeJS.Signals) => void child.kill(name),
  };
}
