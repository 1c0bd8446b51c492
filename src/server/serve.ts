import { nodeCrypto, nodePlatform, timers } from "../node/platform.js";
import { controlPath } from "../rules/known-paths.js";
import { runDue } from "../sandbox/operations/run-due.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { SurroundingProgram } from "./control/control-server.js";
import { LateControl } from "./control/late-control.js";
import { type ListenOptions, listen } from "./listen.js";
import { baseUrlFor } from "./listening-address.js";
import { readPublicNames } from "./public-names.js";
import { closeServer } from "./sockets/connections.js";
import { respondTo } from "./sockets/http-server.js";
import type { StateFile } from "./state-file.js";

export interface ServeOptions extends ListenOptions {
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

/** What the program around the server may give it. */
export interface ProgramOptions extends Partial<SurroundingProgram> {
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

/** The bytes of a random control token. */
const tokenBytes = 24;

/**
 * Serves a sandbox; resolves once it accepts requests. The caller closes the state file. Throws `state_unwritable`, and the errors of
 * `readPublicNames` and `listen`.
 */
export async function serve(
  sandbox: SandboxState,
  options: ServeOptions & ProgramOptions,
): Promise<RunningServer> {
  runDue(sandbox);
  const startedAt = nodePlatform.time();
  // As it is now: another scenario may run later.
  const { name, scenario, text } = sandbox;
  const { stateFile, onDefect = () => {} } = options;
  const { publicUrl, allowedHosts } = readPublicNames(options.publicUrl, options.allowHosts);

  // No request is missed until `respondTo`: Node emits the first one in a later turn of its event loop.
  const { server, openConnections, certificate, localUrl, isLocal } = await listen(
    options,
    allowedHosts,
    options.program ?? "svc-sandbox",
  );

  // Timelines also continue without requests.
  const dueTimer = timers.setInterval(() => tryToRunDue(sandbox), dueIntervalMs).unref();
  const stopping = new AbortController();
  const close = async (grace = 2000) => {
    stopping.abort();
    timers.clearInterval(dueTimer);
    await closeServer(server, openConnections, grace);
  };

  const hasControl = options.control !== false;
  // Other machines can call its control plane.
  const controlToken = options.controlToken || (isLocal ? undefined : randomToken());
  const control = new LateControl({
    sandbox,
    startedAt,
    startId: nodePlatform.random(),
    startedScenario: options.startedScenario ?? (() => ({ name, scenario, text })),
    stateFile,
    isLocal,
    allowedHosts,
    controlToken,
    stopping: stopping.signal,
    stop: options.stop ?? (() => void close()),
    beforeControlCall: options.beforeControlCall ?? (() => {}),
    onControlCall: options.onControlCall ?? (() => {}),
    onDefect,
  });
  respondTo(server, {
    sandbox,
    explain: options.explain ?? false,
    handleControl: hasControl ? control.handle : undefined,
    baseUrlFor: (request) => publicUrl ?? baseUrlFor(request, localUrl),
    stopping: stopping.signal,
    onDefect,
  });

  await startSaving(stateFile, close);
  const url = publicUrl ?? localUrl;
  return {
    url,
    localUrl,
    close,
    certificate: certificate?.cert,
    controlUrl: hasControl ? url + controlPath : undefined,
    controlToken: hasControl ? controlToken : undefined,
  };
}

/** Starts to save the sandbox. Closes a server whose state cannot be written, and throws `state_unwritable`. */
async function startSaving(stateFile: StateFile | undefined, close: RunningServer["close"]): Promise<void> {
  try {
    stateFile?.startSaving();
  } catch (error) {
    await close(0);
    throw error;
  }
}

function randomToken(): string {
  return nodeCrypto.randomBytes(tokenBytes).toString("base64url");
}

/** Runs what is due; an error of it ends nothing. */
function tryToRunDue(sandbox: SandboxState): void {
  try {
    runDue(sandbox);
  } catch {
    // The next request reports the error. A failed save is tried again, and reported there.
  }
}
