import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { exchange } from "../../test/support/exchange.js";
import { startProxy, type TcpProxy } from "../../test/support/tcp-proxy.js";
import { firstLine, root } from "../run-program.js";

/** Megabytes of a container, and of the heap that Node gives itself there. */
const container = 256;
const heap = 128;
/** Milliseconds within which each call has a response or a closed connection, also while something fails. */
const patience = 15_000;

/** A process of the built product that reaches Redis through its own proxy. */
export interface Server {
  /** Changes with each start. */
  readonly url: () => string;
  readonly proxy: TcpProxy;
  /** The secret of a key without a limit. */
  readonly probeKey: () => string;
  /** Starts it again; resolves when it accepts requests. */
  readonly start: () => Promise<void>;
  readonly stop: (signal: "SIGTERM" | "SIGKILL") => Promise<void>;
  readonly signal: (name: "SIGSTOP" | "SIGCONT") => void;
}

/** Starts a server in the memory of a small container. `problems` gets what is wrong with it at any time. */
export async function startServer(
  scenario: string,
  redisPort: number,
  problems: Set<string>,
): Promise<Server> {
  const proxy = await startProxy(redisPort);
  const argv = [
    `--max-old-space-size=${heap}`,
    join(root, "bin/svc-sandbox.js"),
    "start",
    scenario,
    "--port",
    "0",
    "--json",
    "--log",
    "off",
    "--drain",
    "1s",
    "--store",
    `redis://127.0.0.1:${proxy.port}`,
  ];
  let child: ChildProcess;
  let isStopping = false;
  let [url, probeKey] = ["", ""];
  const start = async () => {
    isStopping = false;
    const { PATH, HOME } = process.env;
    child = spawn(process.execPath, argv, { env: { PATH, HOME }, stdio: ["ignore", "pipe", "pipe"] });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const found = text.split("\n").filter((line) => /defect|has lost data|Failed to start/.test(line));
      for (const line of found) problems.add(`a server printed: ${line}`);
    });
    child.once("exit", (code, signal) => {
      if (!isStopping) problems.add(`a server ended with ${code ?? signal}`);
    });
    const printed = JSON.parse(await firstLine(child));
    [url, probeKey] = [printed.base_url, printed.keys.probe];
  };
  await start();
  return {
    url: () => url,
    proxy,
    probeKey: () => probeKey,
    start,
    async stop(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      const memory = Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
      if (memory > container) problems.add(`a server took ${memory} MB, more than ${container}`);
      isStopping = true;
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
    signal: (name) => void child.kill(name),
  };
}

export interface Known {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: its reader knows what was asked
  readonly body: any;
}

/** What a client knows after a call. A text: why the outcome is unknown; `never`: it did not reach a server. */
export type Response = Known | string;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a call. A 503 is unknown: the store did not respond, but may have stored the operation. */
export async function ask(
  { url }: Server,
  call: string,
  given: Record<string, string> = {},
  body?: object,
): Promise<Response> {
  const [method = "", path = ""] = call.split(" ");
  const headers = body === undefined ? given : { ...given, "content-type": "application/json" };
  const signal = AbortSignal.timeout(patience);
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  try {
    const { status, bytes } = await exchange(url() + path, { method, headers, agent, signal, ...text });
    if (status === 503) return `503 ${bytes}`;
    if (status === 507 && call === "POST /__sandbox/instances") return "never";
    return { status, body: bytes.length === 0 ? undefined : JSON.parse(String(bytes)) };
  } catch (error) {
    if (signal.aborted) throw new Error(`${call} got no response within ${patience} ms`);
    const { code, message } = error as { code?: string; message: string };
    return code === "ECONNREFUSED" ? "never" : message;
  }
}
