import { bareName, baseUrlOf, controlPath, isLoopback } from "../node/addresses.js";
import { clearInterval, nextTick, nodeCrypto, setInterval } from "../node/platform.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { accountLimits, createAccounts } from "../store/account.js";
import { createMemoryStore } from "../store/memory-store.js";
import type { Store } from "../store/store.js";
import { closeServer, listenOn } from "./sockets/connections.js";
import { createHttpServer } from "./sockets/http-server.js";
import { reject } from "./sockets/messages.js";
import {
  type ControlHandler,
  createServerState,
  type Hosting,
  type ServeOptions,
  type Server,
} from "./sockets/server-state.js";
import type { CertificatePair } from "./sockets/tls.js";

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

const pauseOfDue = 250;

export function serveSandbox(sandbox: SandboxState, options: ServeOptions & Hosting): Promise<RunningServer> {
  return serve(createMemoryStore(sandbox, options), options);
}

/** Resolves once it accepts requests. The caller closes the store. */
export async function serve(store: Store, options: ServeOptions & Hosting): Promise<RunningServer> {
  const { port, host = "127.0.0.1", control: hasControl = true, program } = options;
  const state = createServerState(store, { onStop: () => void close(), ...options });
  const { sandbox, instances } = store;
  const certificate = await certificateOf(state, options);
  if (hasControl) state.control = mountControl(state);
  instances.follow((one) => {
    one.sandbox.counters.curlOptions = sandbox.counters.curlOptions;
  });
  instances.onExpired(({ id, tenancy: { label } }) => {
    state.audit({ action: `DELETE /instances/${id}`, actor: "sandbox", result: "expired" }, { id, label });
  });
  const { server, open } = createHttpServer(state, certificate);
  const address = await listenOn(server, port, host, program);
  state.localUrl = baseUrlOf(address, certificate === undefined ? "http" : "https");
  state.loopback = isLoopback(address.address);
  if (!state.loopback) state.token ??= nodeCrypto.randomBytes(24).toString("base64url");
  state.accounts = createAccounts(accountLimits(options.instanceLimits, state.token === undefined));
  const due = setInterval(store.runDue, pauseOfDue).unref();
  const close = async (grace = 2000, drained?: Promise<unknown>) => {
    state.draining.abort();
    await drained;
    clearInterval(due);
    instances.close();
    await closeServer(server, open, grace);
  };
  try {
    await store.begin();
  } catch (error) {
    await close(0);
    throw error;
  }
  const { localUrl, publicUrl: url = localUrl, token } = state;
  return {
    url,
    localUrl,
    close,
    certificate: certificate?.cert,
    controlUrl: hasControl ? url + controlPath : undefined,
    controlToken: hasControl ? token : undefined,
  };
}

async function certificateOf(
  { store, allowedHosts }: Server,
  { tls = false, host = "127.0.0.1" }: ServeOptions,
): Promise<CertificatePair | undefined> {
  if (tls === false) return undefined;
  store.sandbox.counters.curlOptions = "-k";
  // Loaded when needed: most servers speak HTTP.
  const { certificatePair } = await import("./sockets/tls.js");
  return certificatePair(tls, [host, ...allowedHosts.map(bareName)]);
}

/** Loaded by the first call: Express takes longer to load than everything else, and most runs do not need it. */
function mountControl(state: Server): ControlHandler {
  let app: ControlHandler | undefined;
  const load = async () => {
    const { createControlApp } = await import("./control/app.js");
    app ??= createControlApp(state);
    return app;
  };
  return (request, response, target) => {
    if (app !== undefined) return app(request, response, target);
    // Pauses the connection while loading: otherwise all further data would be buffered.
    let isLoading = true;
    nextTick(() => isLoading && request.socket.pause());
    load()
      .finally(() => {
        isLoading = false;
        request.socket.resume();
      })
      .then((loaded) => loaded(request, response, target))
      .catch((error) => {
        state.onDefect(error);
        reject(response, 500);
      });
  };
}
