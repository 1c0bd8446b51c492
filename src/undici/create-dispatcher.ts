import type { Dispatcher } from "undici";
import { SandboxError } from "../domain/errors.js";
import { runtimeOf } from "../library/current-sandbox.js";
import type { Sandbox } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { createMemoryLog } from "../log/memory-log.js";
import { readBaseUrl } from "../node/addresses.js";
import { olderVersion } from "../node/older-version.js";
import { nextTick } from "../node/platform.js";
import { requireKnownOptions } from "../schema/check.js";
import { connectionPair } from "../server/connection-pair.js";
import { createHttpServer } from "../server/http-server.js";
import { createTraffic } from "../server/traffic.js";

const wanted = { entry: "svc-sandbox/undici", name: "undici", since: "5.20" };
const { Agent, getGlobalDispatcher } = await usersPackage(
  wanted,
  () => import("undici"),
  () => olderVersion(wanted),
);

/** The address of the API for the client under test. */
export interface DispatcherOptions {
  /**
   * The API's base URL, such as `https://api.example`; every path under it is answered.
   *
   * Default: `*`, every path of every host: no request leaves the process.
   */
  readonly baseUrl?: string;
  /** Where requests go that are not under the base URL. Default: the global dispatcher of this moment. */
  readonly fallback?: Dispatcher;
}

/**
 * A dispatcher for undici's `request`, `fetch` and other calls, and with undici's `setGlobalDispatcher` for Node's `fetch`.
 *
 * It answers from the sandbox as it is when a request comes, on connections inside the process, which faults reset, hold
 * and cut as they do on sockets. Throws `usage` for a base URL that is none, `validation_failed` for an unknown option.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states" });
 * setGlobalDispatcher(createDispatcher(sandbox, { baseUrl: "https://api.example" }));
 */
export function createDispatcher(sandbox: Sandbox, options: DispatcherOptions = {}): Dispatcher {
  requireKnownOptions("make a dispatcher", options, ["baseUrl", "fallback"]);
  const { baseUrl = "*", fallback = getGlobalDispatcher() } = options;
  const { server } = createHttpServer({
    log: createMemoryLog(runtimeOf(sandbox)),
    onDefect: () => {},
    traffic: createTraffic(),
  });
  const agent = new Agent({
    connect(_to, connected) {
      const pair = connectionPair();
      // After a promise: otherwise Jest takes the parser of an idle connection, which keeps no process alive, for an open handle.
      void Promise.resolve().then(() => {
        server.emit("connection", pair.server);
        // undici asks for a socket, and takes any duplex stream.
        nextTick(() => connected(null, pair.client as never));
      });
    },
  });
  if (baseUrl === "*") return agent;
  const base = baseOf(baseUrl);
  const answer = agent.dispatch.bind(agent);
  return Object.assign(agent, {
    dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const url = new URL(request.origin ?? "").origin + request.path;
      // A base URL may have a path of its own, which the API does not know.
      const path = url.slice(base.length);
      const isUnder = url.toLowerCase().startsWith(base) && /^(?:[/?]|$)/.test(path);
      if (!isUnder) return fallback.dispatch(request, handler);
      return answer({ ...request, path: path.startsWith("/") ? path : `/${path}` }, handler);
    },
  });
}

function baseOf(baseUrl: string): string {
  const base = readBaseUrl(baseUrl);
  if (base !== undefined) return base.toLowerCase();
  throw new SandboxError(
    "usage",
    `Failed to make a dispatcher for ${JSON.stringify(baseUrl)}: it is not a URL. Give one such as https://api.example.`,
  );
}
