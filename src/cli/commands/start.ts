import type { LoadedScenario } from "../../node/load-scenario.js";
import { type RunningServer, type ServeOptions, serveHost } from "../../node/serve-host.js";
import { createHost, type Host } from "../../sandbox/host.js";
import { banner, listeningLine } from "../banner.js";
import type { Call, Run } from "../command.js";
import { writeEnvFile } from "../env-file.js";
import { exitCode } from "../exit-codes.js";
import { describeFailure } from "../failure.js";
import type { Flags } from "../flags.js";
import type { Io } from "../io.js";
import { createLog, type Log } from "../log.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { paletteFor } from "../palette.js";
import { startWatching } from "../start-watching.js";

const defaultPort = 4747;

/** `svc-sandbox start` */
export const start: Run = async (call) => {
  const { words, flags, io } = call;
  const stop = io.stopSignal();
  const loaded = await loadNamed(words[0], call);
  const host = createHost(() => openNamed(loaded, flags));
  const log = createLog(flags, io);
  host.subscribe((event) => {
    if (event.type === "request") log.request(event.request);
  });
  const server = await serveHost(host, { ...serveOptions(flags, log), ...(await ownHandlers(flags, io)) });
  let stopWatching = async () => {};
  try {
    await announceVariables(host, server, flags, io);
    if (flags.watch) stopWatching = await watch(call, loaded, host, server, log);
    announce(host, server, flags, io);
    await aborted(stop);
    log.note("Stopping: open requests have 2 seconds to finish. Ask again to stop at once.");
  } finally {
    await stopWatching();
    await server.close();
    await log.written();
  }
  return exitCode.fine;
};

function serveOptions(flags: Flags, log: Log): ServeOptions {
  const { port, host, explain, control, controlToken, verbose = false } = flags;
  return {
    port: port ?? defaultPort,
    ...(host !== undefined && { host }),
    ...(explain !== undefined && { explain }),
    ...(control !== undefined && { control }),
    ...(controlToken !== undefined && { controlToken }),
    onDefect: (error) =>
      log.problem(`A request was answered with 500. ${describeFailure(error, { verbose })}`),
    onHandlerError: (error) => log.problem(describeHandlerError(error)),
  };
}

// A module that nobody asked for is not loaded, and neither is what loads it.
async function ownHandlers({ handlers }: Flags, { cwd }: Io): Promise<Partial<ServeOptions>> {
  if (handlers === undefined) return {};
  const { loadHandlers } = await import("../../node/load-handlers.js");
  const loaded = await loadHandlers(handlers, cwd);
  return { handlers: loaded.handlers, handlersFile: loaded.file };
}

// With its stack: it is the user's own code that has to be mended, and where is what they want to know.
function describeHandlerError(error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A handler failed, and its request was answered with 500: ${what}`;
}

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

function watch(
  call: Call,
  loaded: LoadedScenario,
  host: Host,
  server: RunningServer,
  log: Log,
): Promise<() => Promise<void>> {
  const { flags, io } = call;
  return startWatching(call, loaded, {
    world: host.world,
    log,
    async exchange(start) {
      host.exchange(start);
      // The new world is served by now, whatever becomes of the file.
      await announceVariables(host, server, flags, io).catch((error: Error) => log.problem(error.message));
    },
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
