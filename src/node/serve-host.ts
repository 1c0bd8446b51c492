import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Runtime } from "../sandbox/runtime.js";
import type { Beside } from "./beside.js";
import { createInstances, defaultInstanceTtl } from "./control/instances.js";
import { createHttpServer } from "./http-server.js";
import { keepTime } from "./keep-time.js";
import { type ControlHandler, lazyControl } from "./lazy-control.js";
import { loadFarmers, loadFarmersFor } from "./load-farmers.js";
import { controlPath } from "./server/control-path.js";
import { baseUrlOf, close, isLoopback, listen } from "./server/listen.js";
import type { CertificatePair } from "./server/tls.js";
import type { UserHandlers } from "./user-handlers.js";

/** How to serve. */
export interface ServeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
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
  /** msw handlers of one's own, for paths that the API does not have. Default: none. */
  readonly handlers?: UserHandlers;
  /** The file whose msw the handlers were made with. Default: a file in the working directory. */
  readonly handlersFile?: string;
  /** Called with a defect of the sandbox; the client has got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
  /** Called with what a handler of one's own threw; the client has got a 500. Default: as `onDefect`. */
  readonly onHandlerError?: (error: unknown) => void;
}

/** A server that accepts requests. */
export interface RunningServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** `undefined` when the control plane is off. */
  readonly controlUrl: string | undefined;
  /** The bearer token that the control plane asks for; `undefined` when it asks for none. */
  readonly controlToken: string | undefined;
  /** The certificate (PEM) that clients have to trust; `undefined` when HTTP is served. */
  readonly certificate: string | undefined;
  /** Stops accepting; open requests have `grace` milliseconds (default 2000) to finish. */
  readonly close: (grace?: number) => Promise<void>;
}

export const defaultHost = "127.0.0.1";
const defaultGrace = 2000;

/**
 * Serves the world of a runtime on a socket; resolves once requests are accepted.
 *
 * Throws `address_in_use`, `address_unavailable`, `certificate_unusable`, or `usage` for handlers that cannot be used.
 */
export async function serveRuntime(runtime: Runtime, options: ServeOptions): Promise<RunningServer> {
  const { port, host: bindTo = defaultHost, tls = false, explain = false, onDefect = () => {} } = options;
  const withControl = options.control !== false;
  let url = "";
  let control: ControlHandler | undefined;
  const stopping = new AbortController();
  const serverUrl = () => url;
  const instances = withControl
    ? createInstances({
        serverUrl,
        ttl: options.instanceTtl ?? defaultInstanceTtl,
        counters: runtime.counters,
      })
    : undefined;
  await loadFarmersFor(runtime.world().scenario);
  const beside = await besideOf(runtime, options, serverUrl);
  const certificate = tls === false ? undefined : await pairFor(tls, bindTo);
  if (certificate !== undefined) runtime.counters.curlOptions = "-k";
  const server = createHttpServer({
    runtime,
    explain,
    onDefect,
    ...(certificate !== undefined && { certificate }),
    ...(beside !== undefined && { beside }),
    ...(instances !== undefined && {
      instances,
      control: (request, response, context) => control?.(request, response, context),
    }),
  });
  const address = await listen(server, port, bindTo);
  url = baseUrlOf(address, certificate === undefined ? "http" : "https");
  const loopback = isLoopback(address);
  const token =
    (options.controlToken || undefined) ?? (loopback ? undefined : randomBytes(24).toString("base64url"));
  control = lazyControl({ loopback, token, stopping: stopping.signal }, onDefect);

  const stopTime = keepTime(runtime);
  return {
    url,
    controlUrl: withControl ? url + controlPath : undefined,
    controlToken: withControl ? token : undefined,
    certificate: certificate?.cert,
    close(grace = defaultGrace) {
      stopTime();
      stopping.abort();
      instances?.close();
      return close(server, grace);
    },
  };
}

// Most servers speak HTTP, and need not load what the others do.
async function pairFor(tls: true | CertificatePair, host: string): Promise<CertificatePair> {
  const { certificatePair } = await import("./server/tls.js");
  return certificatePair(tls, host);
}

// Most servers have no handlers beside the API, and need not load what those ask for.
async function besideOf(
  runtime: Runtime,
  options: ServeOptions,
  baseUrl: () => string,
): Promise<Beside | undefined> {
  const { handlers, handlersFile = join(process.cwd(), "handlers.js") } = options;
  if (handlers === undefined) return undefined;
  const [{ sandboxOn }, { createBeside }, { answerFromHandlers }] = await Promise.all([
    import("../library/sandbox-on.js"),
    import("./beside.js"),
    import("./user-handlers.js"),
    loadFarmers(),
  ]);
  const sandbox = sandboxOn(runtime);
  const answer = await answerFromHandlers(handlers, { sandbox, baseUrl, from: handlersFile });
  const onHandlerError = options.onHandlerError ?? options.onDefect ?? (() => {});
  return createBeside(answer, { baseUrl, onHandlerError });
}
