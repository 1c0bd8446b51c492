import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type RedisServer, startRedis } from "../../test/support/redis-server.js";
import { startProxy, type TcpProxy } from "../../test/support/tcp-proxy.js";
import { firstLine, root } from "../run-program.js";
import { historyScenario } from "./model.js";

const bin = join(root, "bin/svc-sandbox.js");

/** A process of the built product, which reaches Redis through its own proxy. */
export interface Process {
  readonly index: number;
  readonly url: string;
  readonly proxy: TcpProxy;
  /** Stops it with SIGSTOP for a number of milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
  /** Notes how long a response took since an instant, longer than a request may wait for the store and one second more. */
  readonly checkPromptness: (call: string, since: number) => void;
  /** Ends it as `kill -9` does. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address; resolves when it accepts requests. */
  readonly start: () => Promise<void>;
}

export interface Replicas {
  readonly redis: RedisServer;
  readonly all: readonly Process[];
  readonly probeKey: string;
  readonly complaints: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** Starts them, on a Redis with an append-only file. `storeTimeout`: how many milliseconds a request waits for it. */
export async function startReplicas(fsync: string, storeTimeout: number): Promise<Replicas> {
  const redis = await startRedis(["--appendonly", "yes", "--appendfsync", fsync]);
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-histories-"));
  const file = join(folder, "histories.json");
  writeFileSync(file, JSON.stringify(historyScenario()));
  const complaints: string[] = [];
  let probeKey = "";

  const startProcess = async (index: number): Promise<Process> => {
    const [proxy, port] = await Promise.all([startProxy(redis.port), freePort()]);
    const argv = [
      ...[bin, "start", file, "--port", String(port), "--json", "--log", "off"],
      ...["--store", `redis://127.0.0.1:${proxy.port}`, "--store-timeout", `${storeTimeout}ms`],
    ];
    const { PATH, HOME } = process.env;
    let child: ChildProcess;
    let isEnding = false;
    const pauses: { readonly from: number; readonly to: number }[] = [];
    const start = async () => {
      isEnding = false;
      child = spawn(process.execPath, argv, { env: { PATH, HOME }, stdio: ["ignore", "pipe", "pipe"] });
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        const found = text.split("\n").filter((line) => /defect|has lost data|Failed to start/.test(line));
        complaints.push(...found.map((line) => `replica ${index}: ${line}`));
      });
      child.once("exit", (code, signal) => {
        if (!isEnding) complaints.push(`replica ${index} ended with ${code ?? signal}`);
      });
      probeKey = JSON.parse(await firstLine(child)).keys.probe;
    };
    await start();
    return {
      ...{ index, proxy, start },
      url: `http://127.0.0.1:${port}`,
      async pause(ms) {
        const from = performance.now();
        child.kill("SIGSTOP");
        await sleep(ms);
        child.kill("SIGCONT");
        pauses.push({ from, to: performance.now() });
      },
      checkPromptness(call, since) {
        // A stopped process responds to nobody.
        const during = pauses.filter(({ to }) => to > since);
        const paused = during.reduce((sum, { from, to }) => sum + to - from, 0);
        const waited = performance.now() - since - paused;
        if (waited > storeTimeout + 1000)
          complaints.push(`${call} to replica ${index} took ${waited.toFixed(0)} ms`);
      },
      async kill() {
        isEnding = true;
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
      },
    };
  };
  const all = await Promise.all([0, 1, 2].map(startProcess));
  return {
    ...{ redis, all, probeKey },
    complaints: () => complaints,
    async close() {
      await Promise.all(all.map((one) => one.kill()));
      for (const { proxy } of all) proxy.close();
      await redis.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
