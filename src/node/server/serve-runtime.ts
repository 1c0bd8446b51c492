import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { SandboxError } from "../../domain/errors.js";
import type { Runtime } from "../../sandbox/runtime.js";
import {
  createInstances,
  defaultInstanceTtl,
  defaultMaxInstances,
  type Instance,
  newInstanceId,
  sweepIdle,
} from "../control/instances.js";
import { loadParts } from "../load-parts.js";
import { clearTimeout, nextTick, nodeCrypto, nodePlatform, setTimeout } from "../platform.js";
import { pollTimeline } from "../poll-timeline.js";
import type { Replica } from "../store/replica.js";
import { bareName, baseUrlFor, baseUrlOf, isLoopback, readBaseUrl, readHostName } from "./addresses.js";
import { closeServer } from "./connections.js";
import type { CustomHandlers, UserHandlers } from "./custom-handlers.js";
import { type ControlHandler, type ControlSurroundings, createHttpServer } from "./http-server.js";
import { listen } from "./listen.js";
import { controlPath } from "./read-request.js";
import { refuse } from "./send-answer.js";
import type { CertificatePair } from "./tls.js";
import { createTraffic } from "./traffic.js";

export interface ServeOptions {
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
  /** Milliseconds without a request after which an instance of the control plane goes. Default: an hour. */
  readonly instanceTtl?: number;
  /** The most instances at one time. Default: 1000. */
  readonly maxInstances?: number;
  /** The user's msw handlers, for paths that the API does not have. Default: none. */
  readonly handlers?: UserHandlers;
  /** The file whose msw the handlers were made with. Default: a file in the working directory. */
  readonly handlersFile?: string;
  /** The most megabytes of a request's body that the handlers get; a longer one gets 413. Default: 10. */
  readonly maxBody?: number;
  /** Called with a defect of the sandbox; the client has got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
  /** Called with the error of a user's handler; the client has got a 500. Default: `onDefect`. */
  readonly onHandlerError?: (error: unknown) => void;
}

/** What the program that serves wants to know of its server, and decides for it. */
export interface Hosting {
  /** Called with each new instance of the control plane. */
  readonly onInstance?: (instance: Instance) => void;
  /** Called when a client asks the server to stop. Default: closes it. */
  readonly onStop?: () => void;
  /** Whether the control plane is loaded soon after the start, and not with the first call. Default: false. */
  readonly loadsControl?: boolean;
  /** The file of the state, beside which a self-signed certificate is kept for the next start. Default: none. */
  readonly stateFile?: string | undefined;
  /** The replica that the server is, whose runtime it serves; the instances are the replica's too. Default: none. */
  readonly replica?: Replica | undefined;
}

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
  /** Stops accepting; open requests have `grace` milliseconds (default 2000) to finish. */
  readonly close: (grace?: number) => Promise<void>;
}

/**
 * Serves the world of a runtime on a socket; resolves once requests are accepted.
 *
 * Throws `address_in_use`, `address_unavailable`, `certificate_unusable`, or `usage` for handlers that cannot be used.
 */
export async function serveRuntime(
  runtime: Runtime,
  options: ServeOptions & Hosting,
): Promise<RunningServer> {
  const { port, host: bindTo = "127.0.0.1", tls = false, explain = false } = options;
  const { publicUrl, allowedHosts } = namesOf(options);
  let localUrl = "";
  const serverUrl = () => localUrl;
  const withControl = options.control !== false;
  const { instanceTtl = defaultInstanceTtl, maxInstances: most = defaultMaxInstances, replica } = options;
  const { counters } = runtime;
  const own = {
    most,
    server: runtime,
    platform: nodePlatform,
    newId: newInstanceId,
    onCreate: options.onInstance,
  };
  const instances = withControl ? (replica?.instances ?? createInstances(own)) : undefined;
  if (options.onInstance !== undefined) replica?.onInstance(options.onInstance);
  const customHandlers = await customHandlersOf(runtime, options, serverUrl);
  const secure =
    tls === false
      ? undefined
      : await loadTls(tls, [bindTo, ...allowedHosts.map(bareName)], options.stateFile);
  const certificate = secure?.certificate;
  if (certificate !== undefined) counters.curlOptions = "-k";
  const stopping = new AbortController();
  const traffic = createTraffic();
  const onDefect = (error: unknown) => {
    traffic.countDefect();
    options.onDefect?.(error);
  };
  // Known once it listens, which is before the first call.
  const surroundings = {
    loopback: false,
    token: options.controlToken || undefined,
    baseUrlFor: (request: IncomingMessage) => publicUrl ?? baseUrlFor(request, localUrl),
    allowedHosts,
    stop: () => (options.onStop ?? close)(),
    replica,
    startedAt: nodePlatform.time(),
    unreadiness() {
      if (stopping.signal.aborted) return "The sandbox is stopping.";
      return replica === undefined || replica.status().reachable ? undefined : "The store cannot be reached.";
    },
    traffic,
  };
  const control = withControl ? lazyControl(surroundings, onDefect) : undefined;
  const { server, open } = createHttpServer({
    context: { runtime, instances, instance: undefined, gone: stopping.signal },
    replica,
    control: control?.serve,
    customHandlers,
    explain,
    certificate,
    acceptHttp2: secure?.acceptHttp2,
    onDefect,
    traffic,
  });
  const address = await listen(server, port, bindTo);
  localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  surroundings.loopback = isLoopback(address.address);
  if (!surroundings.loopback) surroundings.token ??= nodeCrypto.randomBytes(24).toString("base64url");

  // A replica does both itself, by entries.
  const stopPolling = replica === undefined ? pollTimeline(runtime) : () => {};
  const stopSweeping =
    instances === undefined || replica !== undefined
      ? () => {}
      : sweepIdle(instanceTtl, () => instances.sweep(instanceTtl));
  // A failure does not matter: the first call tries again. Not for short runs, which would end before.
  const loadRest = () => void (control?.load() ?? Promise.resolve().then(loadParts)).catch(() => {});
  const loading = options.loadsControl === true && setTimeout(loadRest, 500);
  if (loading !== false) loading.unref();
  const close = (grace = 2000) => {
    stopPolling();
    stopSweeping();
    if (loading !== false) clearTimeout(loading);
    stopping.abort();
    instances?.close();
    return closeServer(server, open, grace).finally(() => replica?.close());
  };
  const url = publicUrl ?? localUrl;
  return {
    url,
    localUrl,
    controlUrl: withControl ? url + controlPath : undefined,
    controlToken: withControl ? surroundings.token : undefined,
    certificate: certificate?.cert,
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

// Loaded when needed: most servers have no handlers beside the API.
async function customHandlersOf(
  runtime: Runtime,
  options: ServeOptions & Hosting,
  baseUrl: () => string,
): Promise<CustomHandlers | undefined> {
  const { handlers, handlersFile = join(process.cwd(), "handlers.js"), replica } = options;
  if (handlers === undefined) return undefined;
  if (replica !== undefined) {
    throw new SandboxError(
      "usage",
      "Failed to use handlers with a shared store: what a handler does to the sandbox, the other replicas would not know.",
    );
  }
  const [{ sandboxOn }, { createCustomHandlers }] = await Promise.all([
    import("../../library/sandbox-on.js"),
    import("./custom-handlers.js"),
  ]);
  return createCustomHandlers(handlers, {
    sandbox: sandboxOn(runtime),
    baseUrl,
    file: handlersFile,
    maxBody: options.maxBody ?? 10,
    onHandlerError: options.onHandlerError ?? options.onDefect ?? (() => {}),
  });
}

/**
 * Makes the control plane, which is loaded when asked to, or by the first call to it: Express takes longer to load than
 * everything else together, and most runs never need it.
 */
function lazyControl(surroundings: ControlSurroundings, onDefect: (error: unknown) => void) {
  let loading: Promise<void> | undefined;
  let app: ControlHandler | undefined;
  const load = () => {
    loading ??= import("../control/app.js")
      .then(({ createControlApp }) => {
        loadParts();
        app = createControlApp(surroundings, onDefect);
      })
      .catch((error) => {
        // The next call tries again: descriptors may be free then.
        loading = undefined;
        throw error;
      });
    return loading;
  };
  const serve: ControlHandler = (request, response, context) => {
    if (app !== undefined) return app(request, response, context);
    // A connection sends no more before it is loaded: everything that came meanwhile would have to be kept.
    nextTick(() => request.socket.pause());
    load()
      .finally(() => request.socket.resume())
      .then(() => app?.(request, response, context))
      .catch((error) => {
        onDefect(error);
        refuse(response, 500);
      });
  };
  return { serve, load };
}
