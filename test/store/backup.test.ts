import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { findKeys } from "../../src/spec/redact.js";
import { control } from "../support/call-control.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.js";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const bank = (keys: string) => `version: 1\norganizations:\n  a-bank: { type: bank, keys: { ${keys} } }\n`;
const one = "one: { environment: test, limits: { per_minute: 100000, per_day: 100000 } }";
const two = "two: { environment: test }";
const meta = "{svc-sandbox:}:own:state";

describe.skipIf(noRedis !== undefined)("a sandbox in Redis", () => {
  let redis: RedisServer;
  let cwd: string;

  beforeEach(async () => {
    redis = await startRedis();
    cwd = temporaryFolder({ "a.yaml": bank(one) });
  });
  afterEach(() => redis.close());

  const start = (...argv: string[]) => serve(["a.yaml", "--store", redis.url, ...argv], { cwd });
  const statusOf = async (url: string, key: string) =>
    (await fetch(url + mePath, { headers: { "x-api-key": key } })).status;
  const call = (url: string, route: string, body?: object) => control(`${url}/__sandbox`, route, body);

  /** A replica, with a key that was made at run time and an instance. */
  async function used() {
    const running = start("--json");
    const { base_url: url, keys } = JSON.parse((await running.stdout.shows(/.*\n/))[0]);
    const creation = { organization: "a-bank", environment: "test", name: "Made", ref: "made" };
    const made = (await call(url, "POST /keys", creation)).body.data.secret as string;
    const instance = (await call(url, "POST /instances", { label: "partner" })).body.data;
    await statusOf(instance.base_url, instance.keys.one);
    return { url: url as string, keys, made, instance, stop: () => running.stop() };
  }

  test("export and --import move it, with its run-time keys and instances, to other keys", async () => {
    const first = await used();
    expect((await runCli(["export", first.url, "-o", "backup.json"], { cwd })).code).toBe(0);
    const text = readFileSync(join(cwd, "backup.json"), "utf8");
    expect(findKeys(text)).toEqual([]);
    expect(JSON.parse(text).instances).toMatchObject([{ id: first.instance.id, runtime: { recorded: 1 } }]);

    const argv = ["--store-prefix", "b:", "--import", "backup.json"];
    await baseUrl(start(...argv));
    const url = await baseUrl(start("--store-prefix", "b:"));
    expect(await statusOf(url, first.made)).toBe(200);
    expect(await statusOf(`${url}/i/${first.instance.id}`, first.instance.keys.one)).toBe(200);
    expect((await call(url, "GET /instances")).body.data).toMatchObject([{ label: "partner" }]);
    expect((await call(`${url}/i/${first.instance.id}`, "GET /requests")).body.data).toHaveLength(2);
    const { code, stderr } = await start(...argv).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining("already contains a sandbox")]);
  });

  test.each([
    ["pretty", /^503 for GET \/v1\/relying-party\/me: Failed to use the store/m],
    ["json", /"event":"audit","message":"503 for GET \/v1\/relying-party\/me: Failed to use the store/],
  ])("a request that gets 503 is in the log with --log %s", async (log, line) => {
    const running = start("--log", log, "--store-timeout", "200ms");
    const url = await baseUrl(running);
    redis.signal("SIGSTOP");
    expect(await statusOf(url, "SVC_test_any")).toBe(503);
    await running.stderr.shows(line);
    expect(running.stderr.text()).not.toContain("SVC_test_any");
  });

  test("--migrate adds organizations and keys in every replica, and the old scenario still starts", async () => {
    const first = await used();
    writeFileSync(join(cwd, "a.yaml"), bank(`${one}, ${two}`));
    const rejected = await start().done;
    expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringContaining("Add --migrate")]);

    const next = start("--json", "--migrate");
    const { base_url: url, keys } = JSON.parse((await next.stdout.shows(/.*\n/))[0]);
    expect(next.stderr.text()).toContain('Migrated from content of the scenario "');
    for (const at of [url, first.url]) {
      for (const key of [keys.one, keys.two, first.made]) expect(await statusOf(at, key)).toBe(200);
    }
    await call(url, "POST /reset");
    for (const at of [url, first.url]) expect(await statusOf(at, keys.two)).toBe(200);
    const again = start("--migrate");
    await baseUrl(again);
    expect(again.stderr.text()).not.toContain("Migrated");

    writeFileSync(join(cwd, "a.yaml"), bank(one));
    const before = await baseUrl(start());
    expect(await statusOf(before, keys.two)).toBe(200);
  });

  test("an update and a rollback under traffic lose no key and no instance, and count each acknowledged request once", async () => {
    const first = await used();
    const urls = [first.url];
    const failed: number[] = [];
    let [accepted, isStopped] = [0, false];
    const client = async (_: unknown, n: number) => {
      for (let turn = n; !isStopped; turn += 1) {
        const status = await statusOf(urls[turn % urls.length] as string, first.keys.one).catch(() => 0);
        if (status === 200) accepted += 1;
        else failed.push(status);
      }
    };
    const traffic = Promise.all(Array.from({ length: 4 }, client));
    const moreTraffic = async () => {
      const before = accepted;
      await expect.poll(() => accepted).toBeGreaterThan(before + 20);
    };
    const made: { base_url: string; keys: { one: string } }[] = [first.instance];
    /** A new replica joins, gets an instance, and takes the traffic of those that leave. */
    const replace = async (leaving: readonly { stop: () => Promise<unknown> }[], ...argv: string[]) => {
      const next = start(...argv);
      const url = await baseUrl(next);
      urls.push(url);
      await moreTraffic();
      made.push((await call(url, "POST /instances", {})).body.data);
      urls.splice(0, leaving.length);
      await Promise.all(leaving.map((one) => one.stop()));
      await moreTraffic();
      return next;
    };
    writeFileSync(join(cwd, "a.yaml"), bank(`${one}, ${two}`));
    const second = await replace([first], "--migrate");
    const third = await replace([], "--migrate");
    writeFileSync(join(cwd, "a.yaml"), bank(one));
    await replace([second, third]);
    isStopped = true;
    await traffic;

    // A request whose server has just left may have no response.
    expect(failed.filter((status) => status !== 0)).toEqual([]);
    const [url = ""] = urls;
    const listed = (await call(url, "GET /keys")).body.data as { ref: string; usage: { today: number } }[];
    expect(listed.map(({ ref }) => ref)).toEqual(["one", "made", "two"]);
    const { today } = (listed[0] as (typeof listed)[number]).usage;
    expect(today).toBeGreaterThanOrEqual(accepted);
    expect(today).toBeLessThanOrEqual(accepted + failed.length);
    for (const { base_url, keys } of made)
      expect(await statusOf(url + new URL(base_url).pathname, keys.one)).toBe(200);
  });

  test("--migrate changes --instance-ttl and --max-instances, and a server with the old values continues", async () => {
    const first = await used();
    const flags = ["--instance-ttl", "30d", "--max-instances", "5"];
    const rejected = await start(...flags).done;
    expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringContaining("Add --migrate")]);
    const next = start(...flags, "--migrate");
    const url = await baseUrl(next);
    expect(next.stderr.text()).toContain(
      'Migrated from --max-instances 1000 and --instance-ttl "1h" to --max-instances 5 and --instance-ttl "30d".',
    );
    expect(await statusOf(url, first.made)).toBe(200);
    expect(await statusOf(await baseUrl(start()), first.made)).toBe(200);
    await statusOf(`${url}/i/${first.instance.id}`, first.instance.keys.one);
    const left = Number(await redis.command("PTTL", `{svc-sandbox:}:${first.instance.id}:state`));
    expect(left).toBeGreaterThan(29 * 86_400_000);
  });

  test("of an earlier layout is rejected with what to do, and --import replaces it", async () => {
    const { url, made } = await used();
    expect((await runCli(["export", url, "-o", "backup.json"], { cwd })).code).toBe(0);
    const own = await startRedis();
    onTestFinished(own.close);
    const earlier = ["{svc-sandbox:}:meta", "{svc-sandbox:a1B2c3D4e5F6}:instance:log"];
    const others = ["{svc-sandbox:mine:}:meta", "{svc-sandbox:mine:a1B2c3D4e5F6}:instance:log"];
    for (const key of [...earlier, ...others]) await own.command("SET", key, "a");
    const open = (...argv: string[]) => serve(["a.yaml", "--store", own.url, ...argv], { cwd });
    const { code, stderr } = await open().done;
    expect(code).toBe(2);
    expect(stderr.replaceAll(/\s+/g, " ")).toMatch(
      /its key "\{svc-sandbox:.*" belongs to a sandbox of svc-sandbox 0\.1, and svc-sandbox 1\.0\.0-next\.1 cannot read it\. Run svc-sandbox export .* --import backup\.json/,
    );
    const next = await baseUrl(open("--import", "backup.json"));
    expect(await statusOf(next, made)).toBe(200);
    const left = (await own.command("KEYS", "*")) as string[];
    expect(left.filter((key) => [...earlier, ...others].includes(key)).sort()).toEqual(others.sort());
  });

  test("--migrate rejects a scenario that has lost a key, and the sandbox stays as it is", async () => {
    const first = await used();
    writeFileSync(join(cwd, "a.yaml"), bank(two));
    const { code, stderr } = await start("--migrate").done;
    expect([code, stderr]).toEqual([2, expect.stringContaining('"organizations.a-bank.keys.one" differs')]);
    expect(await statusOf(first.url, first.keys.one)).toBe(200);
    writeFileSync(join(cwd, "a.yaml"), bank(one));
    expect(await statusOf(await baseUrl(start()), first.made)).toBe(200);
  });

  test.each([
    ["1.0.0-next.0", "--migrate", 'Migrated from version "1.0.0-next.0" to version "1.0.0-next.1".'],
    ["1.0.0-next.0", "--frozen", 'version "1.0.0-next.0"'],
    ["2.0.0", "--migrate", 'version "2.0.0"'],
    ["1.1.0", "--migrate", 'version "1.1.0"'],
  ])("a log of version %s with %s: %s", async (version, flag, said) => {
    await (await used()).stop();
    const founding = String(await redis.command("HGET", meta, "founding")).replace("1.0.0-next.1", version);
    await redis.command("HSET", meta, "founding", founding);
    const running = start(flag);
    await running.stderr.shows(/\n/);
    const isMigrated = said.startsWith("Migrated");
    if (isMigrated) await baseUrl(running);
    else expect((await running.done).code).toBe(2);
    expect(running.stderr.text()).toContain(said);
    expect(await redis.command("HGET", meta, "previous")).toBe(isMigrated ? founding : null);
  });
});
