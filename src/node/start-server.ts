import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SandboxError } from "../domain/sandbox-error.js";
import type { World } from "../sandbox/world.js";
import { baseUrlOf, isLoopback } from "./address.js";
import { controlPath, createHttpServer } from "./http-server.js";

/** How to serve a world. */
export interface ServeOptions {
  /** Default: 4747. 0 takes any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Whether API answers carry `X-Sandbox-Path`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, else a random one. */
  readonly controlToken?: string;
  /** Called with a defect of the sandbox itself. Default: ignored; the client gets a 500. */
  readonly onDefect?: (error: unknown) => void;
}

/** A server that accepts requests. */
export interface RunningServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** `undefined` when the control plane is off. */
  readonly controlUrl: string | undefined;
  /** The bearer token that the control plane asks for; `undefined` when it asks for none. */
  readonly controlToken: string | undefined;
  readonly world: () => World;
  /** Puts another world in the place of this one, between two requests. */
  readonly exchange: (world: World) => void;
  /** Stops accepting; open requests have `grace` milliseconds (default 2000) to finish. */
  readonly close: (grace?: number) => Promise<void>;
}

export const defaultPort = 4747;
export const defaultHost = "127.0.0.1";
const defaultGrace = 2000;

/**
 * Serves a world on a socket; resolves once requests are accepted.
 *
 * Throws `address_in_use` or `address_unavailable`.
 */
export async function serveWorld(first: World, options: ServeOptions = {}): Promise<RunningServer> {
  const { port = defaultPort, host = defaultHost, explain = false, onDefect = () => {} } = options;
  let current = first;
  let control: ControlHandler | undefined;
  const server = createHttpServer({
    world: () => current,
    explain,
    onDefect,
    ...(options.control !== false && { control: (request, response) => control?.(request, response) }),
  });
  const address = await listen(server, port, host);
  const open = isLoopback(address);
  const controlToken = options.controlToken ?? (open ? undefined : randomBytes(24).toString("base64url"));
  control = lazyControl({ world: () => current, loopback: open, token: controlToken }, onDefect);
  const url = baseUrlOf(address);

  return {
    url,
    controlUrl: options.control === false ? undefined : url + controlPath,
    controlToken: options.control === false ? undefined : controlToken,
    world: () => current,
    exchange(world) {
      current = world;
    },
    close: (grace = defaultGrace) => close(server, grace),
  };
}

type ControlHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the control plane has to know. */
export interface ControlSurroundings {
  readonly world: () => World;
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean;
  readonly token: string | undefined;
}

// Express takes longer to load than everything else together, and most runs never ask for the control plane.
function lazyControl(surroundings: ControlSurroundings, onDefect: (error: unknown) => void): ControlHandler {
  let loading: Promise<ControlHandler> | undefined;
  return (request, response) => {
    loading ??= import("./control/app.js").then(({ createControlApp }) =>
      createControlApp(surroundings, onDefect),
    );
    loading.then((app) => app(request, response)).catch(onDefect);
  };
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, port, host)));
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): SandboxError {
  const where = `port ${port} on ${host}`;
  if (error.code === "EADDRINUSE") {
    return new SandboxError(
      "address_in_use",
      `Failed to listen on ${where}: another program uses it. Choose another with --port, or any free one with --port 0.`,
      { port, host },
    );
  }
  const reason =
    error.code === "EACCES" ? "this user may not use that port" : `no such address here (${error.code})`;
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on ${where}: ${reason}. Choose another with --port or --host.`,
    { port, host },
  );
}

function close(server: Server, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), grace);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
