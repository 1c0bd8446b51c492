import type { IncomingMessage, ServerResponse } from "node:http";
import { nodeCrypto, nodePlatform, timers } from "../node/platform.js";
import { controlPath } from "../rules/known-paths.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type Start, startSandbox } from "../sandbox/start-sandbox.js";
import { baseUrlFor, readPublicNames } from "./addresses.js";
import type { ControlServer } from "./control/route.js";
import { listen } from "./listen.js";
import type { ServeOptions } from "./server-options.js";
import { closeServer, sendServerError } from "./sockets/connections.js";
import { type ControlHandler, respondTo } from "./sockets/http-server.js";
import { pausedUntil } from "./sockets/pipelined-requests.js";
import type { StateFile, StateOptions } from "./state-file.js";

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

  // Timelines also continue without requests.
  const runDueOrWait = () => {
    try {
      runDue(sandbox);
    } catch {
      // The next request reports the error. A failed save is tried again, and reported there.
    }
  };
  const dueTimer = timers.setInterval(runDueOrWait, dueIntervalMs).unref();
  const stopping = new AbortController();
  const close = async (grace = 2000) => {
    stopping.abort();
    timers.clearInterval(dueTimer);
    // The state file has the requests until the last one.
    await closeServer(server, openConnections, grace).finally(() => stateFile?.close());
  };

  const handleControl = lateControl({
    sandbox,
    startedAt,
    startId: nodePlatform.random(),
    isLocal,
    allowedHosts,
    controlToken,
    stopping: stopping.signal,
    startedScenario: options.startedScenario ?? (() => ({ name, scenario, text })),
    stateFile,
    stop: options.stop ?? (() => void close().catch(onDefect)),
    beforeControlCall: options.beforeControlCall ?? (() => {}),
    onControlCall: options.onControlCall ?? (() => {}),
    onDefect,
  });
  respondTo(server, {
    sandbox,
    explain,
    handleControl: hasControl ? handleControl : undefined,
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

/** The control plane. Its first call loads it: Express takes longer to load than everything else, and most runs do not need it. */
function lateControl(server: ControlServer): ControlHandler {
  let loaded: ControlHandler | undefined;

  const loadAndHandle = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const { createControlApp } = await pausedUntil(import("./control/app.js"), request.socket);
      // Calls on several connections get the same one.
      loaded ??= createControlApp(server);
      loaded(request, response);
    } catch (error) {
      server.onDefect(error);
      sendServerError(response, 500);
    }
  };
  return (request, response) => {
    if (loaded === undefined) loadAndHandle(request, response);
    else loaded(request, response);
  };
}

/** Starts the sandbox of a server, or continues the one of its state file, which its server closes. Throws as `openStateFile`. */
export async function openSandbox(
  start: Start,
  { name, ...options }: Omit<StateOptions, "name"> & { readonly name: string | undefined },
): Promise<{ readonly sandbox: SandboxState; readonly stateFile: StateFile | undefined }> {
  if (name === undefined) return { sandbox: startSandbox(start), stateFile: undefined };

  // Most servers keep nothing, and do not load the code for it.
  const { openStateFile } = await import("./state-file.js");
  const stateFile = await openStateFile(start, { ...options, name });
  return { sandbox: stateFile.sandbox, stateFile };
}
