import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ControlCall } from "../../src/log/log.js";
import { runCall } from "../../src/server/control/routes/routes.js";
import { control } from "../support/call-control.js";
import { root } from "../support/pages.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { endingCall } from "../support/replica-program.js";
import { startReplica } from "../support/replicas.js";

/** Starts a replica as a process; resolves to its URL, or its exit code if it ends first. */
async function startProcess(redis: string) {
  const program = join(root, "test/support/replica-program.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program, redis], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code]) => code as number);
  const line = once(child.stdout, "data").then(([text]) => String(text).trim());
  return { ended, first: await Promise.race([line, ended]) };
}

describe.skipIf(noRedis !== undefined)("a stored entry that ends a process", () => {
  test("is skipped after three starts, and all servers continue without it", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    // A server that survives the entry: there, it advances the clock.
    const survivor = await startReplica(redis.url, "key-states", {
      frozen: false,
      runCall: (call, place) => {
        const advance: ControlCall = { ...call, route: "POST /clock/advance", body: { by: "30d" } };
        return runCall(call.route === endingCall ? advance : call, place);
      },
    });
    onTestFinished(() => survivor.close(0));
    const nowAt = async (url: string) => {
      const { body } = await control(`${url}/__sandbox`, "GET /clock");
      return Date.parse(body.data.now);
    };
    const before = await nowAt(survivor.url);
    const other = await startProcess(redis.url);
    expect(other.first).toMatch(/^http:/);

    const { log } = survivor;
    const call = {
      route: endingCall,
      actor: "administrator",
      params: {},
      query: {},
      body: {},
      isYaml: false,
    } as const;
    const from = { runtime: log.runtime, instance: undefined, baseUrl: () => survivor.url };
    await log.call(
      call,
      (place) => runCall({ ...call, route: "POST /clock/advance", body: { by: "30d" } }, place),
      from,
    );
    expect(await nowAt(survivor.url)).toBeGreaterThan(before + 29 * 86_400_000);
    await control(`${survivor.url}/__sandbox`, "POST /keys/active/revoke");

    expect(await other.ended).toBe(9);
    // The first start replays all entries, the second one after another.
    for (const _ of ["at once", "carefully"]) expect((await startProcess(redis.url)).first).toBe(9);
    const { first: url } = await startProcess(redis.url);
    expect(url).toMatch(/^http:/);
    const metrics = await (await fetch(`${url}/__sandbox/metrics`)).text();
    expect(metrics).toContain("\nsvc_sandbox_store_skipped_entries_total 1\n");
    for (const one of [String(url), survivor.url]) {
      expect((await control(`${one}/__sandbox`, "GET /health")).status).toBe(200);
      expect(await nowAt(one)).toBeLessThan(before + 86_400_000);
      const { body } = await control(`${one}/__sandbox`, "GET /keys/active");
      expect(body.data.state).toBe("revoked");
    }
  });
});
