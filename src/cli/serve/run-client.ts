import { existsSync, promises as files, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { startNamed } from "../../node/platform.js";
import { commandLine } from "../../report/plain-text.js";
import { clientReport } from "../../report/report.js";
import type { Report } from "../../report/report-shape.js";
import { parseApiKey, randomLength, sandboxMark } from "../../rules/api-key.js";
import { SandboxError } from "../../rules/errors.js";
import { findBase64Keys, findKeys } from "../../rules/redact.js";
import { quote, quoteFile } from "../../rules/schema/words.js";
import { conditionedRun } from "../../runs/conditioned-run.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { Counters, Counting } from "../../sandbox/journal/counts.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { Invocation, SandboxState, StartOptions } from "../../sandbox/sandbox-state.js";
import { unknownSecret } from "../../scenario/described-keys.js";
import { type RunningServer, serve } from "../../server/serve.js";
import { clientEnvironment } from "../client-variables.js";
import type { CommandCall } from "../command.js";
import { describeFailure, unwritable } from "../exit-codes.js";
import type * as flag from "../flags.js";
import type { Io } from "../io.js";
import { warnOfPinned } from "../open-scenario.js";
import { createLog, logEvents } from "./log.js";
import { type CommandEnd, type CommandOptions, runCommand } from "./run-command.js";
import { openRunFolder, type RunFolder } from "./run-folder.js";
import { type ServeFlags, serveOptions } from "./serve-options.js";

type ServedCall = Pick<CommandCall<Omit<ServeFlags, "verbose"> & flag.SandboxFlags>, "rest" | "flags" | "io">;

/** What a run of a client starts with. */
interface ClientStart extends Pick<CommandOptions, "signals" | "isLate" | "onOutput"> {
  readonly loaded: LoadedScenario;
  readonly options: StartOptions;
  /** The start of clocks that neither the options nor the scenario set. Default: the real time. */
  readonly start?: number;
  readonly conditions: RunConditions | undefined;
  /** Gets all requests of the run: a test may clear those of its sandboxes. */
  readonly requests: Counting;
  /** What it has counted. */
  readonly counters: Pick<Counters, "read">;
  /** The line that starts certify. */
  readonly certify: string;
  readonly onStart?: (sandbox: SandboxState) => void;
}

/**
 * Runs a client's command against its own sandbox, to its end. The folder of the run is removed then, and also if a signal
 * comes before the command starts: the caller takes signals.
 */
export async function runClient(
  call: ServedCall,
  { loaded, options, start, conditions, requests, counters, certify, onStart, onOutput, ...run }: ClientStart,
): Promise<{ readonly end: CommandEnd; readonly report: Report; readonly folder: RunFolder }> {
  const folder = await openRunFolder({ scenario: loaded, options, start, conditions });
  const now = options.now ?? (loaded.scenario.clock?.now === undefined ? start : undefined);
  const sandbox = startNamed(
    loaded,
    { ...options, now },
    conditions && conditionedRun(conditions, folder.claim),
  );
  sandbox.counters.passOnTo(requests);
  onStart?.(sandbox);
  const keyFinder = new KeyFinder(sandbox);
  const end = await runServed(call, sandbox, folder, {
    ...run,
    onOutput(name, chunk) {
      keyFinder.add(name, chunk);
      onOutput?.(name, chunk);
    },
  });
  sandbox.invocation = invocationOf(call, certify);
  const report = clientReport(sandbox, { underExec: true, keysInOutput: keyFinder.places() }, counters);
  return { end, report, folder };
}

async function runServed(
  { rest, flags, io }: ServedCall,
  sandbox: SandboxState,
  folder: RunFolder,
  run: Pick<ClientStart, "signals" | "isLate" | "onOutput">,
): Promise<CommandEnd> {
  const served = { port: 0, log: "off", ...flags } as const;
  const logger = await createLog(served, io);
  const readRun = () => folder.read(sandbox);
  logEvents(sandbox, served, logger);
  const options = await serveOptions(served, io, logger);
  // The control plane and the page show what other processes have added.
  const server = await serve(sandbox, { ...options, beforeControlCall: readRun });
  runDue(sandbox);
  warnOfPinned(sandbox, flags, logger);
  const { name, seed, profile } = sandbox;
  if (flags.verbose) logger.note(`Serving ${name} (seed ${seed}, profile ${profile}) on ${server.url}.`);
  const direct = directHosts(io.env, server.url).join(",");
  if (flags.verbose && direct !== "") logger.note(`A proxy is set: NO_PROXY of the command is ${direct}.`);
  try {
    const env = await execEnvironment(io, sandbox, server, folder.path, direct);
    // A missing command was rejected before.
    const command = rest as [string, ...string[]];
    const reading = setInterval(readRun, 100);
    const end = await runCommand(command, { cwd: io.cwd, env, ...run });
    clearInterval(reading);
    readRun();
    folder.requireSound();
    return end;
  } finally {
    // Requests in progress are counted as well.
    await server.close();
    folder.remove();
  }
}

/** For the report of a command that has ended: it had a file with the certificate. */
function invocationOf({ rest, flags }: Pick<ServedCall, "rest" | "flags">, certify: string): Invocation {
  const isSecure = flags.tls || flags.cert !== undefined;
  return {
    certify,
    command: commandLine(rest, 2_000),
    curlOptions: isSecure ? '--cacert "$SVC_CA_FILE"' : "",
  };
}

export function sayWhyNotRun(
  program: string,
  failure: NodeJS.ErrnoException,
  { flags, io }: Pick<CommandCall<{ readonly format?: string; readonly json?: boolean }>, "flags" | "io">,
): number {
  const why = whyNotRun(program, failure);
  const error = new SandboxError("command_unusable", `Failed to run ${quote(program)}: ${why}.`);
  const json = flags.json || flags.format === "json";
  io.stderr[json ? "write" : "say"](describeFailure(error, { json }));
  return program === "" || failure.code === "ENOENT" ? 127 : 126;
}

function whyNotRun(program: string, { code, message }: NodeJS.ErrnoException): string {
  if (program === "") return "its name is empty, perhaps from a variable that is not set";
  if (code === "ENOENT")
    return "there is no such command, or no such program in its first line. The command runs without a shell: write each word as its own argument, env before NAME=value, and npx before a command from this project's packages";
  return code === "EACCES" ? "you may not execute it" : (code ?? message);
}

export function whyNoRequest(
  { cwd }: Pick<Io, "cwd">,
  { tls, cert }: Pick<ServeFlags, "tls" | "cert">,
): string {
  const trust = tls || cert !== undefined ? " Does it trust the certificate in SVC_CA_FILE?" : "";
  const project = join(cwd, "package.json");
  const hasMsw = existsSync(project) && /"msw"\s*:/.test(readFileSync(project, "utf8"));
  const mocks = hasMsw
    ? "its tests mock HTTP with other handlers of msw, which package.json lists"
    : "its tests mock HTTP, for example with msw";
  return `Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?${trust} Or do ${mocks}? Use createHandlers of svc-sandbox/msw. If they do, the variable SVC_SANDBOX_RUN is missing in the process of your tests: pass it on, so that their requests count.`;
}

/** The characters after the prefix; fewer are a placeholder. */
const realLength = 16;
/** A line without an end is searched in parts, which overlap by more than the length of a percent-encoded key. */
const [partLength, overlap] = [64 * 1024, 1024];

type OutputName = "stdout" | "stderr";

/** Finds full keys in what a command prints. */
export class KeyFinder {
  readonly #sandbox: SandboxState;
  readonly #streams = { stdout: { line: 1, rest: "" }, stderr: { line: 1, rest: "" } };
  readonly #places = new Set<string>();

  constructor(sandbox: SandboxState) {
    this.#sandbox = sandbox;
  }

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
    stream.rest = stream.rest.slice(-overlap);
  }

  places(): string[] {
    for (const name of ["stdout", "stderr"] as const) this.#search(name, this.#streams[name].rest);
    return [...this.#places];
  }

  #search(name: OutputName, text: string): void {
    const isFullKey = (key: string) => isFullKeyOf(this.#sandbox, key);
    if ([...findKeys(text), ...findBase64Keys(text)].some(isFullKey))
      this.#places.add(`${name}, line ${this.#streams[name].line}`);
  }
}

function isFullKeyOf(sandbox: SandboxState, key: string): boolean {
  runDue(sandbox);
  const { seed, platform, registry } = sandbox;
  const { prefix, marked } = parseApiKey(key) ?? {};
  if (prefix === undefined || key === unknownSecret(seed)) return false;
  const length = marked === true ? sandboxMark.length + randomLength : realLength;
  return key.length >= prefix.length + length || registry.find(platform.sha256(key)) !== undefined;
}

// Variables of another sandbox or the real API would send the command there, or real keys here.
const ours = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/** The hosts that a command must not reach over a proxy of the network, added to its own; none without a proxy. */
function directHosts(ownEnv: Io["env"], baseUrl: string): readonly string[] {
  const hasProxy = Object.keys(ownEnv).some((name) => /^(?:https?|all)_proxy$/i.test(name) && ownEnv[name]);
  if (!hasProxy) return [];
  const theirs = `${ownEnv.NO_PROXY ?? ""},${ownEnv.no_proxy ?? ""}`.split(",").map((host) => host.trim());
  const local = ["localhost", "127.0.0.1", "::1", new URL(baseUrl).hostname];
  return [...new Set([...theirs.filter(Boolean), ...local])];
}

async function execEnvironment(
  { env: ownEnv, executable }: Pick<Io, "env" | "executable">,
  sandbox: SandboxState,
  server: RunningServer,
  runFolder: string,
  direct: string,
): Promise<Io["env"]> {
  const { certificate, controlToken } = server;
  return {
    ...Object.fromEntries(Object.entries(ownEnv).filter(([name]) => !ours.test(name))),
    ...clientEnvironment(sandbox, server),
    SVC_SANDBOX_RUN: runFolder,
    // Another version would not be counted.
    ...(executable !== undefined && { SVC_SANDBOX_BIN: executable }),
    // For `report`, and the command's other calls of the control plane.
    ...(controlToken !== undefined && { SVC_SANDBOX_CONTROL_TOKEN: controlToken }),
    ...(direct !== "" && { NO_PROXY: direct, no_proxy: direct }),
    ...(certificate !== undefined && (await writeTrust(certificate, ownEnv, runFolder))),
  };
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const trustVariables = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

/** Writes the certificate, those that Node trusts, and those of the user's own files into one file; returns its variables. */
async function writeTrust(certificate: string, ownEnv: Io["env"], folder: string): Promise<Io["env"]> {
  const file = join(folder, "ca.pem");
  const textOf = (name: string | undefined) => (name ? files.readFile(name, "utf8").catch(() => "") : "");
  const theirs = await Promise.all(trustVariables.map((name) => textOf(ownEnv[name])));
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  const trusted = new Set([certificate, ...rootCertificates, ...theirs].join("\n").match(pem));
  await files
    .writeFile(file, `${[...trusted].join("\n")}\n`)
    .catch(
      unwritable(`the certificate for the command into ${quoteFile(file)}`, "Name another folder in TMPDIR."),
    );
  return Object.fromEntries(["SVC_CA_FILE", ...trustVariables].map((name) => [name, file]));
}
