import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";
import type { Logger } from "../node/logger.js";
import { nodeCrypto, nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { controlPath } from "../rules/known-paths.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { prepareStart, type StartSettings, startSandbox } from "../sandbox/start-sandbox.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { baseUrlFor, certificateName, hostToConnectTo, isLoopback, readPublicNames } from "./addresses.js";
import type { ControlServer } from "./control/route.js";
import { type AnyServer, closeServer, createHttpServer } from "./sockets/connections.js";
import { respondTo } from "./sockets/respond.js";
import type { CertificatePair } from "./sockets/tls.js";
import type { StateFile, StateOptions } from "./state-file.js";

/** How a user sets up a server. */
export interface ServerSettings {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Serves HTTPS with a certificate and its key (PEM), or with a self-signed one if `true`. Default: HTTP. */
  readonly tls?: boolean | CertificatePair;
  /**
   * The base URL for clients, if it differs from the server's own address: behind a proxy, in a container, on another
   * machine. Default: the server's own.
   */
  readonly publicUrl?: string | URL;
  /** Hosts that the control plane accepts on a loopback address, besides this machine's names and the host of `publicUrl`. */
  readonly allowHosts?: readonly string[];
  /** Whether API responses have `X-Sandbox-Outcome`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, a random one on others. */
  readonly controlToken?: string;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
}

/** What `serve` gets: the settings, and what belongs to the program around the server. */
export interface ServeOptions extends ServerSettings {
  /** The scenario that the server was started with, as its file is now. Default: the one that the sandbox runs at first. */
  readonly startedScenario?: () => NamedScenario;
  /** The file that keeps the sandbox. The server closes it. Default: the sandbox is not kept. */
  readonly stateFile?: StateFile | undefined;
  /** Stops the server, and its process if that serves nothing else. Default: only the server. */
  readonly stop?: () => void;
  /** Called before each call of the control plane: other processes may have added requests. */
  readonly beforeControlCall?: () => void;
  /** Called for each call of the control plane with a writing method, and each rejected token, once its response is known. */
  readonly onControlCall?: Logger["controlCall"];
  /** How the user starts svc-sandbox, for messages. Default: by its name. */
  readonly program?: string;
}

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

/** Milliseconds between two looks at what is due in the sandbox. */
const dueIntervalMs = 250;

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const backlog = 4096;

/** The bytes of a random control token. */
const tokenBytes = 24;

/**
 * Serves a sandbox; resolves once it accepts requests. Closes the state file with the server, or if the start fails. Throws
 * `state_unwritable`, and the errors of `readPublicNames` and `listen`; `close` throws `state_unwritable`, too.
 */
export async function serve(sandbox: SandboxState, options: ServeOptions): Promise<RunningServer> {
  try {
    return await listenAndServe(sandbox, options);
  } catch (error) {
    options.stateFile?.close();
    throw error;
  }
}

async function listenAndServe(sandbox: SandboxState, options: ServeOptions): Promise<RunningServer> {
  runDue(sandbox);
  const startedAt = nodePlatform.time();
  // As it is now: another scenario may run later.
  const { name, scenario, text } = sandbox;
  const { explain = false, control: hasControl = true, stateFile, onDefect = () => {} } = options;
  const { publicUrl, allowedHosts } = readPublicNames(options.publicUrl, options.allowHosts);

  // No request is missed until `respondTo`: Node emits the first one in a later turn of its event loop.
  const { server, openConnections, certificate, localUrl, isLocal } = await listen(options, allowedHosts);
  const url = publicUrl ?? localUrl;
  // Other machines can call its control plane.
  const randomToken = () => nodeCrypto.randomBytes(tokenBytes).toString("base64url");
  const controlToken = options.controlToken || (isLocal ? undefined : randomToken());

  const dueTimer = startDueTimer(sandbox, onDefect);
  const stopping = new AbortController();
  const close = async (grace = 2000) => {
    stopping.abort();
    timers.clearInterval(dueTimer);
    // The state file has the requests until the last one.
    await closeServer(server, openConnections, grace).finally(() => stateFile?.close());
  };

  const control: ControlServer = {
    sandbox,
    startedAt,
    startId: nodePlatform.random(),
    isLocal,
    allowedHosts,
    controlToken,
    openConnections,
    stopping: stopping.signal,
    startedScenario: options.startedScenario ?? (() => ({ name, scenario, text })),
    stateFile,
    stop: options.stop ?? (() => void close().catch(onDefect)),
    beforeControlCall: options.beforeControlCall ?? (() => {}),
    onControlCall: options.onControlCall ?? (() => {}),
    onDefect,
  };
  respondTo(server, {
    sandbox,
    explain,
    handleControl: hasControl ? lazyControl(control) : undefined,
    baseUrlFor: (request) => publicUrl ?? baseUrlFor(request, localUrl),
    stopping: stopping.signal,
    onDefect,
  });

  try {
    stateFile?.startSaving();
  } catch (error) {
    // A state that cannot be written.
    await close(0);
    throw error;
  }
  return {
    url,
    localUrl,
    close,
    certificate: certificate?.cert,
    controlUrl: hasControl ? url + controlPath : undefined,
    controlToken: hasControl ? controlToken : undefined,
  };
}

/** Continues the timeline also without requests. A step with a defect does not run again. */
function startDueTimer(sandbox: SandboxState, onDefect: (error: unknown) => void): NodeJS.Timeout {
  const runDueOrReport = () => {
    try {
      runDue(sandbox);
    } catch (error) {
      onDefect(error);
    }
  };
  return timers.setInterval(runDueOrReport, dueIntervalMs).unref();
}

/** The control plane. Its first call loads Express, which takes longer than everything else: most runs do not need it. */
function lazyControl(server: ControlServer) {
  let app: Express | undefined;
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { createControlApp } = await import("./control/app.js");
    app ??= createControlApp(server);
    app(request, response);
  };
}

/** A server that listens, and responds to nothing yet. */
interface Listening {
  readonly server: AnyServer;
  readonly openConnections: ReadonlySet<Socket>;
  /** `undefined` for HTTP. */
  readonly certificate: CertificatePair | undefined;
  /** The base URL for clients on this machine. */
  readonly localUrl: string;
  /** Whether only this machine reaches it. */
  readonly isLocal: boolean;
}

/**
 * Listens where the options say. `allowedHosts` are also names in a self-signed certificate. Throws `address_in_use`,
 * `address_unavailable` or `certificate_unusable`.
 */
async function listen(options: ServeOptions, allowedHosts: readonly string[]): Promise<Listening> {
  const { port, host = "127.0.0.1", tls = false, program = "svc-sandbox" } = options;
  let certificate: CertificatePair | undefined;
  if (tls !== false) {
    // Most servers speak HTTP, and the certificates take long to load.
    const { certificatePair } = await import("./sockets/tls.js");
    certificate = await certificatePair(tls, [host, ...allowedHosts.map(certificateName)]);
  }
  const { server, openConnections } = createHttpServer(certificate);

  const failure = await tryToListen(server, port, host);
  if (failure?.code === "EADDRINUSE") throw await addressInUse(port, host, program);
  if (failure !== undefined) throw addressUnavailable(failure, port, host);

  const { address, port: openPort } = server.address() as AddressInfo; // a server of a port has no other address
  const scheme = certificate === undefined ? "http" : "https";
  const localUrl = `${scheme}://${hostToConnectTo(address)}:${openPort}`;
  return { server, openConnections, certificate, localUrl, isLocal: isLoopback(address) };
}

/** Listens on a port; resolves to the error if that fails. */
function tryToListen(
  server: AnyServer,
  port: number,
  host: string,
): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    // The listener stays: a later error, of a connection that cannot be accepted, does not end the process.
    server.on("error", resolve);
    server.listen(port, host, backlog, () => resolve(undefined));
  });
}

/** The error for a port in use, with the program that uses it, and how to stop that if it is a sandbox. */
async function addressInUse(port: number, host: string, program: string): Promise<SandboxError> {
  // Most starts find their port free, so they do not load the client.
  const { findSandbox } = await import("../node/clients/control-client.js");
  const sandbox = await findSandbox(`${hostToConnectTo(host)}:${port}`);

  const inUse = `Port ${port} on ${host} is in use by`;
  const fix = "Choose another port with --port, or any free one with --port 0.";
  if (sandbox === undefined) {
    return new SandboxError("address_in_use", `${inUse} another program. ${fix}`, { port, host });
  }

  let who = `svc-sandbox ${sandbox.version}`;
  let stop = `${program} stop ${sandbox.url}`;
  // A sandbox that requires a token does not show its scenario.
  if (sandbox.scenario === undefined) stop += " --control-token <token>";
  else who += `, with the scenario ${sandbox.scenario} since ${sandbox.startedAt}`;
  const message = `${inUse} ${who}. ${fix} To stop it: ${stop}`;
  return new SandboxError("address_in_use", message, { port, host, sandbox });
}

function addressUnavailable({ message }: Error, port: number, host: string): SandboxError {
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on port ${port} on ${host}: ${message}. Choose another with --port or --host.`,
    { port, host },
  );
}

/** Starts the sandbox of a server, or continues the one of its state file, which its server closes. Throws as `openStateFile`. */
export async function openSandbox(
  settings: StartSettings,
  { name, ...options }: Omit<StateOptions, "name"> & { readonly name: string | undefined },
): Promise<{ readonly sandbox: SandboxState; readonly stateFile: StateFile | undefined }> {
  if (name === undefined) return { sandbox: startSandbox(prepareStart(settings)), stateFile: undefined };

  // Most servers keep nothing, and do not load the code for it.
  const { openStateFile } = await import("./state-file.js");
  const stateFile = await openStateFile(settings, { ...options, name });
  return { sandbox: stateFile.sandbox, stateFile };
}
