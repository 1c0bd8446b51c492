import type { Log } from "../log/log.js";
import { createMemoryLog } from "../log/memory-log.js";
import type { Runtime } from "../sandbox/runtime.js";
import { mountControl } from "./control/mount.js";
import { type Hosting, type RunningServer, type ServeOptions, serveLog } from "./sockets/serve-log.js";

/** Serves the sandboxes of a log, with the control plane if it is on. */
export function serve(log: Log, options: ServeOptions & Hosting) {
  return serveLog(log, options, options.control === false ? undefined : mountControl);
}

/** Serves a runtime with a log in memory. */
export function serveRuntime(runtime: Runtime, options: ServeOptions & Hosting): Promise<RunningServer> {
  return serve(createMemoryLog(runtime, options), options);
}
