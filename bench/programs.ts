import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { stringify } from "yaml";
import { firstLine, root } from "../scripts/run-program.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";

/** The bytes that a bare server sends to any request, sent to it once. */
export interface ServerOrder {
  readonly headers: readonly string[];
  readonly body: string;
}

/** Sent by a server once it accepts requests. */
export interface ServerReady {
  readonly port: number;
  /** Its keys; none for a bare server. */
  readonly keys: readonly string[];
}

/** One round, sent to the client. */
export interface ClientOrder {
  readonly port: number;
  /** The paths in front of the API's; each request uses the next one. Default: none. */
  readonly bases?: readonly string[] | undefined;
  readonly connections: number;
  /** Each request uses the next one of them. */
  readonly keys: readonly string[];
  /** Ends after this many requests. */
  readonly requests: number;
  /** The status that each key must get; 200 for all of them when left out. */
  readonly statuses?: readonly number[] | undefined;
  /** The bytes at the end of every response, and nowhere before. Default: `}}}`. */
  readonly closing?: string | undefined;
}

/** The results of one round. */
export interface ClientReading {
  readonly perSecond: number;
  /** 99% of the responses took at most this many milliseconds. */
  readonly p99: number;
}

/** The programs that run in their own processes, as files that any Node can run. */
export interface Bundle {
  readonly server: string;
  readonly client: string;
  /** Their folder, which takes other files of a run as well. */
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/** Bundles the server and the client into the system's temporary folder. */
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
    // As the package's own build does.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
  });
  await bundle.close();
  return {
    server: join(folder, "server.mjs"),
    client: join(folder, "client.mjs"),
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A scenario for the bench: five keys for each organization, none of them ever rate-limited. */
export function benchScenario(keys: number): Scenario {
  const limits = { per_minute: 1e9, per_day: 1e9 };
  const organizations: NonNullable<Scenario["organizations"]> = {};
  for (let i = 0; i < keys; i += 5) {
    const refs = Array.from({ length: Math.min(5, keys - i) }, (_, k) => `key-${i + k}`);
    organizations[`organization-${i / 5}`] = {
      name: "Harvest Cooperative Bank",
      type: "bank",
      keys: Object.fromEntries(
        refs.map((ref) => [ref, { environment: "test", name: "Core banking", limits }]),
      ),
    };
  }
  return { version: 1, name: "Bench", organizations };
}

/** Writes a scenario as YAML; returns its path. */
export async function scenarioFile({ folder }: Pick<Bundle, "folder">, scenario: Scenario): Promise<string> {
  const file = join(folder, `${performance.now()}.yaml`);
  await writeFile(file, stringify(scenario));
  return file;
}

/** A server in its own process. */
export interface ServerChild extends ServerReady {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** A client in its own process, so that it shares no event loop with a server. */
export interface ClientChild {
  readonly load: (order: ClientOrder) => Promise<ClientReading>;
  readonly stop: () => Promise<void>;
}

/** The command as it is installed. */
export const commandFile = join(root, "bin/svc-sandbox.js");

/** The environment of a child, without variables of other tools that make a start slow. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...environment } = process.env;
  return environment;
}

/** Starts a bare server on the given Node; resolves once it accepts requests. */
export async function startServer(file: string, node: string, order: ServerOrder): Promise<ServerChild> {
  const child = fork(file, { execPath: node, execArgv: [], env: childEnvironment() });
  const ready = (await ask(child, order)) as ServerReady;
  return { ...ready, pid: child.pid as number, stop: () => stop(child) };
}

/**
 * Runs `svc-sandbox start` with its default settings but no log, and these flags; resolves once it accepts requests.
 */
export async function startCommand(
  node: string,
  scenario: string,
  flags: readonly string[] = [],
): Promise<ServerChild> {
  const argv = [commandFile, "start", scenario, "--port", "0", "--json", "--log", "off", ...flags];
  const child = spawn(node, argv, { env: childEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  // A bench that fails must not leave its servers behind.
  const orphaned = () => child.kill();
  process.once("exit", orphaned);
  child.once("exit", () => process.off("exit", orphaned));
  const { base_url, keys } = JSON.parse(await firstLine(child));
  const port = Number(new URL(base_url).port);
  return { port, keys: Object.values(keys), pid: child.pid as number, stop: () => stop(child) };
}

/** Starts a client. It runs on the bench's own Node, no matter which Node runs the servers. */
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
