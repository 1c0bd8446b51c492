import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { missing, programPath } from "./programs.js";

export const noRedis = missing("redis-server");

/** A Redis of a test's own, in a folder of its own. */
export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  /** Runs a command, and resolves to what it responses. */
  readonly command: (...argv: string[]) => Promise<unknown>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Ends it as a crash does, and starts it again on the same port and data. */
  readonly crash: () => Promise<void>;
  readonly restart: () => Promise<void>;
  /** All that it has written to its folder, as Latin-1. */
  readonly files: () => string;
  readonly close: () => Promise<void>;
}

/** Starts a Redis with these settings: `["--maxmemory", "1mb"]`. Default: everything is written to an append-only file. */
export async function startRedis(
  settings: readonly string[] = ["--appendonly", "yes", "--appendfsync", "always"],
  { password }: { readonly password?: string } = {},
): Promise<RedisServer> {
  const program = programPath("redis-server");
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-redis-"));
  const port = await freePort();
  const argv = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", ...settings];
  let child: ChildProcess;
  const start = async () => {
    child = spawn(program, argv, { stdio: ["ignore", "pipe", "inherit"] });
    let written = "";
    await new Promise<void>((resolve, reject) => {
      child.on("exit", (code) => reject(new Error(`Redis ended with ${code}:\n${written}`)));
      child.stdout?.setEncoding("utf8").on("data", (text) => {
        written += text;
        if (/Ready to accept connections/.test(written)) resolve();
      });
    });
  };
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGCONT");
    child.kill(signal);
    await gone;
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async command(...words) {
      const client = createClient({
        url: `redis://127.0.0.1:${port}`,
        RESP: 2,
        disableClientInfo: true,
        ...(password !== undefined && { password }),
        socket: { reconnectStrategy: false },
      });
      client.on("error", () => {});
      await client.connect();
      try {
        return await client.sendCommand(words);
      } finally {
        client.destroy();
      }
    },
    signal: (name) => void child.kill(name),
    crash: () => end("SIGKILL"),
    restart: start,
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => readFileSync(join(one.parentPath, one.name), "latin1"))
        .join(""),
    async close() {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A port on which nothing listens at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
