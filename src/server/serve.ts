import type { AddressInfo } from "node:net";
import { bareName, hostToConnectTo, isLoopback } from "../node/addresses.js";
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

const pauseOfDue = 250;

/** Resolves once it accepts requests. The caller closes the state file. Throws `state_unwritable`. */
export async function serve(sandbox: SandboxState, options: ServeOptions & Hosting): Promise<RunningServer> {
  const { port, host = "127.0.0.1", control: hasControl = true, program, stateFile } = options;
  if (program !== undefined) sandbox.invocation = { ...sandbox.invocation, certify: `${program} certify` };
  const state = createServerState(sandbox, { onStop: () => void close(), ...options });
  const certificate = await certificateOf(state, options);
  if (hasControl) state.control = mountControl(state);
  const { server, open } = createHttpServer(state, certificate);
  const address = await listenOn(server, port, host, program);
  state.localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  state.loopback = isLoopback(address.address);
  if (!state.loopback) state.token ??= nodeCrypto.randomBytes(24).toString("base64url");
  const due = timers.setInterval(() => tryToRunDue(sandbox), pauseOfDue).unref();
  const close = async (grace = 2000) => {
    state.stopping.abort();
    timers.clearInterval(due);
    await closeServer(server, open, grace);
  };
  try {
    stateFile?.begin();
  } catch (error) {
    await close(0);
    throw error;
  }
  const { localUrl, publicUrl: url = localUrl, token } = state;
  return {
    url,
    localUrl,
    close,
    certificate: certificate?.cert,
    controlUrl: hasControl ? url + controlPath : undefined,
    controlToken: hasControl ? token : undefined,
  };
}

function tryToRunDue(sandbox: SandboxState): void {
  try {
    runDue(sandbox);
  } catch {
    // The next request reports the error. A failed save is tried again, and reported there.
  }
}

async function certificateOf(
  { sandbox, allowedHosts }: ServerState,
  { tls = false, host = "127.0.0.1" }: ServeOptions,
): Promise<CertificatePair | undefined> {
  if (tls === false) return undefined;
  sandbox.invocation = { ...sandbox.invocation, curlOptions: "-k" };
  // Most servers speak HTTP, and the certificates take long to load.
  const { certificatePair } = await import("./sockets/tls.js");
  return certificatePair(tls, [host, ...allowedHosts.map(bareName)]);
}

/** Loaded by the first call: Express takes longer to load than everything else, and most runs do not need it. */
function mountControl(state: ServerState): ControlHandler {
  let app: ControlHandler | undefined;
  const load = async () => {
    const { createControlApp } = await import("./control/app.js");
    app ??= createControlApp(state);
    return app;
  };
  return (request, response) => {
    if (app !== undefined) return app(request, response);
    // Pauses the connection while loading: otherwise all further data would be buffered.
    let isLoading = true;
    timers.nextTick(() => isLoading && request.socket.pause());
    load()
      .finally(() => {
        isLoading = false;
        request.socket.resume();
      })
      .then((loaded) => loaded(request, response))
      .catch((error) => {
        state.onDefect(error);
        sendServerError(response, 500);
      });
  };
}

function baseUrlOf({ address, port }: AddressInfo, scheme: "http" | "https"): string {
  return `${scheme}://${hostToConnectTo(address)}:${port}`;
}

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const backlog = 4096;

function listenOn(
  server: AnyServer,
  port: number,
  host: string,
  program = "svc-sandbox",
): Promise<AddressInfo> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const inUse = error.code === "EADDRINUSE";
      resolve(inUse ? throwInUse(port, host, program) : Promise.reject(notListening(error, port, host)));
    });
    server.listen(port, host, backlog, () => resolve(server.address() as AddressInfo));
  });
}

async function throwInUse(port: number, host: string, program: string): Promise<never> {
  // Most starts find their port free, so they do not load the client.
  const { findListener } = await import("../node/clients/control-client.js");
  const listener = await findListener(`${hostToConnectTo(host)}:${port}`);
  const sandbox = listener.kind === "sandbox" ? listener.sandbox : undefined;
  const { url, version, scenario, startedAt } = sandbox ?? {};
  const what = scenario === undefined ? "" : `, with the scenario ${scenario} since ${startedAt}`;
  const token = scenario === undefined ? " --control-token <token>" : "";
  const [who, end] =
    sandbox === undefined
      ? ["another program", ""]
      : [`svc-sandbox ${version}${what}`, ` To stop it: ${program} stop ${url}${token}`];
  throw new SandboxError(
    "address_in_use",
    `Port ${port} on ${host} is in use by ${who}. Choose another port with --port, or any free one with --port 0.${end}`,
    { port, host, ...(sandbox && { sandbox }) },
  );
}

function notListening(error: NodeJS.ErrnoException, port: number, host: string): SandboxError {
  const where = `port ${port} on ${host}`;
  const reason =
    error.code === "EACCES" ? "this user may not use that port" : `no such address here (${error.code})`;
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on ${where}: ${reason}. Choose another with --port or --host.`,
    { port, host },
  );
}
