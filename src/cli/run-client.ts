import { promises as files } from "node:fs";
import { join } from "node:path";
import { nodePlatform } from "../node/platform.js";
import { commandLine } from "../report/curl-line.js";
import { clientReport } from "../report/report.js";
import type { Report } from "../report/report-shape.js";
import { adviceOf } from "../rules/advice.js";
import { SandboxError } from "../rules/errors.js";
import { conditionedRun } from "../runs/conditioned-run.js";
import type { RunConditions } from "../runs/conditions.js";
import { Counters } from "../sandbox/journal/counts.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { Invocation, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { prepareStart, startSandbox } from "../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { listed, quote, quoteFile } from "../schema/words.js";
import { type RunningServer, serve } from "../server/serve.js";
import { KeyFinder } from "./client-output.js";
import type { CommandCall } from "./command.js";
import { clientEnvironment } from "./env-file.js";
import { unwritable } from "./exit-codes.js";
import type { Io } from "./io.js";
import { createLog, logEvents } from "./log.js";
import { type CommandEnd, type CommandOptions, runCommand } from "./run-command.js";
import { openRunFolder, type RunFolder } from "./run-folder.js";
import { warnOfStart } from "./scenario.js";
import { type SandboxFlags, type ServeFlags, serveOptions } from "./shared-flags.js";

/** A run of a client: its sandbox, its command, and what it calls. */
interface ClientStart extends Pick<CommandOptions, "terminal" | "signals" | "isLate" | "onOutput"> {
  /** The call of `exec` or `certify`, with the command of the client. */
  readonly call: Pick<CommandCall<ServeFlags & SandboxFlags>, "clientCommand" | "flags" | "io">;
  readonly loaded: LoadedScenario;
  readonly startOptions: StartOptions;
  /** The start of clocks that neither the options nor the scenario set. Default: the real time. */
  readonly clockStart?: number;
  readonly conditions: RunConditions;
  /** Counts all requests of the run for its report, also those that a test has cleared in its sandboxes. Default: new counters. */
  readonly counts?: Counters;
  /** The command line that starts certify, for the report. */
  readonly certifyLine: string;
}

/**
 * Runs a client's command against its own sandbox, to its end. The folder of the run is removed then, and also if a signal
 * comes before the command starts: the caller takes signals.
 */
export async function runClient(
  client: ClientStart,
): Promise<{ readonly end: CommandEnd; readonly report: Report; readonly folder: RunFolder }> {
  const { loaded, startOptions, clockStart, conditions, counts = new Counters() } = client;
  // The command's processes may have their own sandboxes, which start with the contents of this folder.
  const folder = await openRunFolder({
    scenario: loaded,
    options: startOptions,
    clockStart,
    conditions,
  });

  const start = prepareStart({
    source: loaded,
    options: startOptions,
    platform: nodePlatform,
    // The start of the clock is not an option: an option would replace the time of a scenario that the client loads.
    clientRun: { ...conditionedRun(conditions, folder.claim), clockStart },
    invocation: invocationOf(client),
  });
  const sandbox = startSandbox(start);
  sandbox.counters.alsoCountWith(counts);

  // Keys that the command prints are advice in the report.
  const keyFinder = new KeyFinder(sandbox);
  const onOutput: CommandOptions["onOutput"] = (name, chunk) => {
    keyFinder.add(name, chunk);
    client.onOutput?.(name, chunk);
  };
  let end: CommandEnd;
  try {
    end = await runWhileServing({ ...client, onOutput }, sandbox, folder);
  } finally {
    folder.remove();
  }

  const report = reportOfRun(sandbox, counts, keyFinder.places());
  return { end, report, folder };
}

/** The most places of keys in an output that advice names. */
const maxPlaces = 5;

/** The report of a run: what its requests show, and the places of keys in the output. */
export function reportOfRun(
  sandbox: SandboxState,
  counts: Counters,
  keysInOutput: readonly string[],
): Report {
  const report = clientReport(sandbox, counts, true);

  const advice = [...report.advice];
  if (keysInOutput.length > 0) {
    const id = "key-in-output";
    const { level, rule, meaning, whatToDo } = adviceOf(id);
    const places = `First: ${listed(keysInOutput.slice(0, maxPlaces), "and")}.`;
    const count = keysInOutput.length;
    // The most serious advice is the first.
    advice.unshift({ id, level, rule, count, meaning: `${meaning} ${places}`, whatToDo, examples: [] });
  }

  return { ...report, advice };
}

/** How often the requests of other processes are read while the command runs. */
const readIntervalMs = 1000;

/** Serves the sandbox, runs the command, and stops. */
async function runWhileServing(
  client: ClientStart,
  sandbox: SandboxState,
  folder: RunFolder,
): Promise<CommandEnd> {
  const { clientCommand, flags, io } = client.call;
  // Unless a flag sets them, any free port, and notes without a line for each request.
  const serveFlags = { port: 0, log: "off", ...flags } as const;
  const logger = await createLog(flags, io);
  logEvents(sandbox, serveFlags, logger);
  const options = await serveOptions(serveFlags, io, logger);

  // The control plane and the page show what other processes have added.
  const readFolder = () => folder.read(sandbox);
  const server = await serve(sandbox, { ...options, beforeControlCall: readFolder });
  runDue(sandbox);
  // Once, and not for each run of certify.
  if (client.terminal === "shared") warnOfStart(sandbox, flags, logger);

  const { name, seed, profile } = sandbox;
  if (flags.verbose) logger.note(`Serving ${name} (seed ${seed}, profile ${profile}) on ${server.url}.`);
  const noProxy = directHosts(io.env, server.url).join(",");
  if (flags.verbose && noProxy !== "") logger.note(`A proxy is set: NO_PROXY of the command is ${noProxy}.`);

  const command = clientCommand as [string, ...string[]]; // the reading of the command line has refused an empty one
  let readTimer: NodeJS.Timeout | undefined;
  try {
    const env = await commandEnvironment(io, sandbox, server, folder.path, noProxy);
    readTimer = setInterval(readFolder, readIntervalMs);
    const end = await runCommand(command, { ...client, cwd: io.cwd, env });
    readFolder();
    return end;
  } finally {
    clearInterval(readTimer);
    // Requests in progress are counted as well.
    await server.close();
  }
}

/** How to run the command again, for the report. */
function invocationOf({ call, certifyLine }: ClientStart): Invocation {
  const { clientCommand, flags } = call;
  const isSecure = flags.tls || flags.cert !== undefined;
  return {
    program: call.io.program,
    certify: certifyLine,
    command: commandLine(clientCommand, 2_000),
    // The command had a file with the certificate.
    curlOptions: isSecure ? '--cacert "$SVC_CA_FILE"' : "",
  };
}

/** The hosts that a command must not reach over a proxy of the network, added to its own; none without a proxy. */
function directHosts(ownEnv: Io["env"], baseUrl: string): readonly string[] {
  const hasProxy = Object.keys(ownEnv).some((name) => /^(?:https?|all)_proxy$/i.test(name) && ownEnv[name]);
  if (!hasProxy) return [];

  const hosts = new Set<string>();
  for (const host of `${ownEnv.NO_PROXY ?? ""},${ownEnv.no_proxy ?? ""}`.split(",")) {
    if (host.trim() !== "") hosts.add(host.trim());
  }
  for (const host of ["localhost", "127.0.0.1", "::1", new URL(baseUrl).hostname]) hosts.add(host);
  return [...hosts];
}

/** Variables that may be of another sandbox or the real API: they would send the command there, or real keys here. */
const clientVariable = /^SVC_(?:BASE_URL|CONTROL_URL|CA_FILE|API_KEY|KEY_.+)$/;

/** The variables of this process, with those of the sandbox. */
async function commandEnvironment(
  io: Pick<Io, "env" | "programFile">,
  sandbox: SandboxState,
  server: RunningServer,
  runFolder: string,
  noProxy: string,
): Promise<Io["env"]> {
  const { certificate, controlToken } = server;
  const otherVariables = Object.entries(io.env).filter(([name]) => !clientVariable.test(name));
  const env = Object.fromEntries(otherVariables);
  Object.assign(env, clientEnvironment(sandbox, server));
  env.SVC_SANDBOX_RUN = runFolder;
  // The requests of another version could not be counted.
  if (io.programFile !== undefined) env.SVC_SANDBOX_BIN = io.programFile;
  // The command calls the control plane, for example with `report`.
  if (controlToken !== undefined) env.SVC_SANDBOX_CONTROL_TOKEN = controlToken;
  if (noProxy !== "") Object.assign(env, { NO_PROXY: noProxy, no_proxy: noProxy });
  if (certificate !== undefined) Object.assign(env, await writeTrust(certificate, io.env, runFolder));
  return env;
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The variables in which programs look for the file with the certificates that they trust. */
const trustVariables = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

/** Writes the certificate, those that Node trusts, and those of the user's own files into one file; returns its variables. */
async function writeTrust(certificate: string, ownEnv: Io["env"], folder: string): Promise<Io["env"]> {
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  const texts = [certificate, ...rootCertificates];
  for (const name of trustVariables) {
    const usersFile = ownEnv[name];
    // A file that cannot be read adds nothing.
    if (usersFile) texts.push(await files.readFile(usersFile, "utf8").catch(() => ""));
  }

  const file = join(folder, "ca.pem");
  const trusted = new Set(texts.join("\n").match(pem));
  try {
    await files.writeFile(file, `${[...trusted].join("\n")}\n`);
  } catch (cause) {
    const what = `the certificate for the command into ${quoteFile(file)}`;
    throw unwritable(cause, what, "Name another folder in TMPDIR.");
  }
  const variables: Record<string, string> = { SVC_CA_FILE: file };
  for (const name of trustVariables) variables[name] = file;
  return variables;
}

/** Prints why a command could not be started. Returns the code with which a shell would end. */
export function sayWhyNotRun(
  program: string,
  { code, message }: NodeJS.ErrnoException,
  { sayFailure }: Pick<Io, "sayFailure">,
): number {
  let why = code ?? message;
  if (code === "EACCES") why = "you may not execute it";
  if (code === "ENOENT") {
    why =
      "there is no such command, or no such program in its first line. The command runs without a shell: write each word as its own argument, env before NAME=value, and npx before a command from this project's packages";
  }
  if (program === "") why = "its name is empty, perhaps from a variable that is not set";
  sayFailure(new SandboxError("command_unusable", `Failed to run ${quote(program)}: ${why}.`));
  return program === "" || code === "ENOENT" ? 127 : 126;
}

/** Asks what may be wrong if a command has sent no request. */
export function whyNoRequest({ tls, cert }: Pick<ServeFlags, "tls" | "cert">): string {
  const isSecure = tls || cert !== undefined;
  const trust = isSecure ? " Does it trust the certificate in SVC_CA_FILE?" : "";
  return `Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?${trust} Or do its tests mock HTTP, for example with msw? Use createHandlers of svc-sandbox/msw. If they do, the variable SVC_SANDBOX_RUN is missing in the process of your tests: pass it on, so that their requests count.`;
}
