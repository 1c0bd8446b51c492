import { finished } from "node:stream";
import { isLoopbackHost, isWildcard } from "../../node/addresses.js";
import { type LoadedScenario, stdinName } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { listed } from "../../rules/schema/words.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { parseDuration } from "../../scenario/format/fields.js";
import { type RunningServer, serve } from "../../server/serve.js";
import type { Store } from "../../store/store.js";
import { type CallOf, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { loadNamed, warnOfDates, warnOfDocument, warnOfPinned, warnOfSteps } from "../open-scenario.js";
import { banner, listeningLine, openDashboard } from "../serve/banner.js";
import { keepingFlags } from "../serve/keeping.js";
import { createLog, logEvents } from "../serve/log.js";
import { openNamedStore } from "../serve/open-store.js";
import { serveOptions } from "../serve/serve-options.js";

const flags = {
  port: flag.option(
    "-p, --port <number>",
    "the port to listen on; 0 uses any free port (default: 4747)",
    flag.readPort,
    {
      variables: ["SVC_SANDBOX_PORT", "PORT"],
    },
  ),
  ...flag.ofServer,
  ...flag.ofSandbox,
  watch: flag.toggle(
    "--watch",
    "load the scenario again when its file changes; a broken file does not replace the running scenario",
  ),
  writeEnv: flag.option(
    "--write-env <file>",
    "set SVC_BASE_URL, SVC_API_KEY and your client's other variables in this file; its other lines stay",
    flag.fileName,
  ),
  ...keepingFlags,
  drain: flag.option(
    "--drain <duration>",
    "time after SIGTERM when the server still responds but is not ready, so that load balancers notice: 10s, 0s (default: 5s with --store, or 0s)",
    flag.reader(parseDuration, "a duration such as 0s, 5s or 1m"),
  ),
  detach: flag.toggle(
    "--detach",
    "serve in the background: print the line of --json once requests are accepted, and return; the command stop ends it",
    { variables: [], conflicts: ["control", "untilStdinEnds"] },
  ),
  untilStdinEnds: flag.plainToggle(
    "--until-stdin-ends",
    "print the line of --json, and stop when stdin ends: the sandbox never outlives a program that starts it with a pipe",
  ),
  open: flag.toggle(
    "--open",
    "open the dashboard in the browser (BROWSER, or the default browser) once the server is ready",
    { conflicts: ["control"] },
  ),
  log: flag.log("pretty"),
  showKeys: flag.toggle(
    "--show-keys",
    "print full keys and a generated control token; SVC_SANDBOX_SHOW_KEYS=0 hides them (default: print them, except with --log json)",
  ),
  json: flag.json,
  quiet: flag.quiet,
};

/** How long a replica still responds after SIGTERM, in milliseconds: longer than a load balancer takes to notice. */
const drainTime = 5000;

type StartCall = CallOf<typeof flags>;

export const startCommand = declareCommand({
  summary: "serve a scenario until you stop it (the default command)",
  description:
    "Serves a scenario until SIGINT, SIGTERM or SIGHUP. Once it accepts requests, it prints the addresses, the keys and what each key gets. Then it logs requests on stderr.",
  words: flag.scenarioWord,
  flags,
  usual: [
    "port",
    "host",
    "publicUrl",
    "seed",
    "frozen",
    "profile",
    "openapi",
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
    "svc-sandbox --state sandbox.json": "continue after a restart",
    "svc-sandbox --store redis://localhost": "a replica of a shared sandbox",
    "svc-sandbox --write-env .env.sandbox": "base URL and keys for your client's environment",
  },
  async run(call) {
    const { words, flags, io } = call;
    if (flags.detach && io.env[isInBackground] === undefined) return startInBackground(call);
    const drain = flags.drain ?? (flags.store === undefined ? 0 : drainTime);
    const stop = io.stopSignal(drain);
    if (flags.untilStdinEnds) stopWithStdin(words[0], io);
    const loaded = await loadNamed(words[0], io, { ...flags, signal: stop }).catch((error) => {
      if (!stop.aborted) throw error;
    });
    if (loaded === undefined) return exitCode.fine;
    const logger = await createLog(flags, io);
    const options = await serveOptions(flags, io, logger);
    const served = { loaded };
    const loadedScenario = () => served.loaded;
    let code: number = exitCode.fine;
    // The last start ends first: no file changes a server that stops, and no request comes to a store that closes.
    const shutdown: (() => Promise<void>)[] = [];
    try {
      const onProblem = (error: unknown) => options.onDefect?.(error);
      const store = await openNamedStore(call, { own: loadedScenario, logger, onProblem, stop });
      if (store === undefined) return code;
      shutdown.push(async () => {
        if (!(await closeStore(store, logger))) code = exitCode.failed;
      });
      logEvents(store, flags, logger);
      const server = await serve(store, { ...options, own: loadedScenario, onAudit: logger.audit });
      // A second signal ends the process.
      const drained = () =>
        isDrained(stop, drain) ? io.wait(drain, new AbortController().signal) : undefined;
      shutdown.push(() => server.close(undefined, drained()));
      const { sandbox } = store;
      const writeVariables = () => writeVariablesTo(flags.writeEnv, io.cwd, sandbox, server);
      const warn = () => warnOf(served.loaded, runDue(sandbox), call, logger);
      await writeVariables();
      if (flags.watch) {
        // Loaded when needed.
        const { startWatching } = await import("../serve/reload.js");
        const onReload = async () => {
          await writeVariables().catch((error) => logger.problem(error.message));
          await warn();
        };
        const onLoad = (fresh: LoadedScenario) => {
          served.loaded = fresh;
        };
        shutdown.push(await startWatching(call, { loaded, sandbox, log: logger, onLoad, onReload }));
      }
      const announced = () => {
        announce(runDue(sandbox), server, call, logger);
        if (flags.open) openDashboard(server, newTokenOf(server, flags), io, logger);
      };
      if (!printsJson(flags)) announced();
      noteReach(server, call, logger);
      await warn();
      // A program may stop reading after the line.
      if (printsJson(flags)) announced();
      await aborted(stop);
      logger.note(whyStopping(stop, drain, call));
    } finally {
      for (const end of shutdown.reverse()) await end();
    }
    return code;
  },
});

/** Returns whether everything could be stored. */
async function closeStore(store: Store, logger: Logger): Promise<boolean> {
  try {
    await store.close();
    return true;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    logger.problem(error.message);
    return false;
  }
}

async function warnOf(
  loaded: LoadedScenario,
  sandbox: SandboxState,
  { flags, io }: StartCall,
  logger: Logger,
): Promise<void> {
  warnOfPinned(sandbox, flags, logger);
  warnOfDates(sandbox, logger);
  await warnOfDocument(loaded, sandbox, logger, flags.verbose);
  await warnOfSteps(loaded, flags, io, logger);
}

async function writeVariablesTo(
  file: string | undefined,
  cwd: string,
  sandbox: SandboxState,
  server: RunningServer,
): Promise<void> {
  if (file === undefined) return;
  // Loaded when needed.
  const [{ openEnvFile }, { clientEnvironment }] = await Promise.all([
    import("../files.js"),
    import("../../node/client-variables.js"),
  ]);
  const write = await openEnvFile(file, cwd);
  await write(clientEnvironment(runDue(sandbox), server));
}

function isDrained(stop: AbortSignal, drain: number): boolean {
  return stop.reason === "SIGTERM" && drain > 0;
}

function whyStopping(stop: AbortSignal, drain: number, { flags, io }: StartCall): string {
  if (isDrained(stop, drain))
    return `Stopping in ${drain / 1000} seconds: load balancers see that the server is not ready.`;
  if (flags.untilStdinEnds && io.stdin?.destroyed) return "Stopping: stdin ended.";
  return "Stopping: open requests have 2 seconds to finish. To stop immediately, press Ctrl+C again or send the signal again.";
}

const printsJson = ({ json, detach, untilStdinEnds }: StartCall["flags"]) =>
  json || detach || untilStdinEnds || false;

const isInBackground = "SVC_IN_BACKGROUND";

async function startInBackground({ line, words, io }: StartCall): Promise<number> {
  const { startDetached } = await import("../../node/run-command.js");
  const signal = io.stopSignal();
  const env = { ...io.env, [isInBackground]: "1" };
  const onStderr = (text: string) => io.stderr.write(text);
  const options = { cwd: io.cwd, env, stdin: words[0] === stdinName, signal, onStderr };
  const { line: printed = "", code, by } = await startDetached(line, options);
  io.stdout.write(printed);
  if (!by || signal.aborted) return code ?? exitCode.fine;
  throw usageError(`Failed to start in the background: ${by} ended it before it accepted requests.`);
}

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

// The user's own token is not printed again, and no other program gets it.
function newTokenOf({ controlToken }: RunningServer, flags: StartCall["flags"]): string | undefined {
  return flags.controlToken === undefined ? controlToken : undefined;
}

function announce(sandbox: SandboxState, server: RunningServer, { flags, io }: StartCall, log: Logger): void {
  // Other people may read logs; only the caller reads the line of JSON.
  const showKeys = flags.showKeys ?? (printsJson(flags) || flags.log !== "json");
  const maskedText = showKeys ? (text: string) => text : redactKeys;
  const newToken = newTokenOf(server, flags);
  const shownToken = showKeys ? newToken : undefined;
  if (printsJson(flags)) {
    io.stdout.write(
      maskedText(listeningLine(sandbox, showKeys ? server : { ...server, controlToken: undefined })),
    );
  } else if (flags.quiet) {
    io.stdout.write(`${server.url}\n`);
    // It appears nowhere else.
    if (shownToken) io.stderr.write(`Control token: ${shownToken}\n`);
  } else {
    io.stdout.write(maskedText(banner(sandbox, server, io.stdout.style(), shownToken, io.program)));
  }
  if (newToken !== undefined && !showKeys) {
    log.note("The generated control token is hidden. Set one with --control-token, or add --show-keys.");
  }
}

// Notes on who can reach the server: a proxy opens a control plane to others that only this machine would reach.
function noteReach(
  { url, controlUrl, controlToken }: RunningServer,
  { flags }: StartCall,
  log: Logger,
): void {
  const { host = "", publicUrl, allowHosts = [] } = flags;
  if (isWildcard(host) && publicUrl === undefined) {
    log.note(
      `Other machines cannot use the address ${url}. Set theirs with --public-url http://<name>:<port>.`,
    );
  }
  const names = [...(publicUrl === undefined ? [] : [new URL(url).host]), ...allowHosts];
  if (controlUrl === undefined || controlToken !== undefined || names.every(isLoopbackHost)) return;
  log.note(
    `Anyone who reaches ${listed(names, "or")} can change this sandbox. Require a token with --control-token.`,
  );
}
