import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as scripts from "../../src/redis/redis-scripts.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.js";

// What each script does to the keys of Redis. Servers run them, and see only a part of that.

const keys = scripts.storeKeys("test:");
const [hash, log, list, end] = keys.of("one");
const week = 604_800_000;

describe.skipIf(noRedis)("the scripts of a store", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(["--appendonly", "no"]);
  });
  afterAll(() => redis.close());
  beforeEach(() => redis.command("FLUSHALL"));

  const run = (script: string, of: readonly string[], ...argv: readonly (string | number)[]) =>
    redis.command("EVAL", script, String(of.length), ...of, ...argv.map(String)) as Promise<never>;
  const create = (id: string, most = 9, expires: number | string = "") =>
    run(scripts.createScript, keys.of(id).slice(0, 3), "snapshot", "0-7", "", id, "{}", most, expires);
  const append = (position: string, batch: string, expires = "", urgent = "") =>
    run(scripts.appendScript, [hash, log], position, expires, urgent, batch) as Promise<
      [at: string, [state: string, id: string, found: [string, string[]][]]]
    >;
  const appended = async (position: string, batch: string) => (await append(position, batch))[1][1];
  const existing = async (...names: string[]) => Number(await redis.command("EXISTS", ...names));

  test("create a sandbox once, without what was there, and no more instances than the limit", async () => {
    await redis.command("XADD", log, "*", "e", "stale");
    expect([await create("one", 1, Date.now() + week), await create("one", 1)]).toEqual([
      "created",
      "exists",
    ]);
    expect([await create("two", 1), await create("two", 2)]).toEqual(["full", "created"]);
    expect([await existing(log), await redis.command("HLEN", list)]).toEqual([0, 2]);
    expect(Number(await redis.command("PTTL", hash))).toBeGreaterThan(week / 2);
    expect(await redis.command("PTTL", keys.of("two")[0])).toBe(-1);
    await run(
      scripts.createScript,
      keys.of("own").slice(0, 3),
      "snapshot",
      "0-8",
      "founding",
      "",
      "",
      "0",
      "",
    );
    expect(await redis.command("HMGET", keys.of("own")[0], "founding", "head", "position")).toEqual([
      ...["founding", "0-8", "0-8"],
    ]);
    expect(await redis.command("HLEN", list)).toBe(2);
  });

  test("append a batch for a server that knows the head, and give it the batches after its position", async () => {
    expect((await append("0-7", "x"))[1]).toEqual(["gone", "", []]);
    await create("one");
    const [at, [, first]] = await append("0-7", "first");
    expect(Math.abs(Number(at) - Number.parseInt(first, 10))).toBeLessThan(60_000);
    const second = await appended(first, "second");
    expect((await append(second, ""))[1]).toEqual(["ok", "", []]);
    expect((await append("0-7", ""))[1]).toEqual([
      "ok",
      "",
      [
        [first, ["e", "first"]],
        [second, ["e", "second"]],
      ],
    ]);
    expect((await append("0-6", "lost"))[1]).toEqual(["behind", "", []]);
    const [, [state, third, between]] = await append(first, "third", "", "1");
    expect([state, between, await redis.command("HGET", hash, "head")]).toEqual([
      ...["ok", [[second, ["e", "second"]]], third],
    ]);
    expect(await redis.command("XLEN", log)).toBe(3);
    const expires = String(Date.now() + week);
    await append(third, "", expires);
    for (const key of [hash, log]) expect(Number(await redis.command("PTTL", key))).toBeGreaterThan(week / 2);
  });

  test("load a sandbox with the batches since its snapshot, which a compaction replaces", async () => {
    const load = () => run(scripts.loadScript, keys.of("one"), "one");
    const compact = (position: string) => run(scripts.compactScript, [hash, log], position, "newer");
    expect([await load(), await compact("0-7")]).toEqual([["gone", ""], "old"]);
    await create("one");
    const first = await appended("0-7", "first");
    const second = await appended(first, "second");
    const batches = [
      [first, ["e", "first"]],
      [second, ["e", "second"]],
    ];
    expect(await load()).toEqual(["snapshot", "0-7", batches, "{}", ""]);
    expect([await compact("9-9"), await compact(first), await compact(first)]).toEqual([
      "old",
      "stored",
      "old",
    ]);
    expect(await load()).toEqual(["newer", first, batches.slice(1), "{}", ""]);
    expect([await compact(second), await redis.command("XLEN", log)]).toEqual(["stored", 0]);
  });

  test("list the instances, and record the end of those that have expired", async () => {
    for (const id of ["one", "two"]) await create(id);
    await appended("0-7", "first");
    const read = () =>
      run(scripts.listScript, [list, ...keys.of("own").slice(0, 2)], ...keys.parts) as Promise<
        [string, number, [string, string][], [string, string, string, number][]]
      >;
    const [at, bytes, none, alive] = await read();
    expect([none, alive.map(([id]) => id).sort(), bytes > 100]).toEqual([[], ["one", "two"], true]);
    expect(alive.find(([id]) => id === "two")).toEqual(["two", "{}", "0-7", -1]);
    await redis.command("DEL", hash);
    const [, , ended, left] = await read();
    expect([ended, left.map(([id]) => id)]).toEqual([[["one", "{}"]], ["two"]]);
    expect([await existing(log), await redis.command("HEXISTS", list, "one")]).toEqual([0, 0]);
    const [, since] = /^expired (\d+)$/.exec(String(await redis.command("GET", end))) ?? [];
    expect(Number(since)).toBeGreaterThanOrEqual(Number(at));
    expect(Number(await redis.command("PTTL", end))).toBeGreaterThan(week - 60_000);
    expect(await run(scripts.loadScript, keys.of("one"), "one")).toEqual(["gone", `expired ${since}`]);
  });

  test("remove an instance once, with its log, and record its end", async () => {
    await create("one");
    await appended("0-7", "first");
    const remove = () => run(scripts.removeScript, keys.of("one"), "one");
    expect([await remove(), await existing(hash, log), await redis.command("HLEN", list)]).toEqual([1, 0, 0]);
    expect(String(await redis.command("GET", end))).toMatch(/^removed \d+$/);
    expect(Number(await redis.command("PTTL", end))).toBeGreaterThan(week - 60_000);
    await redis.command("DEL", end);
    expect([await remove(), await existing(end)]).toEqual([0, 0]);
  });
});
