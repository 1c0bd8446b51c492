import { existsSync, promises as files, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodePlatform } from "../../node/platform.js";
import { commandLine } from "../../report/plain-text.js";
import { clientReport } from "../../report/report.js";
import type { Report } from "../../report/report-shape.js";
import { parseApiKey, randomLength, sandboxMark } from "../../rules/api-key.js";
import { SandboxError } from "../../rules/errors.js";
import { findBase64Keys, findKeys } from "../../rules/redact.js";
import { conditionedRun } from "../../runs/conditioned-run.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { Counters, RequestCounter } from "../../sandbox/journal/counts.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { Invocation, SandboxState, StartOptions } from "../../sandbox/sandbox-state.js";
import { checkedStart, startSandbox } from "../../sandbox/start-sandbox.js";
import { unknownSecret } from "../../scenario/described-keys.js";
import type { LoadedScenario } from "../../scenario/parse-scenario.js";
import { quote, quoteFile } from "../../schema/words.js";
import { type RunningServer, serve } from "../../server/serve.js";
import { clientEnvironment } from "../client-variables.js";
import type { CommandCall } from "../command.js";
import { describeFailure, unwritable } from "../exit-codes.js";
import type * as flag from "../flags.js";
import type { Io } from "../io.js";
import { warnOfPinned } from "../sandbox-warnings.js";
import { createLog, logEvents } from "./log.js";
import { noteRefusedPort } from "./refused-ports.js";
import { type CommandEnd, type CommandOptions, runCommand } from "./run-command.js";
import { openRunFolder, type RunFolder } from "./run-folder.js";
import { type ServeFlags, serveOptions } from "./serve-options.js";

/** The part of a call of `exec` or `certify` that each run of its client needs. */
type ClientCall = Pick<
  CommandCall<Omit<ServeFlags, "verbose"> & flag.SandboxFlags>,
  "clientCommand" | "flags" | "io"
>;

/** What a caller has to do with a command that runs. */
type ClientHooks = Pick<CommandOptions, "signals" | "isLate" | "onOutput">;

/** What a run of a client starts with. */
interface ClientStart extends ClientHooks {
  readonly loaded: LoadedScenario;
  readonly options: StartOptions;
  /** The start of clocks that neither the options nor the scenario set. Default: the real time. */
  readonly start?: number;
  readonly conditions: RunConditions | undefined;
  /** Counts all requests of the run, also those that a test has cleared in its sandboxes. */
  readonly requestCounter: RequestCounter;
  /** What the request counter has counted, for the report. */
  readonly counted: Pick<Counters, "read">;
  /** The command line that starts certify, for the report. */
  readonly certifyLine: string;
  readonly onStart?: (sandbox: SandboxState) => void;
}

/**
 * Runs a client's command against its own sandbox, to its end. The folder of the run is removed then, and also if a signal
 * comes before the command starts: the caller takes signals.
 */
export async function runClient(
  call: ClientCall,
  client: ClientStart,
): Promise<{ readonly end: CommandEnd; readonly report: Report; readonly folder: RunFolder }> {
  const { loaded, options, start, conditions } = client;
  // The command's processes may have sandboxes of their own, which start with what is in this folder.
  const folder = await openRunFolder({ scenario: loaded, options, start, conditions });

  // The start of the clock is a condition of the run, in every process of the command. As an option of this sandbox, it would
  // also replace the time that a scenario sets which the client loads.
  const run = conditions && { ...conditionedRun(conditions, folder.claim), start };
  const surroundings = { platform: nodePlatform, run, invocation: invocationOf(call, client.certifyLine) };
  const sandbox = startSandbox(checkedStart(loaded, options, surroundings));
  sandbox.counters.passOnTo(client.requestCounter);
  client.onStart?.(sandbox);

  // Keys that the command prints are advice in the report.
  const keyFinder = new KeyFinder(sandbox);
  const end = await runWhileServing(call, sandbox, folder, {
    signals: client.signals,
    ...(client.isLate && { isLate: client.isLate }),
    onOutput(name, chunk) {
      keyFinder.add(name, chunk);
      client.onOutput?.(name, chunk);
    },
  });

  const reported = { underExec: true, keysInOutput: keyFinder.places() };
  return { end, report: clientReport(sandbox, reported, client.counted), folder };
}

/** How often the requests of other processes are read while the command runs. */
const readIntervalMs = 100;

/** Serves the sandbox, runs the command, and stops. */
async function runWhileServing(
  { clientCommand, flags, io }: ClientCall,
  sandbox: SandboxState,
  folder: RunFolder,
  hooks: ClientHooks,
): Promise<CommandEnd> {
  // Unless a flag sets them, any free port and no log.
  const serveFlags = { port: 0, log: "off", ...flags } as const;
  const logger = await createLog(serveFlags, io);
  logEvents(sandbox, serveFlags, logger);
  const options = await serveOptions(serveFlags, io, logger);

  // The control plane and the page show what other processes have added.
  const readFolder = () => folder.read(sandbox);
  const server = await serve(sandbox, { ...options, beforeControlCall: readFolder });
  runDue(sandbox);
  warnOfPinned(sandbox, flags, logger);
  noteRefusedPort(server, logger);

  const { name, seed, profile } = sandbox;
  if (flags.verbose) logger.note(`Serving ${name} (seed ${seed}, profile ${profile}) on ${server.url}.`);
  const noProxy = directHosts(io.env, server.url).join(",");
  if (flags.verbose && noProxy !== "") logger.note(`A proxy is set: NO_PROXY of the command is ${noProxy}.`);

  try {
    const env = await execEnvironment(io, sandbox, server, folder.path, noProxy);
    // Commander's part of the command line has been checked: there is a command.
    const command = clientCommand as [string, ...string[]];
    const reading = setInterval(readFolder, readIntervalMs);
    const end = await runCommand(command, { cwd: io.cwd, env, ...hooks });
    clearInterval(reading);
    readFolder();
    folder.requireSound();
    return end;
  } finally {
    // Requests in progress are counted as well.
    await server.close();
    folder.remove();
  }
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
const clientVariable = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/** The variables of this process, with those of the sandbox. */
async function execEnvironment(
  io: Pick<Io, "env" | "executable">,
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
  if (io.executable !== undefined) env.SVC_SANDBOX_BIN = io.executable;
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

/** How to run the command again, for the report. */
function invocationOf(
  { clientCommand, flags }: Pick<ClientCall, "clientCommand" | "flags">,
  certifyLine: string,
): Invocation {
  const isSecure = flags.tls || flags.cert !== undefined;
  return {
    certify: certifyLine,
    command: commandLine(clientCommand, 2_000),
    // The command had a file with the certificate.
    curlOptions: isSecure ? '--cacert "$SVC_CA_FILE"' : "",
  };
}

/** The shortest real key, without its prefix; what is shorter is a placeholder. */
const minRealLength = 16;

/** A line without an end is searched in parts, which overlap by more than the length of a percent-encoded key. */
const partLength = 64 * 1024;
const partOverlap = 1024;

type OutputName = "stdout" | "stderr";

/** Finds full keys in what a command prints. */
export class KeyFinder {
  readonly #sandbox: SandboxState;
  /** For each output the number of the current line, and what has come of it. */
  readonly #streams = { stdout: { line: 1, rest: "" }, stderr: { line: 1, rest: "" } };
  readonly #places = new Set<string>();

  constructor(sandbox: SandboxState) {
    this.#sandbox = sandbox;
  }

  /** Searches what the command has printed, line by line. */
  add(name: OutputName, chunk: Buffer): void {
    const stream = this.#streams[name];
    const lines = (stream.rest + chunk.toString("latin1")).split("\n");
    stream.rest = lines.pop() as string;
    for (const line of lines) {
      this.#search(name, line);
      stream.line += 1;
    }

    if (stream.rest.length < partLength) return;
    this.#search(name, stream.rest);
    stream.rest = stream.rest.slice(-partOverlap);
  }

  /** The lines with a key, also in the last one without an end: `stdout, line 3`. */
  places(): string[] {
    for (const name of ["stdout", "stderr"] as const) this.#search(name, this.#streams[name].rest);
    return [...this.#places];
  }

  #search(name: OutputName, text: string): void {
    for (const key of [...findKeys(text), ...findBase64Keys(text)]) {
      if (!isFullKey(key, this.#sandbox)) continue;
      this.#places.add(`${name}, line ${this.#streams[name].line}`);
      return;
    }
  }
}

/** Whether a text is a whole key that may be real or is one of the sandbox, and not the start of one or a placeholder. */
function isFullKey(key: string, sandbox: SandboxState): boolean {
  runDue(sandbox);
  const { seed, platform, registry } = sandbox;
  const parsed = parseApiKey(key);
  if (parsed === undefined || key === unknownSecret(seed)) return false;

  const fullLength = parsed.marked ? sandboxMark.length + randomLength : minRealLength;
  if (key.length >= parsed.prefix.length + fullLength) return true;
  // A scenario may set a shorter one.
  return registry.find(platform.sha256(key)) !== undefined;
}

/** Prints why a command could not be started. Returns the code with which a shell would end. */
export function sayWhyNotRun(
  program: string,
  failure: NodeJS.ErrnoException,
  { flags, io }: Pick<CommandCall<{ readonly format?: string; readonly json?: boolean }>, "flags" | "io">,
): number {
  const why = whyNotRun(program, failure);
  const error = new SandboxError("command_unusable", `Failed to run ${quote(program)}: ${why}.`);
  if (flags.json || flags.format === "json") io.stderr.write(describeFailure(error, { json: true }));
  else io.stderr.say(describeFailure(error, {}));
  return program === "" || failure.code === "ENOENT" ? 127 : 126;
}

function whyNotRun(program: string, { code, message }: NodeJS.ErrnoException): string {
  if (program === "") return "its name is empty, perhaps from a variable that is not set";
  if (code === "ENOENT") {
    return "there is no such command, or no such program in its first line. The command runs without a shell: write each word as its own argument, env before NAME=value, and npx before a command from this project's packages";
  }
  if (code === "EACCES") return "you may not execute it";
  return code ?? message;
}

/** Asks what may be wrong if a command has sent no request. */
export function whyNoRequest(
  { cwd }: Pick<Io, "cwd">,
  { tls, cert }: Pick<ServeFlags, "tls" | "cert">,
): string {
  const isSecure = tls || cert !== undefined;
  const trust = isSecure ? " Does it trust the certificate in SVC_CA_FILE?" : "";

  let mocks = "its tests mock HTTP, for example with msw";
  const project = join(cwd, "package.json");
  if (existsSync(project) && /"msw"\s*:/.test(readFileSync(project, "utf8"))) {
    mocks = "its tests mock HTTP with other handlers of msw, which package.json lists";
  }
  return `Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?${trust} Or do ${mocks}? Use createHandlers of svc-sandbox/msw. If they do, the variable SVC_SANDBOX_RUN is missing in the process of your tests: pass it on, so that their requests count.`;
}
