import { finished } from "node:stream";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxRun } from "../../runs/current-run.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { checkedStart, invocationOfServer } from "../../sandbox/start-sandbox.js";
import { problemsAt } from "../../scenario/problems.js";
import { ScenarioError } from "../../scenario/scenario-error.js";
import { listed, quoteFile } from "../../schema/words.js";
import { openSandbox } from "../../server/open-sandbox.js";
import { type RunningServer, serve } from "../../server/serve.js";
import type { StateFile } from "../../server/state-file.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { openNamed, stdinName } from "../scenario/open-scenario.js";
import { warnOfDates, warnOfPinned } from "../scenario/sandbox-warnings.js";
import { announce, noteReach, printsJson } from "../serve/announce.js";
import { createLog, logEvents } from "../serve/log.js";
import { serveOptions } from "../serve/serve-options.js";
import { ServedScenario } from "../serve/served-scenario.js";
import { StartedParts } from "../serve/started-parts.js";

const flags = {
  port: flag.option(
    "-p, --port <number>",
    "the port to listen on; 0 uses any free port (default: 4747)",
    flag.readPort,
    {
      variables: ["SVC_SANDBOX_PORT", "PORT"],
    },
  ),
  ...flag.serverFlags,
  ...flag.sandboxFlags,
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
  log: flag.log("pretty"),
  showKeys: flag.toggle(
    "--show-keys",
    "print full keys and a generated control token; SVC_SANDBOX_SHOW_KEYS=0 hides them (default: print them, except with --log json)",
  ),
  json: flag.json,
  quiet: flag.quiet("no notes and no request log"),
};

type StartCall = CallOf<typeof flags>;

export const startCommand = declareCommand({
  summary: "serve a scenario until you stop it (the default command)",
  description:
    "Serves a scenario until SIGINT, SIGTERM or SIGHUP. Once it accepts requests, it prints the addresses, the keys and what each key gets. Then it logs requests on stderr.",
  args: flag.scenarioArgument,
  flags,
  modes: [
    {
      // Only the control plane has a token and a dashboard, and lets the command stop end a process in the background.
      name: "start --no-control",
      when: ({ flags }) => flags.control === false,
      words: ["[scenario]"],
      flags: flag.flagNamesOf(flags, ["controlToken", "detach", "open"]),
    },
    { name: "start", words: ["[scenario]"], flags: flag.flagNamesOf(flags, ["control"]) },
  ],
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
    if (flags.detach && io.env[flag.backgroundVariable] === undefined) return startInBackground(call);

    // A server that no command of exec or certify has started does not load this.
    if (!io.env.SVC_SANDBOX_RUN) return serveUntilStopped(call, undefined);
    const { currentRun } = await import("../../runs/current-run.js");
    const run = currentRun();
    return serveUntilStopped(run === undefined ? call : withOptionsOfRun(call, run), run);
  },
});

/** What the parts of a server start with. */
interface Serving {
  readonly call: StartCall;
  readonly run: SandboxRun | undefined;
  readonly scenario: ServedScenario;
  readonly logger: Logger;
  readonly parts: StartedParts;
}

/** Starts the same command line in the background, until it accepts requests. */
async function startInBackground({ fullArgv, args, io }: StartCall): Promise<number> {
  const { startDetached } = await import("../serve/start-detached.js");
  const stop = io.stopSignal();
  const start = await startDetached(fullArgv, {
    cwd: io.cwd,
    env: { ...io.env, [flag.backgroundVariable]: "1" },
    inheritsStdin: args[0] === stdinName,
    signal: stop,
    onStderr: (text) => io.stderr.write(text),
  });
  if (start.kind === "ready") {
    io.stdout.write(start.line);
    return exitCode.fine;
  }

  // A process that the user has stopped is no failure.
  if (start.signal === null || stop.aborted) return start.code ?? exitCode.fine;
  throw usageError(
    `Failed to start in the background: ${start.signal} ended it before it accepted requests.`,
  );
}

/** The call with the options of the run of `exec` or `certify` that has started it. */
function withOptionsOfRun(call: StartCall, { optionsFor }: SandboxRun): StartCall {
  const flags = { ...call.flags, ...optionsFor(flag.startOptionsOf(call.flags)) } as StartCall["flags"];
  return { ...call, flags };
}

/** Serves until a signal comes, or stdin ends; resolves to the exit code. */
async function serveUntilStopped(call: StartCall, run: SandboxRun | undefined): Promise<number> {
  const { args, flags, io } = call;
  const stop = io.stopSignal();
  if (flags.untilStdinEnds) stopWithStdin(args[0], io);
  const opening = await openServed(call, run, stop);
  if (opening.kind === "stopped") return exitCode.fine;

  const logger = await createLog(flags, io);
  const parts = new StartedParts();
  let failures: readonly unknown[] = [];
  try {
    await startServing({ call, run, scenario: opening.scenario, logger, parts });
    await aborted(stop);
    logger.note(whyStopping(call));
  } finally {
    failures = await parts.stop();
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
function stopWithStdin(scenario: string | undefined, { stdin, stop }: Io): void {
  if (scenario === stdinName || stdin === undefined) {
    throw usageError(
      "--until-stdin-ends cannot be used if the scenario comes from stdin. Name a file, or remove the flag.",
    );
  }
  finished(stdin.resume(), { writable: false }, stop);
  // An open pipe does not keep a failed server alive.
  stdin.unref?.();
}

type ServedOpening =
  | { readonly kind: "opened"; readonly scenario: ServedScenario }
  /** A signal came while it was read. */
  | { readonly kind: "stopped" };

/** Opens the scenario that this command names, or the run's. */
async function openServed(
  { args, io }: StartCall,
  run: SandboxRun | undefined,
  signal: AbortSignal,
): Promise<ServedOpening> {
  if (run?.scenario !== undefined && args[0] === undefined) {
    return { kind: "opened", scenario: new ServedScenario({ ...run.scenario, files: [] }) };
  }
  try {
    const { loaded, places } = await openNamed(args[0], io, signal);
    return { kind: "opened", scenario: new ServedScenario(loaded, places) };
  } catch (error) {
    if (signal.aborted) return { kind: "stopped" };
    throw error;
  }
}

/** Starts the sandbox, its server and what belongs to it, and announces the server. */
async function startServing(serving: Serving): Promise<void> {
  const { call, scenario, logger, parts } = serving;
  const { flags, io } = call;
  const options = await serveOptions(flags, io, logger);
  const { sandbox, stateFile } = await openServedSandbox(serving, options.onDefect);
  logEvents(sandbox, flags, logger);

  const writeVariables = await createVariablesWriter(call, sandbox, logger);
  const server = await serve(sandbox, {
    ...options,
    stateFile,
    startedScenario: () => scenario.loaded,
    onControlCall: logger.controlCall,
  });
  // This waits for open requests. A second signal ends the process.
  parts.add(() => server.close());
  // No request comes before this: nothing is awaited since the server listens.
  writeVariables(server);
  sandbox.journal.subscribe(({ type }) => {
    // After a reset or a reload, the keys are others.
    if (type === "sandbox.started") tryToWrite(() => writeVariables(server), logger);
  });

  const warn = () => warnOfScenario(serving, sandbox);
  if (flags.watch) {
    const { startWatching } = await import("../serve/watch.js");
    parts.add(await startWatching({ call, scenario, sandbox, logger, onReload: warn }));
  }

  // People read the announcement first. For a program it comes last: the program may stop reading after it.
  const announceServer = () => {
    runDue(sandbox);
    announce(sandbox, server, call, logger);
  };
  if (!printsJson(flags)) announceServer();
  noteReach(server, call, logger);
  await warn();
  if (printsJson(flags)) announceServer();
}

/** Starts the sandbox, or continues the one in the file of `--state`. */
async function openServedSandbox(serving: Serving, onProblem: (error: unknown) => void = () => {}) {
  const { call, run, scenario, logger, parts } = serving;
  const { flags, io } = call;
  const isSecure = flags.tls === true || flags.cert !== undefined;
  const start = checkedStart(scenario.loaded, flags, {
    platform: nodePlatform,
    run: run?.conditionedRun,
    invocation: invocationOfServer(io.program, isSecure),
  });
  const opened = await openSandbox(start, {
    name: flags.state,
    cwd: io.cwd,
    startedScenario: () => scenario.loaded,
    onProblem,
  });
  run?.follow(opened.sandbox, "command");

  const { stateFile } = opened;
  if (stateFile !== undefined) {
    noteContinued(stateFile, call, logger);
    parts.add(() => stateFile.close());
  }
  return opened;
}

/** Says that a sandbox continues, and which flags have no effect because of that. */
function noteContinued({ savedAt }: StateFile, { flags }: StartCall, log: Logger): void {
  if (savedAt === undefined) return;
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(flag.startOptionsOf(flags))) {
    if (value !== undefined) ignored.push(`--${name}`);
  }

  const saved = `Continuing from ${quoteFile(flags.state ?? "")}, saved ${isoTime(savedAt)}.`;
  if (ignored.length === 0) log.note(saved);
  else log.note(`${saved} It overrides ${listed(ignored, "and")}; remove it to start again.`);
}

/** Writes a file, or reports why that fails: the server goes on. */
function tryToWrite(write: () => void, logger: Logger): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    logger.problem(error.message);
  }
}

/** Returns what writes the file of `--write-env`. */
async function createVariablesWriter(
  { flags, io }: StartCall,
  sandbox: SandboxState,
  logger: Logger,
): Promise<(server: RunningServer) => void> {
  const file = flags.writeEnv;
  if (file === undefined) return () => {};

  const { EnvFile, clientEnvironment } = await import("../files/client-variables.js");
  const envFile = new EnvFile(file, io.cwd);
  return (server) => {
    const variables: Record<string, string> = { ...clientEnvironment(sandbox, server) };
    if (server.controlToken !== undefined) variables.SVC_SANDBOX_CONTROL_TOKEN = server.controlToken;
    const isNarrowed = envFile.write(variables);
    if (isNarrowed) {
      logger.note(`Only you can read ${quoteFile(file)} now (0600): it contains the control token.`);
    }
  };
}

/** Warns of what is valid in a scenario, but usually a mistake: after the start, and after each reload. */
async function warnOfScenario(serving: Serving, sandbox: SandboxState): Promise<void> {
  const { call, scenario: served, logger } = serving;
  const { flags } = call;
  const { loaded } = served;
  const places = served.takePlaces();
  runDue(sandbox);
  warnOfPinned(sandbox, flags, logger);
  warnOfDates(sandbox, logger);

  const { name, files, piped } = loaded;
  const isBundled = files.length === 0 && piped === undefined;
  // Bundled scenarios are tested.
  if (places === undefined || isBundled) return;

  const { scenarioWarnings } = await import("../../node/scenario-warnings.js");
  const { placeOf, spelling } = await places();
  const warnings = scenarioWarnings(loaded, { spelling }, flag.startOptionsOf(flags));
  const titles: Readonly<Record<keyof typeof warnings, string>> = {
    failingSteps: `Steps of ${name} that may fail`,
    unmarkedSecrets: `Secrets of ${name} that may be real keys`,
    unheldScopes: `Scopes of ${name} that no key has`,
    shortenedDecimals: `Numbers of ${name} that JSON shortens`,
  };
  for (const kind of Object.keys(titles) as (keyof typeof titles)[]) {
    if (warnings[kind].length === 0) continue;
    const error = new ScenarioError(problemsAt(warnings[kind], placeOf, name));
    logger.note(`${titles[kind]}:\n\n${error.message}\n`);
  }
}

function whyStopping({ flags, io }: StartCall): string {
  if (flags.untilStdinEnds && io.stdin?.destroyed) return "Stopping: stdin ended.";
  return "Stopping: open requests have 2 seconds to finish. To stop immediately, press Ctrl+C again or send the signal again.";
}
