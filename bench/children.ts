import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type {
  ClientOrder,
  ClientReading,
  FarmersOrder,
  FarmersReading,
  LibraryOrder,
  LibraryReading,
  ServerOrder,
  ServerReady,
} from "./messages.js";

/** A server in a process of its own. */
export interface ServerChild extends ServerReady {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** A server that tells its memory. */
export interface MeasuredServer extends ServerChild {
  /** Bytes in use after a full collection; the server must have been started with `--expose-gc`. */
  readonly heapUsed: () => Promise<number>;
}

/** A client in a process of its own, so that it shares no event loop with a server. */
export interface ClientChild {
  readonly load: (order: ClientOrder) => Promise<ClientReading>;
  readonly stop: () => Promise<void>;
}

/** The library in a process of its own. */
export interface LibraryChild {
  readonly measure: (order: LibraryOrder) => Promise<LibraryReading>;
  readonly stop: () => Promise<void>;
}

/** The maker of farmers in a process of its own. */
export interface FarmersChild {
  readonly measure: (order: FarmersOrder) => Promise<FarmersReading>;
  readonly stop: () => Promise<void>;
}

/** The environment of a child: without what makes a start slow and has nothing to do with us. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...environment } = process.env;
  return environment;
}

/** Starts a server on the given Node; resolves once it accepts requests. */
export async function startServer(
  file: string,
  node: string,
  order: ServerOrder,
  flags: readonly string[] = [],
): Promise<MeasuredServer> {
  const child = fork(file, { execPath: node, execArgv: [...flags], env: childEnvironment() });
  const ready = (await ask(child, order)) as ServerReady;
  return {
    ...ready,
    pid: child.pid as number,
    heapUsed: () => ask(child, "heap") as Promise<number>,
    stop: () => stop(child),
  };
}

/** Starts a client. It runs on the bench's own Node, whichever Node runs the servers. */
export function startClient(file: string): ClientChild {
  const child = fork(file, { execArgv: [], env: childEnvironment() });
  return { load: (order) => ask(child, order) as Promise<ClientReading>, stop: () => stop(child) };
}

/** Starts the program that uses the library, on the given Node. */
export function startLibrary(file: string, node: string): LibraryChild {
  const child = fork(file, { execPath: node, execArgv: ["--expose-gc"], env: childEnvironment() });
  return { measure: (order) => ask(child, order) as Promise<LibraryReading>, stop: () => stop(child) };
}

/** Starts the program that makes farmers, on the given Node. */
export function startFarmers(file: string, node: string): FarmersChild {
  const child = fork(file, { execPath: node, execArgv: [], env: childEnvironment() });
  return { measure: (order) => ask(child, order) as Promise<FarmersReading>, stop: () => stop(child) };
}

/** Ends a child process that this bench started; resolves when it is gone. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

function ask(child: ChildProcess, question: object | string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a child process ended with code ${code}`));
    child.once("exit", onExit);
    child.once("message", (answer) => {
      child.off("exit", onExit);
      resolve(answer);
    });
    child.send(question, (error) => {
      if (error !== null) reject(error);
    });
  });
}
