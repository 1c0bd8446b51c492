import { resolve } from "node:path";
import { finished } from "node:stream";
import { firstEndpoint } from "../../api/endpoints.js";
import type { SandboxRun } from "../../library/run-folder.js";
import { controlPath, isLoopbackHost, isWildcard } from "../../node/addresses.js";
import { type LoadedScenario, requireDocument, stdinName } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { nodeCrypto } from "../../node/platform.js";
import { alignColumns, shellWord } from "../../report/plain-text.js";
import { type Assumptions, assumptionsFor } from "../../rules/assumptions.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { listed, quote } from "../../rules/schema/words.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { announcedKeys, defaultSecret, firstKeys, secretsOf } from "../../sandbox/secrets.js";
import { givenOptions } from "../../sandbox/start.js";
import { type RunningServer, serve } from "../../server/serve.js";
import type { StateFile, StateOptions } from "../../server/state-file.js";
import { type CallOf, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { keyRows, keyTable, rejectedRows } from "../key-rows.js";
import {
  givenFlags,
  loadNamed,
  startNamed,
  warnOfDates,
  warnOfDocument,
  warnOfPinned,
  warnOfSteps,
} from "../open-scenario.js";
import { createLog, logEvents } from "../serve/log.js";
import { serveOptions } from "../serve/serve-options.js";
import type { Style } from "../terminal.js";

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
    "set SVC_BASE_URL, SVC_API_KEY, your client's other variables, and a required control token in this file; its other lines stay",
    flag.fileName,
  ),
  state: flag.option(
    "--state <file>",
    "keep the sandbox in this file, with its requests, so that it survives a restart; the file overrides --seed, --now, --frozen and --profile",
    flag.fileName,
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
    "svc-sandbox --state sandbox.json --seed random": "its own keys, and continue after a restart",
    "svc-sandbox --write-env .env.sandbox": "base URL and keys for your client's environment",
  },
  async run(call) {
    if (call.flags.detach && call.io.env[isInBackground] === undefined) return startInBackground(call);
    // Loaded when needed: few servers are started by a command of exec or certify.
    const run = call.io.env.SVC_SANDBOX_RUN
      ? (await import("../../library/run-folder.js")).currentRun()
      : undefined;
    return serveUntilStopped(run === undefined ? call : inRun(run, call), run);
  },
});

async function serveUntilStopped(call: StartCall, run: SandboxRun | undefined): Promise<number> {
  const { flags, io, words } = call;
  const stop = io.stopSignal();
  if (flags.untilStdinEnds) stopWithStdin(words[0], io);
  const loaded = await loadServed(run, call, stop);
  if (loaded === undefined) return exitCode.fine;
  const logger = await createLog(flags, io);
  const options = await serveOptions(flags, io, logger);
  const served = { loaded };
  const loadedScenario = () => served.loaded;
  let code: number = exitCode.fine;
  // The last start ends first: no file changes a server that stops, and no request comes after the last save.
  const shutdown: (() => Promise<void>)[] = [];
  try {
    const start = () => startNamed(served.loaded, flags, run?.conditions);
    const stateFile = await openNamedState(call, loadedScenario, {
      start,
      onProblem: options.onDefect ?? (() => {}),
      conditions: run?.conditions,
    });
    if (stateFile !== undefined) {
      noteContinued(stateFile, call, loaded, logger);
      shutdown.push(async () => {
        if (!isSaved(stateFile, logger)) code = exitCode.failed;
      });
    }
    const sandbox = stateFile?.sandbox ?? start();
    run?.follow(sandbox, "command");
    logEvents(sandbox, flags, logger);
    const { controlCall: onControlCall } = logger;
    const server = await serve(sandbox, { ...options, stateFile, own: loadedScenario, onControlCall });
    // A second signal ends the process.
    shutdown.push(() => server.close());
    const writeVariables = () => writeVariablesTo(flags.writeEnv, io.cwd, sandbox, server);
    const warn = () => warnOf(served.loaded, sandbox, call, logger);
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
      runDue(sandbox);
      announce(sandbox, server, call, logger);
      if (flags.open) openDashboard(server, newTokenOf(server, flags), io, logger);
    };
    if (!printsJson(flags)) announced();
    noteReach(server, call, logger);
    await warn();
    // A program may stop reading after the line.
    if (printsJson(flags)) announced();
    await aborted(stop);
    logger.note(whyStopping(call));
  } finally {
    for (const end of shutdown.reverse()) await end();
  }
  return code;
}

/** Adds the options of a run, which this command takes part in. */
function inRun({ optionsFor }: SandboxRun, call: StartCall): StartCall {
  const { seed, now, frozen, profile } = optionsFor(givenOptions({ ...call.flags, openapi: undefined }));
  return { ...call, flags: { ...call.flags, seed, now, frozen, profile } as StartCall["flags"] };
}

/** Loads the scenario that this command names, or the run's; resolves to `undefined` if stopped before. */
async function loadServed(
  run: SandboxRun | undefined,
  { words, flags, io }: StartCall,
  signal: AbortSignal,
): Promise<LoadedScenario | undefined> {
  const isNamed = words[0] !== undefined || flags.openapi !== undefined;
  if (run?.scenario !== undefined && !isNamed) {
    await requireDocument(run.scenario.scenario);
    return { ...run.scenario, files: [] };
  }
  return loadNamed(words[0], io, { ...flags, signal }).catch((error) => {
    if (signal.aborted) return undefined;
    throw error;
  });
}

/** Continues the sandbox of the file in the flags, or starts one; `undefined` without such a file. */
async function openNamedState(
  { flags, io }: StartCall,
  own: () => LoadedScenario,
  options: Pick<StateOptions, "start" | "onProblem" | "conditions">,
): Promise<StateFile | undefined> {
  const { state: name } = flags;
  if (name === undefined) return undefined;
  // Loaded when needed.
  const { openStateFile } = await import("../../server/state-file.js");
  const place = { file: resolve(io.cwd, name), given: name };
  return openStateFile(place, { ...options, own, given: givenFlags(flags, own()) });
}

function noteContinued(
  { savedAt }: StateFile,
  { flags }: StartCall,
  loaded: LoadedScenario,
  log: Logger,
): void {
  if (savedAt === undefined) return;
  const given = Object.entries(givenFlags(flags, loaded));
  const ignored = given.flatMap(([flag, value]) => (value === undefined ? [] : `--${flag}`));
  const overrides =
    ignored.length === 0 ? "" : ` It overrides ${listed(ignored, "and")}; remove it to start again.`;
  log.note(`Continuing from ${quote(flags.state)}, saved ${new Date(savedAt).toISOString()}.${overrides}`);
}

/** Returns whether everything could be saved. */
function isSaved(stateFile: StateFile, logger: Logger): boolean {
  try {
    stateFile.close();
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
  runDue(sandbox);
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
  runDue(sandbox);
  const { controlToken } = server;
  const token = controlToken === undefined ? {} : { SVC_SANDBOX_CONTROL_TOKEN: controlToken };
  await write({ ...clientEnvironment(sandbox, server), ...token });
}

function whyStopping({ flags, io }: StartCall): string {
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
  const showKeys = flags.showKeys ?? flags.log !== "json";
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

const shownKeys = 40;

/** Returns the lines that `start` prints for people; with the control token only if it is new: the user knows their own. */
function banner(
  sandbox: SandboxState,
  server: RunningServer,
  style: Style,
  newToken: string | undefined,
  program: string,
): string {
  const { palette, width } = style;
  const { url, localUrl, controlUrl, certificate } = server;
  const { keys, leftOut } = firstKeys(sandbox, shownKeys);
  const rows = [...keyRows(sandbox, secretsOf(keys, sandbox)), ...rejectedRows(sandbox)];
  const lines = (facts: Readonly<Record<string, string | undefined>>) => {
    const factRows = Object.entries(facts).flatMap(([name, fact]) => (fact ? [[name, fact]] : []));
    return alignColumns(factRows).map((line) => `  ${line}`);
  };
  return [
    palette.bold(`svc-sandbox is listening on ${localUrl}`),
    "",
    ...lines({
      TLS: certificate && certificateText(certificate),
      Scenario: `${sandbox.name}, seed ${sandbox.seed}`,
      Clock: `${new Date(sandbox.clock.now()).toISOString()}, ${sandbox.clock.isFrozen() ? "frozen" : "running"}`,
      Profile: profileText(sandbox),
    }),
    "",
    ...keyTable(rows, palette, width - 2).map((line) => `  ${line}`),
    ...(leftOut > 0 ? [`  … and ${leftOut} more: ${program} keys ${sandbox.name}`] : []),
    "",
    // At the end, to be visible in a small window.
    ...lines({
      "Base URL": url,
      Control: controlUrl,
      Dashboard: controlUrl && dashboardLink(controlUrl, newToken),
      Token: newToken && `${newToken}  (for the control plane: Authorization: Bearer …)`,
    }),
    "",
    "Try it:",
    `  ${curlLine(sandbox, server)}`,
    "",
    "",
  ].join("\n");
}

function listeningLine(sandbox: SandboxState, server: RunningServer): string {
  const { url, localUrl, controlUrl, controlToken, certificate } = server;
  const { keys, leftOut } = announcedKeys(sandbox);
  const line = {
    event: "listening",
    base_url: url,
    // Left out if it is the base URL.
    local_url: localUrl === url ? undefined : localUrl,
    control_url: controlUrl ?? null,
    scenario: sandbox.name,
    seed: sandbox.seed,
    keys: secretsOf(keys, sandbox),
    ...(leftOut > 0 && { keys_left_out: leftOut }),
    // Left out if there is none.
    control_token: controlToken,
    certificate,
  };
  return `${JSON.stringify(line)}\n`;
}

function certificateText(certificate: string): string {
  const { fingerprint256, issuer, subject } = new nodeCrypto.X509Certificate(certificate);
  return `${issuer === subject ? "self-signed" : "yours"}, SHA-256 ${fingerprint256}`;
}

function curlLine(sandbox: SandboxState, { url, certificate }: RunningServer): string {
  const secret = defaultSecret(sandbox);
  const header = secret === undefined ? "" : `-H "x-api-key: ${secret}" `;
  const target = shellWord(url + firstEndpoint(sandbox).path);
  // Without -g, curl reads the brackets of an IPv6 address as a pattern.
  const literal = /[[{]/.test(target) ? "-g " : "";
  // Works with any certificate; a client that checks it needs the certificate.
  const unchecked = certificate === undefined ? "" : "-k ";
  return `curl -i ${unchecked}${header}${literal}${target}`;
}

function profileText({ profile, assumptions, endpoints }: SandboxState): string {
  const standard = assumptionsFor(profile, {}, endpoints);
  const changed = (Object.keys(assumptions) as (keyof Assumptions)[])
    .filter((name) => JSON.stringify(assumptions[name]) !== JSON.stringify(standard[name]))
    .map((name) => `${name}: ${JSON.stringify(assumptions[name])}`);
  return [profile, ...changed].join(", ");
}

// A new token follows `#`, which no log contains.
function dashboardLink(controlUrl: string, newToken: string | undefined): string {
  return `${controlUrl}/${newToken === undefined ? "" : `#token=${newToken}`}`;
}

function openDashboard(
  { localUrl }: RunningServer,
  newToken: string | undefined,
  { env }: Io,
  log: Logger,
): void {
  if (env.BROWSER === "none") return;
  const [program, ...words] = openerOf(env);
  const controlUrl = localUrl + controlPath;
  const failed = (reason: string) =>
    log.problem(`No browser was opened: ${reason}. Open the dashboard yourself: ${controlUrl}/`);
  // Loaded when needed. Without a shell, which would interpret the address. Detached, so that Ctrl-C does not end it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const link = dashboardLink(controlUrl, newToken);
  const child = spawn(program, [...words, link], { env, stdio: "ignore", detached: true });
  child.on("error", ({ code, message }: NodeJS.ErrnoException) =>
    failed(code === "ENOENT" ? `there is no ${program}` : message),
  );
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) failed(`${program} ended with ${code}`);
  });
  // The browser may stay open longer than this process.
  child.unref();
}

function openerOf({ BROWSER, SystemRoot = "C:\\Windows" }: Io["env"]): [string, ...string[]] {
  // xdg-open handles lists of browsers.
  if (BROWSER && !/%s|:[^\\]/.test(BROWSER)) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  // Like `start`, but without cmd.exe.
  const rundll = `${SystemRoot}\\System32\\rundll32.exe`;
  return process.platform === "win32" ? [rundll, "url.dll,FileProtocolHandler"] : ["xdg-open"];
}
