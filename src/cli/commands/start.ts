import { finished } from "node:stream";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { SandboxRun } from "../../runs/current-run.js";
import { type CommandCall, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, backgroundVariable, type Io } from "../io.js";
import { createLog } from "../log.js";
import { openScenarioArgument, stdinName } from "../scenario.js";
import { type StartContext, Stops, startServing } from "../serve.js";
import * as shared from "../shared-flags.js";

const startFlags = {
  port: flag.option(
    "-p, --port <number>",
    "the port to listen on; 0 uses any free port (default: 4747)",
    flag.readPort,
    {
      variables: ["SVC_SANDBOX_PORT", "PORT"],
    },
  ),
  ...shared.serverFlags,
  ...shared.sandboxFlags,
  watch: flag.toggle(
    "--watch",
    "load the scenario again when its file changes; a broken file does not replace the running scenario",
  ),
  writeEnv: flag.option(
    "--write-env <file>",
    "set SVC_BASE_URL, SVC_API_KEY, your client's other variables, and a required control token in this file; its other lines stay",
    flag.readFileName,
  ),
  state: flag.option(
    "--state <file>",
    "keep the sandbox in this file, with its requests, so that it survives a restart; the file overrides --seed, --now, --frozen and --profile",
    flag.readFileName,
  ),
  detach: flag.toggle(
    "--detach",
    "serve in the background: print the line of --json once requests are accepted, and return; the command stop ends it",
    { variables: [], conflicts: ["untilStdinEnds"] },
  ),
  untilStdinEnds: flag.cliOnlyToggle(
    "--until-stdin-ends",
    "print the line of --json, and stop when stdin ends: the sandbox never outlives a program that starts it with a pipe",
  ),
  open: flag.toggle(
    "--open",
    "open the dashboard in the browser (BROWSER, or the default browser) once the server is ready",
  ),
  log: shared.log("pretty"),
  showKeys: flag.toggle(
    "--show-keys",
    "print full keys and a generated control token; SVC_SANDBOX_SHOW_KEYS=0 hides them (default: print them, except with --log json)",
  ),
  json: shared.json,
  quiet: shared.quiet("no notes and no request log"),
};

type StartCall = CommandCall<flag.FlagValues<typeof startFlags>>;

export const startCommand = declareCommand({
  summary: "serve a scenario until you stop it (the default command)",
  description:
    "Serves a scenario until SIGINT, SIGTERM or SIGHUP. Once it accepts requests, it prints the addresses, the keys and what each key gets. Then it logs requests on stderr.",
  args: shared.scenarioArgument,
  flags: startFlags,
  usualFlags: [
    "port",
    "host",
    "publicUrl",
    "seed",
    "frozen",
    "profile",
    "watch",
    "writeEnv",
    "state",
    "open",
  ],
  examples: {
    "svc-sandbox": "every state of a key, on http://127.0.0.1:4747",
    "svc-sandbox revoked --port 0": "one bundled scenario, on any free port",
    "svc-sandbox ./my.yaml --watch": "your file, reloaded when it changes",
    "svc-sandbox start --json --log off": "only one line of JSON, for a script",
    "svc-sandbox start --detach": "in the background, until svc-sandbox stop",
    "svc-sandbox start --until-stdin-ends --port 0": "for a test suite that starts it",
    "svc-sandbox --open": "and the dashboard in the browser",
    "svc-sandbox --state sandbox.json --seed random": "its own keys, and continue after a restart",
    "svc-sandbox --write-env .env.sandbox": "base URL and keys for your client's environment",
  },
  async run(call) {
    const { flags, io } = call;
    if (flags.detach && io.env[backgroundVariable] === undefined) return startInBackground(call);

    const ownOptions = shared.startOptionsOf(flags);
    const run = await runOfProcess(io);
    const startOptions = run === undefined ? ownOptions : run.optionsFor(ownOptions);
    const logger = await createLog(flags, io);
    return serveUntilStopped({ call, run, startOptions, logger, stops: new Stops() });
  },
});

/** Starts the same command line in the background, until it accepts requests. */
async function startInBackground({ fullArgv, args, io }: StartCall): Promise<number> {
  const { startDetached } = await import("../background.js");
  const stopSignal = io.stopSignal();
  const start = await startDetached(fullArgv, {
    cwd: io.cwd,
    env: { ...io.env, [backgroundVariable]: "1" },
    inheritsStdin: args[0] === stdinName,
    signal: stopSignal,
    onStderr: (text) => io.stderr.write(text),
  });
  if (start.kind === "ready") {
    io.stdout.write(start.line);
    return exitCode.fine;
  }

  // A process that the user has stopped is no failure.
  if (start.signal === null || stopSignal.aborted) return start.code ?? exitCode.fine;
  throw usageError(
    `Failed to start in the background: ${start.signal} ended it before it accepted requests.`,
  );
}

/** The run of `exec` or `certify` that this process belongs to, if there is one. */
async function runOfProcess({ env }: Io): Promise<SandboxRun | undefined> {
  // Most servers belong to none, and do not load this.
  if (!env.SVC_SANDBOX_RUN) return undefined;
  const { currentRun } = await import("../../runs/current-run.js");
  return currentRun();
}

/** Serves until a signal comes, or stdin ends; resolves to the exit code. */
async function serveUntilStopped(context: StartContext): Promise<number> {
  const { call, logger, stops } = context;
  const { args, flags, io } = call;
  const stopSignal = io.stopSignal();
  if (flags.untilStdinEnds) stopWithStdin(args[0], io);

  let failures: readonly unknown[] = [];
  try {
    const starting = await openAndStart(context, stopSignal);
    if (starting === "stopped") return exitCode.fine;
    await aborted(stopSignal);
    logger.note(whyStopping(call));
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

/** Stops this process when stdin ends. */
function stopWithStdin(scenario: string | undefined, { stdin, stopProcess }: Io): void {
  if (scenario === stdinName || stdin === undefined) {
    throw usageError(
      "--until-stdin-ends cannot be used if the scenario comes from stdin. Name a file, or remove the flag.",
    );
  }
  finished(stdin.resume(), { writable: false }, stopProcess);
  // An open pipe does not keep a failed server alive.
  stdin.unref?.();
}

/**
 * Opens the scenario and serves it, unless a signal comes while it is read. Nothing keeps the places of its fields after this:
 * those of a large text take much memory, and a server runs for long.
 */
async function openAndStart(context: StartContext, signal: AbortSignal): Promise<"started" | "stopped"> {
  const opened = await openUnlessStopped(context, signal);
  if (opened === "stopped") return "stopped";
  await startServing(opened, context);
  return "started";
}

/** Opens the scenario that the command line names. Default: that of the run, if this process belongs to one. */
async function openUnlessStopped(
  { run, call }: StartContext,
  signal: AbortSignal,
): Promise<OpenedScenario | "stopped"> {
  const [name] = call.args;
  if (name === undefined && run?.scenario !== undefined) {
    return { loaded: { ...run.scenario, files: [] }, places: noPlaces };
  }

  try {
    return await openScenarioArgument(name, call.io, signal);
  } catch (error) {
    if (signal.aborted) return "stopped";
    throw error;
  }
}

/** The places of a scenario that has no text. */
const noPlaces = async () => ({ placeOf: () => undefined, spelling: () => undefined });

function whyStopping({ flags, io }: StartContext["call"]): string {
  if (flags.untilStdinEnds && io.stdin?.destroyed) return "Stopping: stdin ended.";
  return "Stopping: open requests have 2 seconds to finish. To stop immediately, press Ctrl+C again or send the signal again.";
}
