import type { IncomingMessage, ServerResponse } from "node:http";
import { baseUrlFor, readBaseUrl, readHostName } from "../../node/addresses.js";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { StateFile } from "../state-file.js";
import type { CertificatePair } from "./tls.js";

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
  /** Called for each change through the control plane and each rejected token, once its response is known. Default: ignored. */
  readonly onControlCall?: Logger["controlCall"];
  /** Called before each call of the control plane: other processes may have added requests. Default: nothing. */
  readonly beforeControlCall?: () => void;
  /** How the user starts svc-sandbox, for messages. Default: by its name. */
  readonly program?: string;
}

/** The control plane. */
export type ControlHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the parts of a server share. An interface would list the members again. */
export type ServerState = ReturnType<typeof createServerState>;

/** Makes what the parts of a server share. Throws `usage` for a public URL or an allowed host that is none. */
export function createServerState(sandbox: SandboxState, options: Partial<ServeOptions> & Hosting = {}) {
  runDue(sandbox);
  const { name, scenario, text } = sandbox;
  const publicUrl = readPublicUrl(options.publicUrl);
  const allowedHosts = (options.allowHosts ?? []).map(readAllowedHost);
  if (publicUrl !== undefined) allowedHosts.unshift(new URL(publicUrl).host);

  const state = {
    sandbox,
    stateFile: options.stateFile,
    explain: options.explain ?? false,
    /** The base URL for clients anywhere, if given. */
    publicUrl,
    /** The server's names besides this machine's own, in lower case, some with a port. */
    allowedHosts,
    startedAt: nodePlatform.time(),
    /** Tells this start of the server from others. */
    startId: nodePlatform.random(),
    /** Aborted when the server is about to stop: each connection ends after its next response. */
    stopping: new AbortController(),
    /** The base URL for clients on this machine; empty until the server listens. */
    localUrl: "",
    /** Whether only this machine reaches the server. */
    loopback: false,
    /** The bearer token that calls to the control plane require; `undefined` for none. */
    token: options.controlToken || undefined,
    /** The control plane, if it is served. */
    control: undefined as ControlHandler | undefined,
    /** Stops the server, and its process if that serves nothing else. */
    stop: options.onStop ?? (() => {}),
    baseUrlFor: (request: IncomingMessage): string => publicUrl ?? baseUrlFor(request, state.localUrl),
    startedScenario: options.startedScenario ?? (() => ({ name, scenario, text })),
    /** Reports a defect of the sandbox; the client got a 500. */
    onDefect: options.onDefect ?? (() => {}),
    onControlCall: options.onControlCall ?? (() => {}),
    beforeControlCall: options.beforeControlCall ?? (() => {}),
  };
  return state;
}

/** Reads a public URL. Throws `usage`. */
function readPublicUrl(text: string | URL | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = readBaseUrl(String(text));
  if (url !== undefined) return url;
  throw new SandboxError("usage", "Invalid public URL: use one such as https://sandbox.example.");
}

/** Reads an allowed host. Throws `usage`. */
function readAllowedHost(text: string): string {
  const host = readHostName(text);
  if (host !== undefined) return host;
  throw new SandboxError("usage", "Invalid allowed host: use a name such as sandbox.example.");
}
