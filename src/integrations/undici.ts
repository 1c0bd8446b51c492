import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import { stateOf } from "../library/create-sandbox.js";
import type { Sandbox } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { connectionReset } from "../library/web-request.js";
import { readBaseUrl } from "../node/addresses.js";
import { olderVersion } from "../node/package-files.js";
import { clearTimeout, nextTick, setImmediate, setTimeout } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { requireKnownOptions } from "../rules/schema/check.js";
import { createHttpServer } from "../server/sockets/http-server.js";
import { createServerState } from "../server/sockets/server-state.js";
import { createMemoryStore } from "../store/memory-store.js";

const wanted = { entry: "svc-sandbox/undici", name: "undici", since: "5.20" };
const { Agent, getGlobalDispatcher } = await usersPackage(
  wanted,
  () => import("undici"),
  () => olderVersion(wanted),
);

/** The API's address for the client under test. */
export interface DispatcherOptions {
  /**
   * The API's base URL, such as `https://api.example`; the dispatcher responds to every path under it.
   *
   * Default: `*`, every path of every host: no request leaves the process.
   */
  readonly baseUrl?: string;
  /** Handles other requests. Default: the current global dispatcher. */
  readonly fallback?: Dispatcher;
}

/**
 * Creates a dispatcher for undici's `request`, `fetch` and other calls, and with undici's `setGlobalDispatcher` for Node's
 * `fetch`.
 *
 * It responds from the sandbox's current state, over connections inside the process. Faults reset, hold and cut them like
 * sockets. Throws `usage` for an invalid base URL, `validation_failed` for an unknown option.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states" });
 * setGlobalDispatcher(createDispatcher(sandbox, { baseUrl: "https://api.example" }));
 */
export function createDispatcher(sandbox: Sandbox, options: DispatcherOptions = {}): Dispatcher {
  requireKnownOptions("make a dispatcher", options, ["baseUrl", "fallback"]);
  const { baseUrl = "*", fallback = getGlobalDispatcher() } = options;
  const { server } = createHttpServer(createServerState(createMemoryStore(stateOf(sandbox))));
  const agent = new Agent({
    connect(_to, connected) {
      const pair = connectionPair();
      // Waits for a promise: otherwise Jest reports the parser of an idle connection, which keeps no process alive, as an
      // open handle.
      void Promise.resolve().then(() => {
        server.emit("connection", pair.server);
        // undici requests a socket and accepts any duplex stream.
        nextTick(() => connected(null, pair.client as never));
      });
    },
  });
  if (baseUrl === "*") return agent;
  const base = readBaseUrl(baseUrl)?.toLowerCase();
  if (base === undefined) {
    const message = `Invalid base URL ${JSON.stringify(baseUrl)}. Use one such as https://api.example.`;
    throw new SandboxError("usage", message);
  }
  const response = agent.dispatch.bind(agent);
  return Object.assign(agent, {
    dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const url = new URL(request.origin ?? "").origin + request.path;
      // A base URL may have a path, which the API does not expect.
      const path = url.slice(base.length);
      const isUnder = url.toLowerCase().startsWith(base) && /^(?:[/?]|$)/.test(path);
      if (!isUnder) return fallback.dispatch(request, handler);
      return response({ ...request, path: path.startsWith("/") ? path : `/${path}` }, handler);
    },
  });
}

const { duplexPair } = process.getBuiltinModule("node:stream");

const longestTimer = 2 ** 31 - 1;

/** The two ends of a connection inside this process, with the socket methods that an HTTP client and our server use. */
function connectionPair(): { readonly client: Duplex; readonly server: Duplex } {
  const [client, server] = duplexPair();
  // Like a socket, it keeps the process alive while a response is awaited.
  const awaited = setTimeout(() => {}, longestTimer);
  client.once("close", () => {
    clearTimeout(awaited);
    server.destroy();
  });
  server.once("close", () => client.push(null));
  return {
    client: Object.assign(client, { ref: () => awaited.ref(), unref: () => awaited.unref() }),
    // Delayed, because undici's `fetch` misses an end that arrives together with the head of a response.
    server: Object.assign(server, {
      destroySoon: () => void setImmediate(() => server.end(() => server.destroy())),
      resetAndDestroy: () =>
        void setImmediate(() => {
          client.destroy(connectionReset());
          server.destroy();
        }),
    }),
  };
}
