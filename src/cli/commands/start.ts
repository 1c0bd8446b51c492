import { finished } from "node:stream";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { SandboxRun } from "../../runs/current-run.js";
import { declareCommand } from "../command.js";
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
    if (flags.detach && io.env[backgroundVariable] === undefined) {
      const { startInBackground } = await import("../background.js");
      return startInBackground(call);
    }

    // Most servers belong to no run of `exec` or `certify`, and do not load this.
    let run: SandboxRun | undefined;
    if (io.env.SVC_SANDBOX_RUN) run = (await import("../../runs/current-run.js")).currentRun();
    const ownOptions = shared.startOptionsOf(flags);
    const startOptions = run?.optionsFor(ownOptions) ?? ownOptions;
    const logger = await createLog(flags, io);
    return serveUntilStopped({ call, run, startOptions, logger, stops: new Stops() });
  },
});

/** Serves until a signal comes, or stdin ends; resolves to the exit code. */
async function serveUntilStopped(context: StartContext): Promise<number> {
  const { call, logger, stops } = context;
  const { args, flags, io } = call;
  const stopSignal = io.stopSignal();
  if (flags.untilStdinEnds) stopWithStdin(args[0], io);

  let failures: readonly unknown[] = [];
  try {
    const isServing = await openAndStart(context, stopSignal);
    if (!isServing) return exitCode.fine;
    await aborted(stopSignal);

    let why =
      "open requests have 2 seconds to finish. To stop immediately, press Ctrl+C again or send the signal again.";
    if (flags.untilStdinEnds && io.stdin?.destroyed) why = "stdin ended.";
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
 * Opens the scenario and serves it; resolves to `false` if a signal comes while it is read. Nothing keeps the places of its fields
 * after this: those of a large text take much memory, and a server runs for long.
 */
async function openAndStart(context: StartContext, signal: AbortSignal): Promise<boolean> {
  const { run, call } = context;
  const [name] = call.args;
  let opened: OpenedScenario;
  if (name === undefined && run?.scenario !== undefined) {
    // The default is the scenario of the run, which has no text here, and so no places.
    const places = async () => ({ placeOf: () => undefined, spelling: () => undefined });
    opened = { origin: "run", loaded: { ...run.scenario, files: [] }, places };
  } else {
    try {
      opened = await openScenarioArgument(name, call.io, signal);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  await startServing(opened, context);
  return true;
}
