import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../children.js";
import { commandFile } from "../command.js";
import { type Exchange, faultOf, type Job, path } from "./job.js";
import type { Peer } from "./peer.js";

/** A peer that answers. */
export interface Served {
  readonly port: number;
  /** Milliseconds from the start of its command to its first right answer. */
  readonly firstAnswer: number;
  /** Bytes in memory (RSS) of its process and all that this started. */
  readonly memory: () => number;
  readonly stop: () => Promise<void>;
}

/** What a peer answered to one request of the job. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly isChunked: boolean;
  readonly closes: boolean;
}

const here = fileURLToPath(new URL(".", import.meta.url));
/** The packages of the peers. */
export const modules = join(here, "node_modules");

/** Milliseconds after which a peer that has not answered is given up. */
const patience = 120_000;

/** Writes a peer's files and starts it. Resolves at its first right answer; throws with what it printed when none comes. */
export async function serve(peer: Peer, job: Job, node: string): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), `svc-sandbox-peer-${peer.name}-`));
  const [port, spare] = await freePorts();
  for (const [file, text] of Object.entries(peer.files(job, port))) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const place = {
    node,
    folder,
    modules,
    programs: join(here, "programs"),
    sandbox: commandFile,
    port,
    spare,
  };
  const { program, argv } = peer.start(place, job);
  const started = performance.now();
  const child = spawn(program, argv, {
    cwd: folder,
    env: { ...childEnvironment(), NODE_ENV: "production" },
    // A group of its own, which is measured and ended as a whole.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A bench that fails must not leave its peers behind.
  const orphaned = () => signalGroup(child, "SIGKILL");
  process.once("exit", orphaned);
  child.once("exit", () => process.off("exit", orphaned));
  let printed = "";
  const keep = (text: Buffer) => {
    printed = (printed + text).slice(-4000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", keep);
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await rightAnswer(child, peer, job.exchanges[0] as Exchange, port);
  } catch (error) {
    await stop();
    throw new Error(`${peer.title}: ${(error as Error).message}\n${printed}`);
  }
  const firstAnswer = performance.now() - started;
  return { port, firstAnswer, memory: () => memoryOf(child), stop };
}

async function freePorts(): Promise<[number, number]> {
  const servers = [createServer().listen(0, "127.0.0.1"), createServer().listen(0, "127.0.0.1")];
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports as [number, number];
}

async function rightAnswer(child: ChildProcess, peer: Peer, exchange: Exchange, port: number): Promise<void> {
  const until = performance.now() + patience;
  let fault: string | undefined = "it did not listen";
  while (performance.now() < until) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error("ended before it answered");
    try {
      fault = faultOf(exchange, await ask(peer, exchange, port));
      if (fault === undefined) return;
    } catch {
      // It does not listen yet.
    }
    await wait(2);
  }
  throw new Error(`no right answer in ${patience / 1000} s: ${fault}`);
}

const agent = new Agent({ keepAlive: true });

/** Sends a request of the job. */
export function ask({ headerLine }: Peer, exchange: Exchange, port: number): Promise<Answer> {
  const [name = "", value = ""] = headerLine?.(exchange).split(": ") ?? [];
  const headers = { "x-api-key": exchange.key, ...(name !== "" && { [name]: value }) };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(10_000);
    get({ host: "127.0.0.1", port, path, headers, agent, signal }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => {
        body += text;
      });
      response.on("error", reject).on("end", () =>
        resolve({
          status: response.statusCode as number,
          type: response.headers["content-type"] ?? "",
          body,
          isChunked: response.headers["transfer-encoding"] === "chunked",
          closes: response.headers.connection === "close",
        }),
      );
    }).on("error", reject);
  });
}

function memoryOf({ pid }: ChildProcess): number {
  const rows = execFileSync("ps", ["-A", "-o", "pgid=,rss="], { encoding: "utf8" }).trim().split("\n");
  const sizes = rows.map((row) => row.trim().split(/\s+/).map(Number)).filter(([group]) => group === pid);
  return sizes.reduce((sum, [, kilobytes = 0]) => sum + kilobytes * 1024, 0);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  signalGroup(child, "SIGTERM");
  const killing = setTimeout(() => signalGroup(child, "SIGKILL"), 3000);
  await ended;
  clearTimeout(killing);
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}
