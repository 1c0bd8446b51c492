import { finished } from "node:stream";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxRun } from "../../runs/current-run.js";
import { invocationOfServer, type StartOptions } from "../../sandbox/sandbox-state.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { quoteFile } from "../../schema/words.js";
import { openSandbox, serve } from "../../server/serve.js";
import { announce } from "../announce.js";
import type { CommandCall } from "../command.js";
import { declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "../exit-codes.js";
import { aborted, type Io } from "../io.js";
import { createLog, logEvents } from "../log.js";
import { openScenarioArgument, stdinName, warnOfScenario } from "../scenario.js";
import * as shared from "../shared-flags.js";

export const startCommand = declareCommand({
  summary: "serve a scenario until you stop it (the default command)",
  description:
    "Serves a scenario until SIGINT, SIGTERM or SIGHUP. Once it accepts requests, it prints the addresses, the keys and what each key gets. Then it logs requests on stderr.",
  args: {
    "[scenario]":
      "a bundled name, a file, or - for stdin (default: SVC_SANDBOX_SCENARIO, or svc-sandbox.yaml, or key-states without such a file)",
  },
  flags: shared.startFlags,
  // For containers. Of two variables for a flag, the first one that is set wins.
  variables: {
    SVC_SANDBOX_PORT: "port",
    PORT: "port",
    SVC_SANDBOX_HOST: "host",
    SVC_SANDBOX_PUBLIC_URL: "publicUrl",
    SVC_SANDBOX_ALLOW_HOST: "allowHosts",
    SVC_SANDBOX_TLS: "tls",
    SVC_SANDBOX_CERT: "cert",
    SVC_SANDBOX_KEY: "key",
    SVC_SANDBOX_SEED: "seed",
    SVC_SANDBOX_PROFILE: "profile",
    SVC_SANDBOX_STATE: "state",
    SVC_SANDBOX_LOG: "log",
    SVC_SANDBOX_SHOW_KEYS: "showKeys",
  },
  examples: {
    "svc-sandbox": "every state of a key, on http://127.0.0.1:4747",
    "svc-sandbox revoked --port 0": "one bundled scenario, on any free port",
    "svc-sandbox ./my.yaml --watch": "your file, reloaded when it changes",
    "svc-sandbox start --json --log off": "only one line of JSON, for a script",
    "svc-sandbox start --detach": "in the background, until svc-sandbox stop",
    "svc-sandbox start --until-stdin-ends --port 0": "for a test suite that starts it",
    "svc-sandbox --state sandbox.json --seed random": "its own keys, and continue after a restart",
    "svc-sandbox --write-env .env.sandbox": "base URL and keys for your client's environment",
  },
  async run(call) {
    const { flags, io } = call;
    if (flags.detach && io.env.SVC_IN_BACKGROUND === undefined) {
      const { startInBackground } = await import("../background.js");
      return startInBackground(call);
    }

    return serveUntilStopped(call);
  },
});

// The server of `start` and its parts, in an order that matters:
// 1. How to stop a part is added to `stops` as soon as it has started: if a later step fails, the part is stopped.
// 2. The variables of clients are written as soon as the server listens, before anything else is awaited. So they are in their
//    file before the first request, and a file that cannot be written ends the start.
// 3. The announcement follows once everything runs.

type StartCall = Pick<CommandCall<shared.StartFlags>, "args" | "flags" | "io">;

/** What each step of a start needs. */
interface StartContext {
  readonly call: StartCall;
  /** The run of `exec` or `certify` that the server belongs to. */
  readonly run: SandboxRun | undefined;
  /** The options of the flags, and for those that they do not set, of the run. */
  readonly startOptions: StartOptions;
  readonly logger: Logger;
  readonly stops: Stops;
}

/** Serves until a signal comes, or stdin ends; resolves to the exit code. */
async function serveUntilStopped(call: StartCall): Promise<number> {
  const { flags, io } = call;
  // Most servers belong to no run of `exec` or `certify`, and do not load this.
  let run: SandboxRun | undefined;
  if (io.env.SVC_SANDBOX_RUN) run = (await import("../../runs/current-run.js")).currentRun();
  const ownOptions = shared.startOptionsOf(flags);
  const startOptions = run?.optionsFor(ownOptions) ?? ownOptions;
  const logger = await createLog(flags, io);
  const stops = new Stops();
  const context = { call, run, startOptions, logger, stops };
  const stopSignal = io.stopSignal();
  const scenario = call.args[0] ?? (io.env.SVC_SANDBOX_SCENARIO || undefined);
  const stdin = flags.untilStdinEnds ? stopWithStdin(scenario, io) : undefined;

  let failures: readonly unknown[] = [];
  try {
    const isServing = await openAndStart(scenario, context, stopSignal);
    if (!isServing) return exitCode.fine;
    await aborted(stopSignal);

    let why =
      "open requests have 2 seconds to finish. To stop immediately, press Ctrl+C again or send the signal again.";
    if (stdin?.destroyed) why = "stdin ended.";
    logger.note(`Stopping: ${why}`);
  } finally {
    failures = await stops.stop();
    for (const failure of failures) {
      const text = describeFailure(failure, { ...flags, json: false });
      logger.problem(text.trimEnd());
    }
  }
  if (failures.length === 0) return exitCode.fine;
  const isDefect = failures.some((failure) => exitCodeOf(failure) === exitCode.defect);
  return isDefect ? exitCode.defect : exitCode.failed;
}

/** Stops this process when stdin ends. Returns stdin. */
function stopWithStdin(scenario: string | undefined, io: Io) {
  if (scenario === stdinName) {
    throw usageError(
      "--until-stdin-ends cannot be used if the scenario comes from stdin. Name a file, or remove the flag.",
    );
  }
  const stdin = io.stdin();
  finished(stdin.resume(), { writable: false }, io.stopProcess);
  // An open pipe does not keep a failed server alive.
  stdin.unref?.();
  return stdin;
}

/**
 * Opens the scenario and serves it; resolves to `false` if a signal comes while it is read. Nothing keeps the places of its fields
 * after this: those of a large text take much memory, and a server runs for long.
 */
async function openAndStart(
  name: string | undefined,
  context: StartContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { run, call } = context;
  let opened: OpenedScenario;
  if (name === undefined && run?.scenario !== undefined) {
    // The default is the scenario of the run, which has no text here, and so no places.
    const places = async () => ({ locate: () => undefined });
    opened = { origin: "run", loaded: { ...run.scenario, files: [] }, places };
  } else {
    try {
      opened = await openScenarioArgument(name, call.io, { signal });
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  await startServing(opened, context);
  return true;
}

/** Starts the sandbox of a scenario, its server and what belongs to it, and announces the server. */
async function startServing(opened: OpenedScenario, context: StartContext): Promise<void> {
  const { call, startOptions, logger, stops } = context;
  const { flags, io } = call;
  // With --watch, each reload puts its scenario here.
  const served = { loaded: opened.loaded };
  const options = await shared.serveOptions(flags, io, logger);
  const { sandbox, stateFile } = await openKeptSandbox(served, context, options.onDefect);
  logEvents(sandbox, flags, logger);

  const envFile = flags.writeEnv === undefined ? undefined : await import("../env-file.js");
  const server = await serve(sandbox, {
    ...options,
    stateFile,
    startedScenario: () => served.loaded,
    onControlCall: logger.controlCall,
  });
  // This waits for open requests. A second signal ends the process.
  stops.add(() => server.close());
  envFile?.keepEnvFile(flags.writeEnv ?? "", { cwd: io.cwd, sandbox, server, logger });

  if (flags.watch) {
    const { startWatching } = await import("../watch.js");
    const onReload = (reloaded: OpenedScenario) => warnOfScenario(reloaded, sandbox, startOptions, logger);
    const { origin } = opened;
    stops.add(startWatching({ origin, call, served, sandbox, logger, onReload }));
  }

  const warn = () => warnOfScenario(opened, sandbox, startOptions, logger);
  await announce(sandbox, server, call, logger, warn);
}

/** Starts the sandbox, or continues the one in the file of `--state`. */
async function openKeptSandbox(
  served: { readonly loaded: LoadedScenario },
  { call, run, startOptions, logger, stops }: StartContext,
  onProblem: (error: unknown) => void = () => {},
) {
  const { flags, io } = call;
  const isSecure = flags.tls === true || flags.cert !== undefined;
  const settings = {
    source: served.loaded,
    options: startOptions,
    platform: nodePlatform,
    clientRun: run?.conditionedRun,
    invocation: invocationOfServer(isSecure, io.program),
  };
  const opened = await openSandbox(settings, {
    name: flags.state,
    cwd: io.cwd,
    startedScenario: () => served.loaded,
    onProblem,
  });
  // The requests of the sandbox are reported in the folder of the run.
  run?.reportRequestsOf(opened.sandbox);

  const { stateFile } = opened;
  if (stateFile === undefined) return opened;
  stops.add(() => stateFile.close());
  const { savedAt } = stateFile;
  if (savedAt === undefined) return opened;

  logger.note(
    `Continuing from ${quoteFile(flags.state ?? "")}, saved ${isoTime(savedAt)}. Remove it to start again.`,
  );
  return opened;
}

/** How to stop the parts of a server. What started last stops first: no file changes a server that stops, and no request comes after the last save. */
class Stops {
  readonly #stops: (() => void | Promise<void>)[] = [];

  /** Adds how to stop a part that has started. */
  add(stop: () => void | Promise<void>): void {
    this.#stops.push(stop);
  }

  /** Stops each part, also if another one fails; resolves to the errors. */
  async stop(): Promise<readonly unknown[]> {
    const errors: unknown[] = [];
    for (const stopPart of this.#stops.toReversed()) {
      try {
        await stopPart();
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}
