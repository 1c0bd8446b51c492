import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { certificateName, hostToConnectTo, isLoopback } from "../node/addresses.js";
import { nodeCrypto, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { controlPath } from "../rules/request-path.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type AnyServer, closeServer } from "./sockets/connections.js";
import { createHttpServer } from "./sockets/http-server.js";
import { sendServerError } from "./sockets/send-response.js";
import {
  type ControlHandler,
  createServerState,
  type Hosting,
  type ServeOptions,
  type ServerState,
} from "./sockets/server-state.js";
import type { CertificatePair } from "./sockets/tls.js";

export interface RunningServer {
  /** `publicUrl`, or `localUrl` if that is not set. Without a slash at its end. */
  readonly url: string;
  /** The base URL for clients on this machine. */
  readonly localUrl: string;
  /** `undefined` if the control plane is off. */
  readonly controlUrl: string | undefined;
  /** The bearer token that the control plane requires; `undefined` if it requires none. */
  readonly controlToken: string | undefined;
  /** The certificate (PEM) that clients must trust; `undefined` for HTTP. */
  readonly certificate: string | undefined;
  /** Stops accepting requests; those in progress have `grace` milliseconds to finish. Default: 2000. */
  readonly close: (grace?: number) => Promise<void>;
}

const defaultHost = "127.0.0.1";

/** Milliseconds between two looks at what is due in the sandbox. */
const dueIntervalMs = 250;

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const backlog = 4096;

/** The bytes of a random control token. */
const tokenBytes = 24;

/** Serves a sandbox; resolves once it accepts requests. The caller closes the state file. Throws `state_unwritable`. */
export async function serve(sandbox: SandboxState, options: ServeOptions & Hosting): Promise<RunningServer> {
  const { port, host = defaultHost, control = true, program = "svc-sandbox", stateFile } = options;
  // Reports tell the user to run certify in the way that he started this program.
  if (options.program !== undefined) {
    sandbox.invocation = { ...sandbox.invocation, certify: `${program} certify` };
  }

  // What responds: the API, and the control plane under its path.
  const state = createServerState(sandbox, { onStop: () => void close(), ...options });
  const certificate = await certificateFor(state, options);
  if (control) state.control = mountControl(state);

  // What is known once it listens.
  const { server, open } = createHttpServer(state, certificate);
  const address = await listenOn(server, port, host, program);
  state.localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  state.loopback = isLoopback(address.address);
  // Other machines can call its control plane.
  if (!state.loopback) state.token ??= nodeCrypto.randomBytes(tokenBytes).toString("base64url");

  // Timelines also continue without requests.
  const dueTimer = timers.setInterval(() => tryToRunDue(sandbox), dueIntervalMs).unref();

  // `onStop` also calls it, with a call of the control plane, which comes later.
  async function close(grace = 2000): Promise<void> {
    state.stopping.abort();
    timers.clearInterval(dueTimer);
    await closeServer(server, open, grace);
  }

  try {
    stateFile?.begin();
  } catch (error) {
    await close(0);
    throw error;
  }

  const { localUrl, token } = state;
  const url = state.publicUrl ?? localUrl;
  return {
    url,
    localUrl,
    close,
    certificate: certificate?.cert,
    controlUrl: control ? url + controlPath : undefined,
    controlToken: control ? token : undefined,
  };
}

/** The certificate to serve HTTPS with, if any; then the commands that messages show accept it. */
async function certificateFor(
  { sandbox, allowedHosts }: ServerState,
  options: ServeOptions,
): Promise<CertificatePair | undefined> {
  const { tls = false, host = defaultHost } = options;
  if (tls === false) return undefined;

  sandbox.invocation = { ...sandbox.invocation, curlOptions: "-k" };
  // Most servers speak HTTP, and the certificates take long to load.
  const { certificatePair } = await import("./sockets/tls.js");
  return certificatePair(tls, [host, ...allowedHosts.map(certificateName)]);
}

/** The control plane. The first call loads it: Express takes longer to load than everything else, and most runs do not need it. */
function mountControl(state: ServerState): ControlHandler {
  let app: ControlHandler | undefined;

  const loadFor = async (request: IncomingMessage) => {
    // Pauses the connection while loading: otherwise all further data would be buffered.
    let isLoading = true;
    timers.nextTick(() => {
      if (isLoading) request.socket.pause();
    });
    try {
      const { createControlApp } = await import("./control/app.js");
      app ??= createControlApp(state);
      return app;
    } finally {
      isLoading = false;
      request.socket.resume();
    }
  };

  const loadAndCall: ControlHandler = async (request, response) => {
    try {
      const loaded = await loadFor(request);
      loaded(request, response);
    } catch (error) {
      state.onDefect(error);
      sendServerError(response, 500);
    }
  };

  return (request, response) => {
    if (app === undefined) loadAndCall(request, response);
    else app(request, response);
  };
}

/** Listens, and returns the address. Throws `address_in_use` or `address_unavailable`. */
async function listenOn(
  server: AnyServer,
  port: number,
  host: string,
  program: string,
): Promise<AddressInfo> {
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, backlog, () => resolve(undefined));
  });
  if (failure === undefined) return server.address() as AddressInfo;
  if (failure.code === "EADDRINUSE") throw await addressInUse(port, host, program);
  throw addressUnavailable(failure, port, host);
}

/** The error for a port in use, with the program that uses it, and how to stop that if it is a sandbox. */
async function addressInUse(port: number, host: string, program: string): Promise<SandboxError> {
  // Most starts find their port free, so they do not load the client.
  const { findListener } = await import("../node/clients/control-client.js");
  const listener = await findListener(`${hostToConnectTo(host)}:${port}`);

  const inUse = `Port ${port} on ${host} is in use by`;
  const fix = "Choose another port with --port, or any free one with --port 0.";
  if (listener.kind !== "sandbox") {
    return new SandboxError("address_in_use", `${inUse} another program. ${fix}`, { port, host });
  }

  const { sandbox } = listener;
  let who = `svc-sandbox ${sandbox.version}`;
  let stop = `${program} stop ${sandbox.url}`;
  // A sandbox that requires a token does not show its scenario.
  if (sandbox.scenario === undefined) stop += " --control-token <token>";
  else who += `, with the scenario ${sandbox.scenario} since ${sandbox.startedAt}`;
  const message = `${inUse} ${who}. ${fix} To stop it: ${stop}`;
  return new SandboxError("address_in_use", message, { port, host, sandbox });
}

function addressUnavailable(error: NodeJS.ErrnoException, port: number, host: string): SandboxError {
  const isForbidden = error.code === "EACCES";
  const reason = isForbidden ? "this user may not use that port" : `no such address here (${error.code})`;
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on port ${port} on ${host}: ${reason}. Choose another with --port or --host.`,
    { port, host },
  );
}

function baseUrlOf({ address, port }: AddressInfo, scheme: "http" | "https"): string {
  return `${scheme}://${hostToConnectTo(address)}:${port}`;
}

/** Runs what is due; an error of it ends nothing. */
function tryToRunDue(sandbox: SandboxState): void {
  try {
    runDue(sandbox);
  } catch {
    // The next request reports the error. A failed save is tried again, and reported there.
  }
}
