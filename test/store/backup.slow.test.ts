import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findKeys } from "../../src/rules/redact.js";
import { control } from "../support/call-control.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.js";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const bank = (keys: string) => `version: 1\norganizations:\n  a-bank: { type: bank, keys: { ${keys} } }\n`;
const one = "one: { environment: test, limits: { per_minute: 100000, per_day: 100000 } }";

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
    expect(JSON.parse(text).instances).toMatchObject([{ id: first.instance.id, sandbox: { recorded: 1 } }]);

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
    [
      "pretty",
      /^GET \/v1\/relying-party\/me {2}503 store_unavailable {2}by client: Failed to use the store/m,
    ],
    ["json", /"action":"GET \/v1\/relying-party\/me","message":"Failed to use the store/],
  ])("a request that gets 503 is in the log with --log %s", async (log, line) => {
    const running = start("--log", log);
    const url = await baseUrl(running);
    redis.signal("SIGSTOP");
    expect(await statusOf(url, "SVC_test_any")).toBe(503);
    await running.stderr.shows(line);
    expect(running.stderr.text()).not.toContain("SVC_test_any");
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
    const second = await replace([first], "--instance-ttl", "2h");
    const third = await replace([], "--instance-ttl", "2h");
    await replace([second, third]);
    isStopped = true;
    await traffic;

    // A request whose server has just left may have no response.
    expect(failed.filter((status) => status !== 0)).toEqual([]);
    const [url = ""] = urls;
    const listed = (await call(url, "GET /keys")).body.data as { ref: string; usage: { today: number } }[];
    expect(listed.map(({ ref }) => ref)).toEqual(["one", "made"]);
    const { today } = (listed[0] as (typeof listed)[number]).usage;
    expect(today).toBeGreaterThanOrEqual(accepted);
    expect(today).toBeLessThanOrEqual(accepted + failed.length);
    for (const { base_url, keys } of made)
      expect(await statusOf(url + new URL(base_url).pathname, keys.one)).toBe(200);
  });

  test("another --instance-ttl and --max-instances continue it, and a server with the old values as well", async () => {
    const first = await used();
    const next = start("--instance-ttl", "30d", "--max-instances", "5");
    const url = await baseUrl(next);
    expect(await statusOf(url, first.made)).toBe(200);
    expect(await statusOf(await baseUrl(start()), first.made)).toBe(200);
    await statusOf(`${url}/i/${first.instance.id}`, first.instance.keys.one);
    const left = Number(await redis.command("PTTL", `{svc-sandbox:}:${first.instance.id}:state`));
    expect(left).toBeGreaterThan(29 * 86_400_000);
  });
});
