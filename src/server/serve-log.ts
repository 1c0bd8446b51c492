import type { IncomingMessage } from "node:http";
import { SandboxError } from "../domain/errors.js";
import { type InstanceLimits, runtimesOf } from "../log/instances.js";
import type { Log } from "../log/log.js";
import {
  bareName,
  baseUrlFor,
  baseUrlOf,
  controlPath,
  isLoopback,
  readBaseUrl,
  readHostName,
} from "../node/addresses.js";
import { isOfMachine } from "../node/files/write-file.js";
import {
  clearInterval,
  clearTimeout,
  nodeCrypto,
  nodePlatform,
  setInterval,
  setTimeout,
} from "../node/platform.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { closeServer } from "./connections.js";
import type { HandlerOptions } from "./custom-handlers.js";
import {
  type ControlHandler,
  type ControlSurroundings,
  createHttpServer,
  type SelfService,
} from "./http-server.js";
import type { InterceptOptions, Interceptor } from "./intercept.js";
import { listen } from "./listen.js";
import { unreachable } from "./serve-unready.js";
import type { CertificatePair } from "./tls.js";
import { createTraffic } from "./traffic.js";

export interface ServeOptions extends InstanceLimits, HandlerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * The base URL by which clients reach the server, when it is another than its own address: behind a proxy, in a
   * container, on another machine. Default: its own; for instances, as the caller reaches it.
   */
  readonly publicUrl?: string;
  /** Names that the control plane answers to on a loopback address, beside this machine's own and that of `publicUrl`. */
  readonly allowHosts?: readonly string[];
  /** Serves HTTPS: with a certificate and its key (PEM), or with `true` a self-signed one. Default: HTTP. */
  readonly tls?: boolean | CertificatePair;
  /** Whether API answers carry `X-Sandbox-Path`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, else a random one. */
  readonly controlToken?: string;
  /** The requests to the API in a minute of an instance that is made without a limit of its own. Default: no limit. */
  readonly instanceRate?: number;
  /** Lets partners create instances on a page at `/`. Default: no such page. */
  readonly selfService?: SelfService | undefined;
}

/** Makes the control plane of a server. */
export type MountControl = (
  surroundings: ControlSurroundings,
  onDefect: (error: unknown) => void,
) => { readonly serve: ControlHandler; readonly load: () => Promise<void> };

/** What the program that serves decides for its server. */
export interface Hosting {
  /** Called when a client asks the server to stop. Default: closes it. */
  readonly onStop?: () => void;
  /** Returns the scenario that is served. Default: the one that runs at the start. */
  readonly own?: () => NamedScenario;
  /** Whether the control plane is loaded soon after the start, and not with the first call. Default: false. */
  readonly loadsControl?: boolean;
  /** The file of the state, beside which a self-signed certificate is kept for the next start. Default: none. */
  readonly stateFile?: string | undefined;
  /** The hosts whose requests a proxy leads into the sandbox. Default: there is no proxy. */
  readonly intercept?: InterceptOptions["intercept"];
  readonly passThrough?: boolean;
}

/** A server with the proxy of `intercept`. */
export type InterceptingServer = RunningServer & { readonly proxy: Interceptor | undefined };

/** A server that accepts requests. */
export interface RunningServer {
  /** The public URL where one is given. Without a slash at its end. */
  readonly url: string;
  /** The base URL by which this machine reaches it. */
  readonly localUrl: string;
  /** `undefined` when the control plane is off. */
  readonly controlUrl: string | undefined;
  /** The bearer token that the control plane asks for; `undefined` when it asks for none. */
  readonly controlToken: string | undefined;
  /** The certificate (PEM) that clients have to trust; `undefined` when HTTP is served. */
  readonly certificate: string | undefined;
  /**
   * Stops accepting; open requests have `grace` milliseconds (default 2000) to finish. Until `drained` resolves (default: it
   * has), the server is not ready and still responds to requests: a load balancer notices and sends no more.
   */
  readonly close: (grace?: number, drained?: Promise<unknown>) => Promise<void>;
}

/** Milliseconds after which the server looks for what is due. */
const settling = 250;

/**
 * Serves the sandboxes of a log on a socket, with a control plane if one is given; resolves once requests are accepted.
 * The log is the caller's to close.
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
  // Loaded when needed: most servers have no handlers beside the API.
  const customHandlers =
    handlers &&
    (await import("./custom-handlers.js").then(({ createCustomHandlers }) =>
      createCustomHandlers(handlers, options, runtime, () => localUrl),
    ));
  const secure =
    tls === false
      ? undefined
      : await loadTls(tls, [bindTo, ...allowedHosts.map(bareName)], options.stateFile);
  const certificate = secure?.certificate;
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
  // Known once it listens, which is before the first call.
  const surroundings = {
    loopback: false,
    token: options.controlToken || undefined,
    baseUrlFor: (request: IncomingMessage) => publicUrl ?? baseUrlFor(request, localUrl),
    allowedHosts,
    stop: () => (options.onStop ?? close)(),
    log,
    instanceRate: options.instanceRate,
    own: options.own ?? (() => ({ name, scenario })),
    selfService: options.selfService,
    startedAt: nodePlatform.time(),
    unreadiness() {
      if (draining.signal.aborted || stopping.signal.aborted) return "The sandbox is stopping.";
      return log.status()?.reachable === false ? unreachable : undefined;
    },
    traffic,
  };
  const control = mountControl?.(surroundings, onDefect);
  const signals = { gone: stopping.signal, draining: draining.signal };
  const shared = { ...signals, log, customHandlers, explain, onDefect, traffic };
  const { server, open } = createHttpServer({
    ...shared,
    control: control?.serve,
    hasFirstPage: control !== undefined && options.selfService !== undefined,
    baseUrlFor: control && surroundings.baseUrlFor,
    certificate,
    acceptHttp2: secure?.acceptHttp2,
  });
  const address = await listen(server, port, bindTo);
  localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  surroundings.loopback = isLoopback(address.address);
  if (!surroundings.loopback) surroundings.token ??= nodeCrypto.randomBytes(24).toString("base64url");
  // Loaded when needed: only a command that is run has one.
  const proxy =
    intercept &&
    (await import("./intercept.js").then(({ startInterceptor }) =>
      startInterceptor({ intercept, passThrough }, (own) => createHttpServer({ ...shared, ...own })),
    ));

  const due = setInterval(log.settle, settling).unref();
  // A failure does not matter: the first call tries again. Not for short runs, which would end before.
  const loadRest = () => {
    const farmers = import("../synthetic/farmers/farmers.js");
    const checks = import("../scenario/parse-scenario.js");
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

// Loaded when needed: most servers speak HTTP.
async function loadTls(tls: true | CertificatePair, names: readonly string[], stateFile: string | undefined) {
  const [{ certificatePair }, { acceptHttp2 }] = await Promise.all([
    import("./tls.js"),
    import("./http2.js"),
  ]);
  return { certificate: await certificatePair(tls, names, stateFile && `${stateFile}.pem`), acceptHttp2 };
}

// Throws `usage` for what is no URL or name.
function namesOf({ publicUrl: given, allowHosts = [] }: ServeOptions) {
  const publicUrl = given === undefined ? undefined : readBaseUrl(given);
  if (given !== undefined && publicUrl === undefined) {
    throw new SandboxError(
      "usage",
      "Failed to use the public URL: give one such as https://sandbox.example.",
    );
  }
  const allowedHosts = allowHosts.map((host) => {
    const name = readHostName(host);
    if (name !== undefined) return name;
    throw new SandboxError("usage", "Failed to use a host to allow: give a name such as sandbox.example.");
  });
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).host];
  return { publicUrl, allowedHosts: [...own, ...allowedHosts] };
}
