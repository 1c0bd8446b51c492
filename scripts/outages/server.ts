import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { exchange, type Incoming, type Outgoing } from "../../test/support/exchange.js";
import { freePort } from "../../test/support/redis-server.js";
import { firstLine, root } from "../run-program.js";

/** Megabytes of a container, and of the heap that Node gives itself there. */
const container = 256;
const maxTries = 100;
const heap = 128;

export interface Server {
  readonly url: string;
  readonly controlUrl: string;
  /** The secrets of the scenario, by ref. */
  readonly keys: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
  /** Ends it as `kill -9` does. */
  readonly kill: () => Promise<void>;
}

const running = new Set<() => Promise<void>>();
let problems: string[] = [];
let peak = 0;

/** Starts a server with the heap of a container of 256 MB, of `product` and on a free port by default. */
export async function startServer(
  argv: readonly string[],
  { product = root, port }: { readonly product?: string; readonly port?: number } = {},
): Promise<Server> {
  const all = ["start", ...argv, "--port", String(port ?? (await freePort())), "--json", "--log", "off"];
  const { PATH, HOME } = process.env;
  const node = [`--max-old-space-size=${heap}`, `${product}/bin/svc-sandbox.js`];
  const child = spawn(process.execPath, [...node, ...all], { env: { PATH, HOME } });
  let isStopping = false;
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const looking = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid));
  }, 200);
  const gone = once(child, "exit").then(([code, signal]) => {
    clearInterval(looking);
    if (!isStopping) problems.push(`a server ended with ${code ?? signal}: ${stderr.slice(-300)}`);
  });
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    isStopping = true;
    running.delete(stop);
    child.kill(signal);
    await gone;
  };
  const stop = () => end("SIGTERM");
  running.add(stop);
  const { base_url: url, control_url: controlUrl, keys } = JSON.parse(await firstLine(child));
  return { url, controlUrl, keys, stop, kill: () => end("SIGKILL") };
}

/** Ends every server; returns what was wrong with any, and the most megabytes that one had. */
export async function stopServers() {
  await Promise.all([...running].map((stop) => stop()));
  const passed = peak > container ? [`a server took ${peak} MB, more than ${container}`] : [];
  const found = { problems: [...problems, ...passed], peak };
  problems = [];
  peak = 0;
  return found;
}

function memoryOf(pid: number | undefined): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a request; a body is JSON. Resolves to `undefined` for one that got no response. */
export async function send(
  url: string,
  { key, body }: { readonly key?: string | undefined; readonly body?: object } = {},
): Promise<Incoming | undefined> {
  const options: Outgoing = {
    ...{ agent, signal: AbortSignal.timeout(30_000) },
    ...(key !== undefined && { headers: { "x-api-key": key } }),
    ...(body !== undefined && {
      ...{ method: "POST", body: JSON.stringify(body) },
      headers: { "content-type": "application/json" },
    }),
  };
  return exchange(url, options).catch(() => undefined);
}

/** What a request got, after how many 503. */
export interface Patient {
  readonly response: Incoming | undefined;
  readonly unavailable: number;
}

/**
 * Sends a request again while it gets 503: on a busy machine, a store may respond too late. Each of them may have happened.
 */
export async function sendPatiently(...request: Parameters<typeof send>): Promise<Patient> {
  for (let unavailable = 0; ; unavailable += 1) {
    const response = await send(...request);
    if (response?.status !== 503 || unavailable === maxTries) return { response, unavailable };
    await sleep(100);
  }
}

export function dataOf(response: Incoming | undefined) {
  return JSON.parse(String(response?.bytes)).data;
}
