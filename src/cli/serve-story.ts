import { type RunningServer, serveRuntime } from "../node/server/serve-runtime.js";
import type { Runtime } from "../sandbox/runtime.js";
import { banner } from "./banner.js";
import type { Call } from "./command.js";
import { createLog } from "./log.js";
import { paletteFor } from "./palette.js";
import { serveOptions } from "./serve-options.js";

/** Serves the world of a story while it is told, where the flags ask for that, and says on stderr how to reach it. */
export async function serveStory(runtime: Runtime, { flags, io }: Call): Promise<RunningServer | undefined> {
  const { playPort: port, playHost, ...others } = flags;
  if (port === undefined && playHost === undefined) return undefined;
  const log = createLog(flags, io);
  const wanted = {
    ...others,
    ...(port !== undefined && { port }),
    ...(playHost !== undefined && { host: playHost }),
  };
  const server = await serveRuntime(runtime, await serveOptions(wanted, io, log));
  io.stderr.write(
    banner(runtime.world(), server, paletteFor(io.stderr, io.env, flags), server.controlToken !== undefined),
  );
  return server;
}
