import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { stringify } from "yaml";
import { firstLine, root } from "../scripts/run-program.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";

export type ServerOrder = Readonly<{ headers: readonly string[]; body: string }>;

/** Sent by a server once it accepts requests; a bare one has no keys. */
export type ServerReady = Readonly<{ port: number; keys: readonly string[] }>;

/** One round, sent to the client: a number of requests, each with the next key; each must get 200. */
export interface ClientOrder extends Readonly<Record<"port" | "connections" | "requests", number>> {
  readonly keys: readonly string[];
}

/** The results of one round; 99% of the responses took at most `p99` milliseconds. */
export type ClientReading = Readonly<{ perSecond: number; p99: number }>;

export interface Bundle {
  readonly server: string;
  readonly client: string;
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

export async function bundlePrograms(): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-bench-"));
  const bundle = await rolldown({
    cwd: root,
    input: { server: "bench/server.ts", client: "bench/client.ts" },
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
  });
  await bundle.close();
  const [server, client] = [join(folder, "server.mjs"), join(folder, "client.mjs")];
  return { server, client, folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A scenario for the bench: five keys for each organization, none of them ever rate-limited. */
export function benchScenario(keys: number): Scenario {
  const limits = { per_minute: 1e9, per_day: 1e9 };
  const organizations: NonNullable<Scenario["organizations"]> = {};
  for (let i = 0; i < keys; i += 5) {
    const refs = Array.from({ length: Math.min(5, keys - i) }, (_, k) => `key-${i + k}`);
    const key = { environment: "test", name: "Core banking", limits } as const;
    const own = Object.fromEntries(refs.map((ref) => [ref, key]));
    organizations[`organization-${i / 5}`] = { name: "Harvest Cooperative Bank", type: "bank", keys: own };
  }
  return { version: 1, name: "Bench", organizations };
}

export async function scenarioFile({ folder }: Pick<Bundle, "folder">, scenario: Scenario): Promise<string> {
  const file = join(folder, `${performance.now()}.yaml`);
  await writeFile(file, stringify(scenario));
  return file;
}

export interface ServerChild extends ServerReady {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** A client in its own process, so that it shares no event loop with a server. */
export interface ClientChild {
  readonly load: (order: ClientOrder) => Promise<ClientReading>;
  readonly stop: () => Promise<void>;
}

export const commandFile = join(root, "bin/svc-sandbox.js");

/** The environment of a child, without variables of other tools that make a start slow. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...environment } = process.env;
  return environment;
}

/** Starts a bare server; resolves once it accepts requests. */
export async function startServer(file: string, order: ServerOrder): Promise<ServerChild> {
  const child = fork(file, { execArgv: [], env: childEnvironment() });
  const ready = (await ask(child, order)) as ServerReady;
  return { ...ready, pid: child.pid as number, stop: () => stop(child) };
}

/** Runs `svc-sandbox start` with its default settings but no log, and these flags; resolves once it accepts requests. */
export async function startCommand(scenario: string, flags: readonly string[] = [], command = commandFile) {
  const argv = [command, "start", scenario, "--port", "0", "--json", "--log", "off", ...flags];
  const child = spawn(process.execPath, argv, { env: childEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  // A bench that fails must not leave its servers behind.
  const orphaned = () => child.kill();
  process.once("exit", orphaned);
  child.once("exit", () => process.off("exit", orphaned));
  const { base_url, keys } = JSON.parse(await firstLine(child));
  const port = Number(new URL(base_url).port);
  return { port, keys: Object.values<string>(keys), pid: child.pid as number, stop: () => stop(child) };
}

export function startClient(file: string): ClientChild {
  const child = fork(file, { execArgv: [], env: childEnvironment() });
  return { load: (order) => ask(child, order) as Promise<ClientReading>, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

function ask(child: ChildProcess, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a child process ended with code ${code}`));
    child.once("exit", onExit);
    child.once("message", (reply) => {
      child.off("exit", onExit);
      resolve(reply);
    });
    child.send(question, (error) => error !== null && reject(error));
  });
}
