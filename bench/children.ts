import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { ClientOrder, ClientReading, ServerOrder, ServerReady } from "./messages.js";

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
export const commandFile = fileURLToPath(new URL("../bin/svc-sandbox.js", import.meta.url));

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
  const ended = new AbortController();
  child.once("exit", () => {
    process.off("exit", orphaned);
    ended.abort();
  });
  const notes = text(child.stderr);
  try {
    const [line] = await once(createInterface({ input: child.stdout }), "line", { signal: ended.signal });
    const { base_url, keys } = JSON.parse(line) as { base_url: string; keys: Record<string, string> };
    const port = Number(new URL(base_url).port);
    return { port, keys: Object.values(keys), pid: child.pid as number, stop: () => stop(child) };
  } catch {
    throw new Error(`svc-sandbox did not start: ${await notes}`);
  }
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
