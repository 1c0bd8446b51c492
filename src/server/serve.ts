import type { IncomingMessage, ServerResponse } from "node:http";
import type { Express } from "express";
import { nodeCrypto, nodePlatform, timers } from "../node/platform.js";
import { controlPath } from "../rules/paths.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { prepareStart, type StartSettings, startSandbox } from "../sandbox/start-sandbox.js";
import type { ControlServer } from "./control/route.js";
import { listen, type ServeOptions } from "./listen.js";
import { closeServer } from "./sockets/connections.js";
import { respondTo } from "./sockets/respond.js";
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
 * `state_unwritable`, and the errors of `listen`; `close` throws `state_unwritable`, too.
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

  // No request is missed until `respondTo`: Node emits the first one in a later turn of its event loop.
  const listening = await listen(options);
  const { server, openConnections, isLocal, url, localUrl } = listening;
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
    options,
    startedAt,
    startId: nodePlatform.random(),
    isLocal,
    allowedHosts: listening.allowedHosts,
    controlToken,
    openConnections,
    stopping: stopping.signal,
    startedScenario: options.startedScenario ?? (() => ({ name, scenario, text })),
    stop: options.stop ?? (() => void close().catch(onDefect)),
    onDefect,
  };
  respondTo(server, {
    sandbox,
    explain,
    handleControl: hasControl ? lazyControl(control) : undefined,
    baseUrlFor: listening.baseUrlFor,
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
    certificate: listening.certificate?.cert,
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
