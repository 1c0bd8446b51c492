import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { fileURLToPath } from "node:url";
import { exchange, type Incoming, type Outgoing } from "../../test/support/exchange.js";
import { freePort } from "../../test/support/redis-server.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Megabytes of a container, and of the heap that Node gives itself there. */
const container = 256;
const heap = 128;

/** A process of the built product that has as much memory as a container of 256 MB. */
export interface Server {
  readonly url: string;
  readonly controlUrl: string;
  /** The secrets of the scenario, by ref. */
  readonly keys: Readonly<Record<string, string>>;
  /** How it ended without being asked, or passed its memory; `undefined` if it is sound. */
  readonly problem: () => string | undefined;
  /** The most memory that it had, in megabytes. */
  readonly peak: () => number;
  /** What it printed about its own state. */
  readonly notes: () => string;
  /** Ends it as a rolling update does. */
  readonly stop: () => Promise<void>;
}

export interface ServerOptions {
  /** The folder of the built product. Default: this one. */
  readonly product?: string;
  /** Default: a free one. */
  readonly port?: number;
}

const running = new Set<() => Promise<void>>();

/** Starts a server; resolves when it accepts requests. */
export async function startServer(
  argv: readonly string[],
  { product = root, port }: ServerOptions = {},
): Promise<Server> {
  const own = String(port ?? (await freePort()));
  const bin = `${product}/bin/svc-sandbox.js`;
  const all = [bin, "start", ...argv, "--port", own, "--json", "--log", "off"];
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, ...all], {
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let notes = "";
  let peak = 0;
  let ending: string | undefined;
  let isStopping = false;
  child.stderr.setEncoding("utf8").on("data", (text) => {
    notes += text;
  });
  const look = () => {
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(statusOf(child.pid))?.[1] ?? 0);
    peak = Math.max(peak, Math.round(kilobytes / 1024));
  };
  const looking = setInterval(look, 200);
  const gone = once(child, "exit").then(([code, signal]) => {
    clearInterval(looking);
    if (!isStopping) ending = `a server ended with ${code ?? signal}: ${notes.slice(-300)}`;
  });
  const stop = async () => {
    isStopping = true;
    running.delete(stop);
    child.kill("SIGTERM");
    await gone;
  };
  running.add(stop);
  const line = await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), gone]);
  if (line === undefined) throw new Error(ending);
  const { base_url, control_url, keys } = JSON.parse(String(line[0]));
  return {
    ...{ url: base_url, controlUrl: control_url, keys, stop },
    peak: () => peak,
    notes: () => notes,
    problem: () =>
      ending ?? (peak > container ? `a server took ${peak} MB, more than ${container}` : undefined),
  };
}

/** Ends every server that still runs. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()));
}

function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a request over a connection that stays open; resolves to `undefined` for one that got no response. */
export async function send(url: string, options: Outgoing = {}): Promise<Incoming | undefined> {
  return exchange(url, { agent, signal: AbortSignal.timeout(30_000), ...options }).catch(() => undefined);
}

/** Runs many jobs, 32 at a time. */
export async function inParallel(count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    for (; next < count; ) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
}
