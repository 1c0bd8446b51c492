import type { IncomingMessage } from "node:http";
import { type InstanceLimits, runtimesOf } from "../../log/instances.js";
import type { Log } from "../../log/log.js";
import {
  bareName,
  baseUrlFor,
  baseUrlOf,
  controlPath,
  isLoopback,
  readBaseUrl,
  readHostName,
} from "../../node/addresses.js";
import { isOfMachine } from "../../node/files/write-file.js";
import {
  clearInterval,
  clearTimeout,
  nodeCrypto,
  nodePlatform,
  setInterval,
  setTimeout,
} from "../../node/platform.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { SandboxError } from "../../spec/errors.js";
import { closeServer } from "./connections.js";
import type { UserHandlerOptions } from "./handlers.js";
import { type ControlHandler, type ControlSurroundings, createHttpServer } from "./http-server.js";
import type { InterceptOptions, Interceptor } from "./intercept.js";
import { listenOn } from "./listen.js";
import type { CertificatePair } from "./tls.js";
import { createTraffic } from "./traffic.js";

export interface ServeOptions extends InstanceLimits, UserHandlerOptions {
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
}

/** Makes the control plane of a server. */
export type MountControl = (
  surroundings: ControlSurroundings,
  onDefect: (error: unknown) => void,
) => { readonly serve: ControlHandler; readonly load: () => Promise<void> };

/** The options that the program around the server sets. */
export interface Hosting {
  /** Called when a client requests the server to stop. Default: closes it. */
  readonly onStop?: () => void;
  /** Returns the server's scenario. Default: the one that runs at the start. */
  readonly own?: () => NamedScenario;
  /** Called when an instance is created, claimed, removed or expires, and when a request cannot be stored. Default: ignored. */
  readonly onAudit?: (message: string) => void;
  /** Whether the control plane is loaded soon after the start instead of with the first call. Default: false. */
  readonly loadsControl?: boolean;
  /** The state file; a self-signed certificate is kept next to it for the next start. Default: none. */
  readonly stateFile?: string | undefined;
  /** The hosts whose requests a proxy leads to the sandbox. Default: no proxy. */
  readonly intercept?: InterceptOptions["intercept"];
  readonly passThrough?: boolean;
}

/** A server with the proxy of `intercept`. */
export type InterceptingServer = RunningServer & { readonly proxy: Interceptor | undefined };

/** A server that accepts requests. */
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
  /**
   * Stops accepting requests; those in progress have `grace` milliseconds to finish. Default: 2000.
   *
   * Until `drained` resolves, the server is not ready but still responds: a load balancer notices and sends no more. Default:
   * stops immediately.
   */
  readonly close: (grace?: number, drained?: Promise<unknown>) => Promise<void>;
}

/** Milliseconds between checks for anything due. */
const settling = 250;

/**
 * Serves the sandboxes of a log on a socket, with a control plane if one is given; resolves once it accepts requests.
 * The caller closes the log.
 *
 * Throws `address_in_use`, `address_unavailable`, `certificate_unusable`, `state_unwritable`, or `usage` for handlers that
 * cannot be used.
 */
export async function serveLog(
  log: Log,
  options: ServeOptions & Hosting,
  mountControl?: MountControl,
): Promise<InterceptingServer> {
  const { port, host: bindTo = "127.0.0.1", tls = false, explain, intercept, passThrough } = options;
  const { publicUrl, allowedHosts } = namesOf(options);
  let localUrl = "";
  const { runtime, instances } = log;
  const { name, scenario } = runtime.world();
  const { handlers } = options;
  // Loaded when needed: most servers have no handlers.
  const customHandlers =
    handlers &&
    (await import("./handlers.js").then(({ createCustomHandlers }) =>
      createCustomHandlers(handlers, options, runtime, () => localUrl),
    ));
  // Loaded when needed: most servers speak HTTP.
  const certificate =
    tls === false
      ? undefined
      : await import("./tls.js").then(({ certificatePair }) => {
          const names = [bindTo, ...allowedHosts.map(bareName)];
          return certificatePair(tls, names, options.stateFile && `${options.stateFile}.pem`);
        });
  if (certificate !== undefined) {
    for (const { counters } of runtimesOf(log)) counters.curlOptions = "-k";
  }
  const stopping = new AbortController();
  const draining = new AbortController();
  const traffic = createTraffic();
  const onDefect = (error: unknown) => {
    if (!isOfMachine(error)) traffic.countDefect();
    options.onDefect?.(error);
  };
  const audit = (message: string) => options.onAudit?.(message);
  instances.onExpired(({ id, tenancy: { label } }) => {
    audit(`The instance ${id}${label === undefined ? "" : ` (${label})`} has expired.`);
  });
  // `loopback` and `token` are set once the server listens, before the first call.
  const surroundings = {
    loopback: false,
    token: options.controlToken || undefined,
    baseUrlFor: (request: IncomingMessage) => publicUrl ?? baseUrlFor(request, localUrl),
    allowedHosts,
    stop: () => (options.onStop ?? close)(),
    log,
    instanceRate: options.instanceRate,
    own: options.own ?? (() => ({ name, scenario })),
    startedAt: nodePlatform.time(),
    unreadiness() {
      if (draining.signal.aborted || stopping.signal.aborted) return "The sandbox is stopping.";
      const status = log.status();
      return status?.in === "store" ? status.problem : undefined;
    },
    ...{ traffic, audit },
  };
  const control = mountControl?.(surroundings, onDefect);
  const signals = { gone: stopping.signal, draining: draining.signal };
  const shared = { ...signals, log, customHandlers, explain, onDefect, traffic, audit };
  const { server, open } = createHttpServer({
    ...shared,
    control: control?.serve,
    baseUrlFor: control && surroundings.baseUrlFor,
    certificate,
  });
  const address = await listenOn(server, port, bindTo);
  localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  surroundings.loopback = isLoopback(address.address);
  if (!surroundings.loopback) surroundings.token ??= nodeCrypto.randomBytes(24).toString("base64url");
  // Loaded when needed: few servers have a proxy.
  const proxy =
    intercept &&
    (await import("./intercept.js").then(({ startInterceptor }) =>
      startInterceptor({ intercept, passThrough }, (own) => createHttpServer({ ...shared, ...own })),
    ));

  const due = setInterval(log.settle, settling).unref();
  // Ignores failures, because the first call tries again. The delay is longer than short runs.
  const loadRest = () => {
    const farmers = import("../../farmers/farmers.js");
    const checks = import("../../scenario/parse-scenario.js");
    Promise.all([control?.load(), farmers, checks]).catch(() => {});
  };
  const loading = options.loadsControl === true && setTimeout(loadRest, 500);
  if (loading !== false) loading.unref();
  const close = async (grace = 2000, drained?: Promise<unknown>) => {
    draining.abort();
    await drained;
    clearInterval(due);
    if (loading !== false) clearTimeout(loading);
    stopping.abort();
    instances.close();
    await Promise.all([proxy?.close(grace), closeServer(server, open, grace)]);
  };
  try {
    log.begin();
  } catch (error) {
    await close(0);
    throw error;
  }
  const url = publicUrl ?? localUrl;
  return {
    url,
    localUrl,
    controlUrl: control && url + controlPath,
    controlToken: control && surroundings.token,
    certificate: certificate?.cert,
    proxy,
    close,
  };
}

// Throws `usage` for an invalid URL, name or network.
function namesOf({ publicUrl: given, allowHosts = [] }: ServeOptions) {
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
