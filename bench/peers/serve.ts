import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { exchange as send } from "../../test/support/exchange.js";
import { freePort } from "../../test/support/redis-server.js";
import { childEnvironment } from "../programs.js";
import { type Exchange, faultOf, type Job, path } from "./job.js";
import type { Peer } from "./peers.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const patience = 120_000;

/** Writes a peer's files and starts it. Resolves at its first correct response. */
export async function serve(peer: Peer, job: Job) {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-peer-"));
  const port = await freePort();
  for (const [file, text] of Object.entries(peer.files(job, port))) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const [program, ...argv] = peer.command(port).map(inPlace);
  const started = performance.now();
  const child = spawn(program as string, argv, {
    cwd: folder,
    env: { ...childEnvironment(), NODE_ENV: "production" },
    // Its own group, which is measured and ended as a whole.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A bench that fails must not leave its peers behind.
  const kill = () => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (isRunning && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", kill);
  const ended = new Promise((resolve) => child.once("close", resolve));
  let printed = "";
  const keep = (text: Buffer | Error) => {
    printed = (printed + text).slice(-4000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", keep);
  const stop = async () => {
    kill();
    process.off("exit", kill);
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await firstCorrect(child, job.exchanges[0] as Exchange, port);
  } catch (error) {
    await stop();
    throw new Error(`${peer.title}: ${(error as Error).message}\n${printed}`);
  }
  return { port, firstResponse: performance.now() - started, memory: () => memoryOf(child), stop };
}

function inPlace(word: string): string {
  if (word === "node") return process.execPath;
  return word.replace(/^modules\//, `${here}node_modules/`);
}

async function firstCorrect(child: ChildProcess, exchange: Exchange, port: number): Promise<void> {
  let fault: string | undefined = "it did not listen";
  for (const until = performance.now() + patience; performance.now() < until; await wait(2)) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error("ended before it responded");
    const response = await ask(exchange, port).catch(() => undefined);
    if (response === undefined) continue;
    fault = faultOf(exchange, response);
    if (fault === undefined) return;
  }
  throw new Error(`no correct response in ${patience / 1000} s: ${fault}`);
}

export interface Response {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly isChunked: boolean;
  readonly closes: boolean;
}

const agent = new Agent({ keepAlive: true });

export async function ask(exchange: Exchange, port: number): Promise<Response> {
  const headers = { "x-api-key": exchange.key };
  const signal = AbortSignal.timeout(10_000);
  const got = await send(`http://127.0.0.1:${port}${path}`, { headers, agent, signal });
  return {
    status: got.status,
    type: got.headers["content-type"] ?? "",
    body: got.bytes.toString(),
    isChunked: got.headers["transfer-encoding"] === "chunked",
    closes: got.headers.connection === "close",
  };
}

function memoryOf({ pid }: ChildProcess): number {
  const rows = execFileSync("ps", ["-A", "-o", "pgid=,rss="], { encoding: "utf8" }).trim().split("\n");
  const sizes = rows.map((row) => row.trim().split(/\s+/).map(Number)).filter(([group]) => group === pid);
  return sizes.reduce((sum, [, kilobytes = 0]) => sum + kilobytes * 1024, 0);
}
