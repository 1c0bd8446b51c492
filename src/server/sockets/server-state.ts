import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { baseUrlFor, readBaseUrl, readHostName } from "../../node/addresses.js";
import { isOfMachine } from "../../node/files/write-file.js";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { PathId } from "../../rules/outcomes.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { accountLimits, createAccounts } from "../../store/account.js";
import { type InstanceLimits, limitsOf } from "../../store/instances.js";
import type { SandboxPlace, Store } from "../../store/store.js";
import type { CertificatePair } from "./tls.js";

export interface ServeOptions extends InstanceLimits {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * The base URL for clients, if it differs from the server's own address: behind a proxy, in a container, on another
   * machine. Default: the server's own, or for instances the URL that the caller used.
   */
  readonly publicUrl?: string;
  /** Hosts that the control plane accepts on a loopback address, besides this machine's names and the host of `publicUrl`. */
  readonly allowHosts?: readonly string[];
  /** Serves HTTPS with a certificate and its key (PEM), or with a self-signed one if `true`. Default: HTTP. */
  readonly tls?: boolean | CertificatePair;
  /** Whether API responses have `X-Sandbox-Path`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, a random one on others. */
  readonly controlToken?: string;
  /** API requests per minute for an instance that is created without its own limit. Default: no limit. */
  readonly instanceRate?: number;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
}

export interface Hosting {
  readonly onStop?: () => void;
  readonly own?: () => NamedScenario;
  /** Called for each change, each rejected token, an instance that expires, and a request that cannot be stored. Default: ignored. */
  readonly onAudit?: Logger["audit"];
  /** How the user starts svc-sandbox, for messages. Default: by its name. */
  readonly program?: string;
}

export type ControlHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  target: SandboxPlace,
) => void;

/** The bounds of the latency histogram, in milliseconds: from a response out of memory to one that a fault delays. */
export const latencyBounds = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000,
] as const;

export type Traffic = Server["traffic"];

export type Server = ReturnType<typeof createServerState>;

export function createServerState(store: Store, options: Partial<ServeOptions> & Hosting = {}) {
  const { explain = false, instanceRate, controlToken, onAudit } = options;
  runDue(store.sandbox);
  const { name, scenario, text } = store.sandbox;
  const traffic = {
    /** The number of the API's responses by path id and status; status 0: no response. */
    paths: new Map<PathId, Map<number, number>>(),
    /** The number of responses up to each bound and above the one before; the last counts those above all bounds. */
    latencies: new Float64Array(latencyBounds.length + 1),
    totalMs: 0,
    unstored: 0,
    excess: 0,
    defects: 0,
  };
  const names = namesOf(options);
  const state = {
    instanceTtl: limitsOf(options).instanceTtl,
    store,
    traffic,
    explain,
    instanceRate,
    ...names,
    /** What its instances and senders cost. */
    accounts: createAccounts(accountLimits(options.instanceLimits)),
    startedAt: nodePlatform.time(),
    /** Tells this start of the server from others. */
    started: nodePlatform.random(),
    /** Aborted when the server is about to stop: each connection ends after its next response. */
    draining: new AbortController(),
    /** The base URL for clients on this machine; empty until the server listens. */
    localUrl: "",
    loopback: false,
    /** The bearer token that calls to the control plane require; `undefined` for none. */
    token: controlToken || undefined,
    control: undefined as ControlHandler | undefined,
    /** Stops the server, and its process if that serves nothing else. */
    stop: options.onStop ?? (() => {}),
    baseUrlFor: (request: IncomingMessage): string => names.publicUrl ?? baseUrlFor(request, state.localUrl),
    own: options.own ?? (() => ({ name, scenario, text })),
    /** Reports a defect of the sandbox; the client got a 500. */
    onDefect(error: unknown): void {
      if (!isOfMachine(error)) traffic.defects += 1;
      options.onDefect?.(error);
    },
    audit: onAudit ?? (() => {}),
  };
  return state;
}

/** The base URL for clients anywhere, if given; and the server's names besides this machine's own, in lower case, some with a port. */
function namesOf({ publicUrl: given, allowHosts = [] }: Partial<ServeOptions>) {
  const publicUrl = given === undefined ? undefined : readBaseUrl(given);
  if (given !== undefined && publicUrl === undefined) {
    throw new SandboxError("usage", "Invalid public URL: use one such as https://sandbox.example.");
  }
  const allowedHosts = allowHosts.map((host) => {
    const name = readHostName(host);
    if (name !== undefined) return name;
    throw new SandboxError("usage", "Invalid allowed host: use a name such as sandbox.example.");
  });
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).host];
  return { publicUrl, allowedHosts: [...own, ...allowedHosts] };
}

/** Why the server is not ready for requests, as a sentence; `undefined` if it is ready. */
export function unreadiness({ store, draining }: Server): string | undefined {
  if (draining.signal.aborted) return "The sandbox is stopping.";
  const status = store.status();
  // A full disk has lost no change yet, and no other server has this state.
  return status?.in === "store" || status?.isTaken ? status.problem : undefined;
}

/** The prefix of instance tokens, so that secret scanners and this server recognize them. */
export const instanceTokenPrefix = "svci_";

export function tokenIn({ headers }: IncomingMessage): string {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

/** Whether a call may do everything: it has the server's token, or the server needs none. */
export function isOwners({ token }: Pick<Server, "token">, sent: string): boolean {
  return token === undefined ? !sent.startsWith(instanceTokenPrefix) : isSame(sent, token);
}

// Hashes have the same length, so that the comparison takes the same time for every wrong text.
export function isSame(sent: string, right: string | undefined): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return right !== undefined && timingSafeEqual(digest(sent), digest(right));
}
