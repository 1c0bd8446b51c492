import { createClient } from "@redis/client";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as scripts from "../../src/store/redis/redis-scripts.js";
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
  const create = (id: string, max = 9, expires: number | string = "", origin = "") => {
    const isOwn = origin !== "";
    const argv = ["snapshot", "0-7 start", origin, isOwn ? "" : id, "{}", max, expires, scripts.storeFormat];
    return run(scripts.createScript, keys.of(id).slice(0, 3), ...argv);
  };
  type Reply = [at: string, [state: string, id: string, found: unknown[], turn: string]];
  const nothing = { line: "", expires: "", leaves: "", asks: "", snapshot: "", first: "" };
  const usual = { ...nothing, server: "a", format: scripts.storeFormat };
  let commits = 0;
  const call = (position: string, more: Partial<typeof usual>) => {
    const { line, expires, leaves, asks, snapshot, first, server, format } = { ...usual, ...more };
    commits += 1;
    const argv = [position, expires, leaves, asks, `${server}.${commits}`, line, snapshot, first];
    const common = [format, server, keys.turnsOf("")];
    return run(scripts.appendScript, [hash, log], ...common, ...argv) as Promise<Reply>;
  };
  const appended = async (position: string, line: string, more = {}) =>
    (await call(position, { line, ...more }))[1][1];
  const found = async (position: string) => (await call(position, {}))[1];
  const existing = async (...names: string[]) => Number(await redis.command("EXISTS", ...names));

  test("create a sandbox once, without what was there, and no more instances than the limit", async () => {
    await redis.command("XADD", log, "*", "e", "stale", "by", "x");
    const made = [await create("one", 1, Date.now() + week), await create("one", 1)];
    expect([...made, await create("two", 1), await create("two", 2)]).toEqual([
      "created",
      "exists",
      "full",
      "created",
    ]);
    expect([await existing(log), await redis.command("HLEN", list)]).toEqual([0, 2]);
    expect(Number(await redis.command("PTTL", hash))).toBeGreaterThan(week / 2);
    expect(await redis.command("PTTL", keys.of("two")[0])).toBe(-1);
    await create("own", 0, "", "origin");
    const own = await redis.command("HMGET", keys.of("own")[0], "origin", "head", "position");
    expect(own).toEqual(["origin", "0-7 start", "0-7 start"]);
    expect(await redis.command("HLEN", list)).toBe(2);
  });

  test("append a line if the position is the last, and otherwise nothing, with the lines in between", async () => {
    expect((await call("0-7 start", { line: "x" }))[1]).toEqual(["gone", "", [], ""]);
    await create("one");
    const [at, [, first]] = await call("0-7 start", { line: "first" });
    expect(Math.abs(Number(at) - Number.parseInt(first, 10))).toBeLessThan(60_000);
    const second = await appended(first, "second");
    const lines = [first, second].map((position, index) => {
      const [id, tag] = position.split(" ");
      return [id, ["line", ["first", "second"][index], "by", tag]];
    });
    expect([await found(second), await found("0-7 start"), await found(first)]).toEqual([
      ["ok", "", [], ""],
      ["ok", "", lines, ""],
      ["ok", "", lines.slice(1), ""],
    ]);
    expect((await call(first, { line: "late" }))[1]).toEqual(["late", "", lines.slice(1), ""]);
    // A Redis that lost its latest lines has the id of another one.
    for (const gone of ["0-6 start", `${first.split(" ")[0]} b.1`])
      expect((await call(gone, { line: "lost" }))[1]).toEqual(["behind", "", [], ""]);
    const unknown = (await call(second, { line: "x", format: "3" }))[1];
    expect(unknown).toEqual(["format", scripts.storeFormat, [], ""]);
    expect(await redis.command("XLEN", log)).toBe(2);
    expect(await redis.command("HGET", hash, "head")).toBe(second);
    const expires = String(Date.now() + week);
    await call(second, { expires });
    for (const key of [hash, log]) expect(Number(await redis.command("PTTL", key))).toBeGreaterThan(week / 2);
  });

  test("load a sandbox with its lines, of which a new snapshot keeps those of the journal", async () => {
    const load = () => run(scripts.loadScript, keys.of("one"), "one") as Promise<unknown[]>;
    expect(await load()).toEqual(["gone", ""]);
    await create("one");
    const first = await appended("0-7 start", "first");
    const second = await appended(first, "second");
    const { storeFormat: format } = scripts;
    expect(await load()).toMatchObject([format, "snapshot", "0-7 start", [{}, {}], "{}", "", second]);
    const third = await appended(second, "third", { snapshot: "newer", first: second.split(" ")[0] });
    const loaded = await load();
    expect(loaded).toMatchObject([format, "newer", third, [{}, {}], "{}", "", third]);
    expect(JSON.stringify(loaded[3])).not.toContain("first");
  });

  describe("a server that asks gets its turn", () => {
    const turnOf = async (server: string, more = {}) =>
      (await call("0-7 start", { asks: "1", server, ...more }))[1][3];
    const waits = () => redis.command("HMGET", hash, "owner", "waits");

    test("if nobody has it, and otherwise once those before it have left", async () => {
      await create("one");
      expect([await turnOf("a"), await turnOf("a"), await turnOf("b"), await turnOf("c")]).toEqual([
        "1",
        "1",
        "",
        "",
      ]);
      expect([await turnOf("b"), await waits()]).toEqual(["", ["a", "b c"]]);
      // It gives it up, and waits again.
      expect([await turnOf("a", { leaves: "1" }), await waits()]).toEqual(["", ["b", "c a"]]);
      expect([await turnOf("c"), await turnOf("b")]).toEqual(["", "1"]);
      // Only its own turn.
      await call("0-7 start", { leaves: "1", server: "a" });
      expect(await waits()).toEqual(["b", "c a"]);
    });

    test("with the next line of the one that has it, which keeps it only if nobody waits", async () => {
      await create("one");
      await turnOf("a");
      const [, [, first, , kept]] = await call("0-7 start", { line: "first" });
      await turnOf("b");
      const [, [, second, , given]] = await call(first, { line: "second" });
      expect([kept, given, await waits()]).toEqual(["1", "", ["b", ""]]);
      const [, [, , , left]] = await call(second, { line: "third", server: "b", leaves: "1" });
      expect([left, await waits()]).toEqual(["", ["", ""]]);
    });

    test("after the longest turn of a server that does not respond", async () => {
      await create("one");
      await turnOf("a");
      await turnOf("b");
      await redis.command("HSET", hash, "used", "0");
      expect([await turnOf("c"), await turnOf("b"), await waits()]).toEqual(["1", "", ["c", "b"]]);
    });

    test("and hears of it, as the one that has it hears that another one waits", async () => {
      await create("one");
      const heard: string[] = [];
      const client = createClient({ url: redis.url, RESP: 3, disableClientInfo: true });
      await client.connect();
      onTestFinished(() => client.destroy());
      for (const server of ["a", "b"])
        await client.subscribe(keys.turnsOf(server), (of) => heard.push(`${server} ${keys.idOf(of)}`));
      await turnOf("a");
      await turnOf("b");
      await call("0-7 start", { leaves: "1" });
      await client.ping();
      expect(heard).toEqual(["a one", "b one"]);
    });
  });

  test("list the instances, and record the end of those that have expired", async () => {
    for (const id of ["one", "two"]) await create(id);
    await appended("0-7 start", "first");
    const read = () =>
      run(scripts.listScript, [list, ...keys.of("own").slice(0, 2)], ...keys.parts) as Promise<
        [string, number, [string, string][], [string, string, string, number][]]
      >;
    const [at, bytes, none, alive] = await read();
    expect([none, alive.map(([id]) => id).sort(), bytes > 100]).toEqual([[], ["one", "two"], true]);
    expect(alive.find(([id]) => id === "two")).toEqual(["two", "{}", "0-7 start", -1]);
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
    await appended("0-7 start", "first");
    const remove = () => run(scripts.removeScript, keys.of("one"), "one");
    expect([await remove(), await existing(hash, log), await redis.command("HLEN", list)]).toEqual([1, 0, 0]);
    expect(String(await redis.command("GET", end))).toMatch(/^removed \d+$/);
    expect(Number(await redis.command("PTTL", end))).toBeGreaterThan(week - 60_000);
    await redis.command("DEL", end);
    expect([await remove(), await existing(end)]).toEqual([0, 0]);
  });
});
