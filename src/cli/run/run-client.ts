import { nodePlatform } from "../../node/platform.js";
import { commandLine } from "../../report/curl-line.js";
import { clientReport } from "../../report/report.js";
import type { Report } from "../../report/report-shape.js";
import { conditionedRun } from "../../runs/conditioned-run.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { Invocation } from "../../sandbox/invocation.js";
import { Counters } from "../../sandbox/journal/counts.js";
import { runDue } from "../../sandbox/operations/run-due.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../../sandbox/sandbox-state.js";
import { checkedStart, startSandbox } from "../../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { serve } from "../../server/serve.js";
import type { CommandCall } from "../command.js";
import type * as shared from "../flags/shared-flags.js";
import { warnOfOverriddenProfile } from "../scenario/sandbox-warnings.js";
import { createLog, logEvents } from "../serve/log.js";
import { noteRefusedPort } from "../serve/refused-ports.js";
import { type ServeFlags, serveOptions } from "../serve/serve-options.js";
import { commandEnvironment, directHosts } from "./command-environment.js";
import { KeyFinder } from "./key-finder.js";
import { type CommandEnd, type CommandOptions, runCommand } from "./run-command.js";
import { openRunFolder, type RunFolder } from "./run-folder.js";

/** A run of a client: its sandbox, its command, and what it calls. */
interface ClientStart extends Pick<CommandOptions, "place" | "signals" | "isLate" | "onOutput"> {
  /** The call of `exec` or `certify`, with the command of the client. */
  readonly call: Pick<CommandCall<ServeFlags & shared.SandboxFlags>, "clientCommand" | "flags" | "io">;
  readonly loaded: LoadedScenario;
  readonly startOptions: StartOptions;
  /** With conditions: the start of clocks that neither the options nor the scenario set. Default: the real time. */
  readonly clockStart?: number;
  readonly conditions: RunConditions | undefined;
  /** Counts all requests of the run for its report, also those that a test has cleared in its sandboxes. Default: new counters. */
  readonly counts?: Counters;
  /** The command line that starts certify, for the report. */
  readonly certifyLine: string;
  readonly onStart?: (sandbox: SandboxState) => void;
}

/**
 * Runs a client's command against its own sandbox, to its end. The folder of the run is removed then, and also if a signal
 * comes before the command starts: the caller takes signals.
 */
export async function runClient(
  client: ClientStart,
): Promise<{ readonly end: CommandEnd; readonly report: Report; readonly folder: RunFolder }> {
  const { loaded, startOptions, clockStart, conditions, counts = new Counters() } = client;
  // The command's processes may have sandboxes of their own, which start with what is in this folder.
  const folder = await openRunFolder({
    scenario: loaded,
    options: startOptions,
    clockStart,
    conditions,
  });

  const context = {
    platform: nodePlatform,
    run: conditionedRunOf(client, folder),
    invocation: invocationOf(client),
  };
  const sandbox = startSandbox(checkedStart(loaded, startOptions, context));
  sandbox.counters.alsoCountWith(counts);
  client.onStart?.(sandbox);

  // Keys that the command prints are advice in the report.
  const keyFinder = new KeyFinder(sandbox);
  let end: CommandEnd;
  try {
    const onOutput: CommandOptions["onOutput"] = (name, chunk) => {
      keyFinder.add(name, chunk);
      client.onOutput?.(name, chunk);
    };
    end = await runWhileServing({ ...client, onOutput }, sandbox, folder);
  } finally {
    folder.remove();
  }

  const reported = { underExec: true, keysInOutput: keyFinder.places() };
  return { end, report: clientReport(sandbox, reported, counts), folder };
}

/** What the conditions change in the run's own sandbox, as they do in those of the command; `undefined` without conditions. */
function conditionedRunOf(
  { conditions, clockStart }: ClientStart,
  folder: RunFolder,
): ConditionedRun | undefined {
  if (conditions === undefined) return undefined;
  // The start of the clock is no option: an option would replace the time of a scenario that the client loads.
  return { ...conditionedRun(conditions, folder.claim), clockStart };
}

/** How often the requests of other processes are read while the command runs. */
const readIntervalMs = 100;

/** Serves the sandbox, runs the command, and stops. */
async function runWhileServing(
  client: ClientStart,
  sandbox: SandboxState,
  folder: RunFolder,
): Promise<CommandEnd> {
  const { clientCommand, flags, io } = client.call;
  // Unless a flag sets them, any free port and no log.
  const serveFlags = { port: 0, log: "off", ...flags } as const;
  const logger = await createLog(serveFlags, io);
  logEvents(sandbox, serveFlags, logger);
  const options = await serveOptions(serveFlags, io, logger);

  // The control plane and the page show what other processes have added.
  const readFolder = () => folder.read(sandbox);
  const server = await serve(sandbox, { ...options, beforeControlCall: readFolder });
  runDue(sandbox);
  warnOfOverriddenProfile(sandbox, flags, logger);
  noteRefusedPort(server, logger);

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
    folder.throwIfChangedByCommand();
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
    certify: certifyLine,
    command: commandLine(clientCommand, 2_000),
    // The command had a file with the certificate.
    curlOptions: isSecure ? '--cacert "$SVC_CA_FILE"' : "",
  };
}
