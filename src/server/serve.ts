import type { AddressInfo, Socket } from "node:net";
import type { Logger } from "../node/logger.js";
import { nodeCrypto, nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { controlPath } from "../rules/request-path.js";
import { runDue } from "../sandbox/operations/run-due.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import type { ControlServer } from "./control/control-server.js";
import { LateControl } from "./control/late-control.js";
import { baseUrlFor, hostToConnectTo, isLoopback } from "./listening-address.js";
import { certificateName, type GivenNames, readGivenNames } from "./names.js";
import { type AnyServer, closeServer } from "./sockets/connections.js";
import { createHttpServer, respondTo } from "./sockets/http-server.js";
import type { CertificatePair } from "./sockets/tls.js";
import type { StateFile } from "./state-file.js";

export interface ServeOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * The base URL for clients, if it differs from the server's own address: behind a proxy, in a container, on another
   * machine. Default: the server's own.
   */
  readonly publicUrl?: string | URL;
  /** Hosts that the control plane accepts on a loopback address, besides this machine's names and the host of `publicUrl`. */
  readonly allowHosts?: readonly string[];
  /** Serves HTTPS with a certificate and its key (PEM), or with a self-signed one if `true`. Default: HTTP. */
  readonly tls?: boolean | CertificatePair;
  /** Whether API responses have `X-Sandbox-Outcome`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, a random one on others. */
  readonly controlToken?: string;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
}

/** What the program around the server gives it. */
export interface Hosting {
  /** Stops the server, when a call of the control plane asks for it. Default: closes the server. */
  readonly onStop?: () => void;
  /** The scenario that the server was started with; a watched file changes it. Default: the sandbox's at the start. */
  readonly startedScenario?: () => NamedScenario;
  /** The file that keeps the sandbox. Default: none. */
  readonly stateFile?: StateFile | undefined;
  /** Called for each call of the control plane with a writing method, and each rejected token, once its response is known. Default: ignored. */
  readonly onControlCall?: Logger["controlCall"];
  /** Called before each call of the control plane: other processes may have added requests. Default: nothing. */
  readonly beforeControlCall?: () => void;
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

const defaultHost = "127.0.0.1";

/** Milliseconds between two looks at what is due in the sandbox. */
const dueIntervalMs = 250;

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const backlog = 4096;

/** The bytes of a random control token. */
const tokenBytes = 24;

/** Serves a sandbox; resolves once it accepts requests. The caller closes the state file. Throws `state_unwritable`. */
export async function serve(sandbox: SandboxState, options: ServeOptions & Hosting): Promise<RunningServer> {
  const { stateFile, onDefect = () => {} } = options;
  runDue(sandbox);
  const { name, scenario, text } = sandbox;
  const startedAt = nodePlatform.time();
  const names = readGivenNames(options.publicUrl, options.allowHosts);

  // No request is missed until `respondTo`: Node emits the first one in a later turn of its event loop.
  const { server, openConnections, certificate, localUrl, isLocal } = await listen(options, names);
  // Other machines can call its control plane.
  const token = options.controlToken || (isLocal ? undefined : randomToken());
  const stopping = new AbortController();

  // Timelines also continue without requests.
  const dueTimer = timers.setInterval(() => tryToRunDue(sandbox), dueIntervalMs).unref();

  async function close(grace = 2000): Promise<void> {
    stopping.abort();
    timers.clearInterval(dueTimer);
    await closeServer(server, openConnections, grace);
  }

  const hasControl = options.control !== false;
  const controlServer: ControlServer = {
    sandbox,
    startedScenario: options.startedScenario ?? (() => ({ name, scenario, text })),
    stateFile,
    startedAt,
    startId: nodePlatform.random(),
    isLocal,
    allowedHosts: names.allowedHosts,
    token,
    stop: options.onStop ?? (() => void close()),
    stopping: stopping.signal,
    beforeCall: options.beforeControlCall ?? (() => {}),
    onCall: options.onControlCall ?? (() => {}),
    onDefect,
  };
  respondTo(server, {
    sandbox,
    explain: options.explain ?? false,
    control: hasControl ? new LateControl(controlServer).handle : undefined,
    baseUrlFor: (request) => names.publicUrl ?? baseUrlFor(request, localUrl),
    stopping: stopping.signal,
    onDefect,
  });

  await beginToSave(stateFile, close);
  const url = names.publicUrl ?? localUrl;
  return {
    url,
    localUrl,
    close,
    certificate: certificate?.cert,
    controlUrl: hasControl ? url + controlPath : undefined,
    controlToken: hasControl ? token : undefined,
  };
}

/** A server that listens, with what is known since, and responds to nothing yet. */
interface Listening {
  readonly server: AnyServer;
  readonly openConnections: ReadonlySet<Socket>;
  readonly certificate: CertificatePair | undefined;
  readonly localUrl: string;
  /** Whether only this machine reaches it. */
  readonly isLocal: boolean;
}

/** Listens. Throws `address_in_use`, `address_unavailable` or `certificate_unusable`. */
async function listen(options: ServeOptions & Hosting, names: GivenNames): Promise<Listening> {
  const certificate = await certificateFor(options, names);
  const { server, openConnections } = createHttpServer(certificate);
  const address = await listenOn(server, options);
  const localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  return { server, openConnections, certificate, localUrl, isLocal: isLoopback(address.address) };
}

/** Begins to keep the sandbox. A server whose state cannot be written ends. */
async function beginToSave(stateFile: StateFile | undefined, close: RunningServer["close"]): Promise<void> {
  try {
    stateFile?.begin();
  } catch (error) {
    await close(0);
    throw error;
  }
}

function randomToken(): string {
  return nodeCrypto.randomBytes(tokenBytes).toString("base64url");
}

/** The certificate to serve HTTPS with; `undefined` for HTTP. */
async function certificateFor(
  { tls = false, host = defaultHost }: ServeOptions,
  { allowedHosts }: GivenNames,
): Promise<CertificatePair | undefined> {
  if (tls === false) return undefined;
  // Most servers speak HTTP, and the certificates take long to load.
  const { certificatePair } = await import("./sockets/tls.js");
  return certificatePair(tls, [host, ...allowedHosts.map(certificateName)]);
}

/** Listens, and returns the address. Throws `address_in_use` or `address_unavailable`. */
async function listenOn(server: AnyServer, options: ServeOptions & Hosting): Promise<AddressInfo> {
  const { port, host = defaultHost, program = "svc-sandbox" } = options;
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
  const { findListener } = await import("../node/clients/find-listener.js");
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
