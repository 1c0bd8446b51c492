import { SandboxError } from "../../domain/errors.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { type RunningServer, serveRuntime } from "../../node/server/serve-runtime.js";
import type { KeptState } from "../../node/state.js";
import { createRuntime, type Runtime } from "../../sandbox/runtime.js";
import { aborted } from "../aborted.js";
import { banner, listeningLine } from "../banner.js";
import type { Call, Run } from "../command.js";
import { writeEnvFile } from "../env-file.js";
import { exitCode } from "../exit-codes.js";
import type { Flags } from "../flags.js";
import type { Io } from "../io.js";
import { createLog, type Log, logEvents } from "../log.js";
import { givenIn, loadNamed, openNamed } from "../open-scenario.js";
import { openNamedState } from "../open-state.js";
import { paletteFor } from "../palette.js";
import { serveOptions } from "../serve-options.js";
import { startWatching } from "../start-watching.js";

/** `svc-sandbox start` */
export const start: Run = async (call) => {
  const { words, flags, io } = call;
  const stop = io.stopSignal();
  const loaded = await loadNamed(words[0], call);
  const log = createLog(flags, io);
  const startWorld = () => openNamed(loaded, flags);
  const state = await openNamedState(loaded, startWorld, { flags, io, log });
  const runtime = state?.runtime ?? createRuntime(startWorld, { given: givenIn(flags) });
  logEvents(runtime, log);
  const options = await serveOptions(flags, io, log);
  const server = await serveRuntime(runtime, options);
  let stopWatching = async () => {};
  try {
    state?.keep((error) => options.onDefect?.(error));
    await announceVariables(runtime, server, flags, io);
    if (flags.watch) stopWatching = await watch(call, { loaded, runtime, server, state, log });
    announce(runtime, server, flags, io);
    await aborted(stop);
    log.note("Stopping: open requests have 2 seconds to finish. Ask again to stop at once.");
  } finally {
    await stopWatching();
    await server.close();
    state?.close();
    await log.written();
  }
  return exitCode.fine;
};

function announce(runtime: Runtime, server: RunningServer, flags: Flags, io: Io): void {
  const tokenIsNew = server.controlToken !== undefined && flags.controlToken === undefined;
  if (flags.json) {
    io.stdout.write(listeningLine(runtime.world(), server));
  } else if (flags.quiet) {
    io.stdout.write(`${server.url}\n`);
    // Nobody could learn it later.
    if (tokenIsNew) io.stderr.write(`Control token: ${server.controlToken}\n`);
  } else {
    io.stdout.write(banner(runtime.world(), server, paletteFor(io.stdout, io.env), tokenIsNew));
  }
}

async function announceVariables(
  runtime: Runtime,
  server: RunningServer,
  { envFile }: Flags,
  io: Io,
): Promise<void> {
  if (envFile !== undefined) await writeEnvFile(envFile, io.cwd, runtime.world(), server);
}

interface Served {
  readonly loaded: LoadedScenario;
  readonly runtime: Runtime;
  readonly server: RunningServer;
  readonly state: KeptState | undefined;
  readonly log: Log;
}

function watch(call: Call, { loaded, runtime, server, state, log }: Served): Promise<() => Promise<void>> {
  const { flags, io } = call;
  // The new world is served by now, whatever becomes of the files.
  const report = (error: Error) => log.problem(error.message);
  return startWatching(call, loaded, {
    world: runtime.world,
    log,
    async exchange(start, fresh) {
      try {
        runtime.exchange(() => {
          const world = start();
          state?.startsWith(fresh);
          return world;
        });
      } catch (error) {
        if (!(error instanceof SandboxError && error.code === "state_unwritable")) throw error;
        report(error);
      }
      await announceVariables(runtime, server, flags, io).catch(report);
    },
  });
}
