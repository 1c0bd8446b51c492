import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { ClientOrder, ClientReading, ServerOrder, ServerReading, ServerReady } from "./messages.js";

/** A server in a process of its own. */
export interface ServerChild extends ServerReady {
  readonly read: () => Promise<ServerReading>;
  readonly stop: () => Promise<void>;
}

/** A client in a process of its own, so that it shares no event loop with a server. */
export interface ClientChild {
  readonly load: (order: ClientOrder) => Promise<ClientReading>;
  readonly stop: () => Promise<void>;
}

/** The environment of a child: without what makes a start slow and has nothing to do with us. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...environment } = process.env;
  return environment;
}

/** Starts a server; resolves once it accepts requests. */
export async function startServerChild(
  file: string,
  node: string,
  order: ServerOrder,
  execArgv: readonly string[] = [],
): Promise<ServerChild> {
  const child = fork(file, { execPath: node, execArgv: [...execArgv], env: childEnvironment() });
  const ready = (await ask(child, order)) as ServerReady;
  return { ...ready, quit: () => child.send("quit"), read: () => ask(child, "read") as Promise<ServerReading>, stop: () => stop(child) };
}

/** Starts a client. It runs on the bench's own Node, whichever Node runs the servers. */
export function startClientChild(file: string): ClientChild {
  const child = fork(file, { execArgv: [], env: childEnvironment() });
  return { load: (order) => ask(child, order) as Promise<ClientReading>, stop: () => stop(child) };
}

async function ask(child: ChildProcess, question: object | string): Promise<unknown> {
  const gone = new AbortController();
  const exited = once(child, "exit", { signal: gone.signal }).then(([code]) => {
    throw new Error(`a child process ended with code ${code}`);
  });
  const answered = once(child, "message", { signal: gone.signal }).then(([answer]) => answer);
  child.send(question);
  try {
    return await Promise.race([answered, exited]);
  } finally {
    exited.catch(() => {});
    gone.abort();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}
