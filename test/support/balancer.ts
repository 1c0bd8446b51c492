import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missing, programPath } from "./programs.js";
import { freePort } from "./redis-server.js";

export const noBalancer = missing("haproxy");

/** A load balancer that gives each request to the next server. */
export interface Balancer {
  readonly port: number;
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts HAProxy in front of servers on these ports of this machine; it asks each whether it is ready if `checks`. */
export async function startBalancer(ports: readonly number[], { checks = false } = {}): Promise<Balancer> {
  const program = programPath("haproxy");
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-balancer-"));
  const port = await freePort();
  const file = join(folder, "haproxy.cfg");
  const check = checks ? " check inter 100ms fall 1 rise 1" : "";
  const servers = [
    ...(checks ? ["  option httpchk GET /__sandbox/ready"] : []),
    ...ports.map((one, index) => `  server replica${index} 127.0.0.1:${one}${check}`),
  ];
  writeFileSync(file, [...settings(port), ...servers, ""].join("\n"));
  const child = spawn(program, ["-f", file, "-db", "-q"], { stdio: ["ignore", "inherit", "inherit"] });
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`HAProxy ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const settings = (port: number) => [
  "defaults",
  "  mode http",
  "  option accept-invalid-http-request",
  "  option redispatch",
  "  retries 3",
  "  timeout connect 5s",
  "  timeout client 60s",
  "  timeout server 60s",
  "frontend all",
  `  bind 127.0.0.1:${port}`,
  "  default_backend replicas",
  "backend replicas",
  "  balance roundrobin",
];

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.on("connect", () => end(true)).on("error", () => end(false));
  });
}
