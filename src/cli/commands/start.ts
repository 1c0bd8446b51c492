import { SandboxError } from "../../domain/sandbox-error.js";
import type { LoadedScenario } from "../../node/load-scenario.js";
import { type RunningServer, serveHost } from "../../node/serve-host.js";
import type { KeptState } from "../../node/state.js";
import { createHost, type Host } from "../../sandbox/host.js";
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
  const host = state?.host ?? createHost(startWorld, { given: givenIn(flags) });
  logEvents(host, log);
  const options = await serveOptions(flags, io, log);
  const server = await serveHost(host, options);
  let stopWatching = async () => {};
  try {
    state?.keep((error) => options.onDefect?.(error));
    await announceVariables(host, server, flags, io);
    if (flags.watch) stopWatching = await watch(call, { loaded, host, server, state, log });
    announce(host, server, flags, io);
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

function announce(host: Host, server: RunningServer, flags: Flags, io: Io): void {
  const tokenIsNew = server.controlToken !== undefined && flags.controlToken === undefined;
  if (flags.json) {
    io.stdout.write(listeningLine(host.world(), server));
  } else if (flags.quiet) {
    io.stdout.write(`${server.url}\n`);
    // Nobody could learn it later.
    if (tokenIsNew) io.stderr.write(`Control token: ${server.controlToken}\n`);
  } else {
    io.stdout.write(banner(host.world(), server, paletteFor(io.stdout, io.env), tokenIsNew));
  }
}

async function announceVariables(
  host: Host,
  server: RunningServer,
  { envFile }: Flags,
  io: Io,
): Promise<void> {
  if (envFile !== undefined) await writeEnvFile(envFile, io.cwd, host.world(), server);
}

interface Served {
  readonly loaded: LoadedScenario;
  readonly host: Host;
  readonly server: RunningServer;
  readonly state: KeptState | undefined;
  readonly log: Log;
}

function watch(call: Call, { loaded, host, server, state, log }: Served): Promise<() => Promise<void>> {
  const { flags, io } = call;
  // The new world is served by now, whatever becomes of the files.
  const report = (error: Error) => log.problem(error.message);
  return startWatching(call, loaded, {
    world: host.world,
    log,
    async exchange(start, fresh) {
      try {
        host.exchange(() => {
          const world = start();
          state?.startsWith(fresh);
          return world;
        });
      } catch (error) {
        if (!(error instanceof SandboxError && error.code === "state_unwritable")) throw error;
        report(error);
      }
      await announceVariables(host, server, flags, io).catch(report);
    },
  });
}
