import type { OpenedScenario } from "../node/files/scenario-files.js";
import { isMachineLimit } from "../node/files/write-file.js";
import type { Logger } from "../node/logger.js";
import { nodePlatform } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { isoTime } from "../rules/time.js";
import type { SandboxRun } from "../runs/current-run.js";
import { invocationOfServer } from "../sandbox/invocation.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { checkedStart } from "../sandbox/start-sandbox.js";
import { listed, quoteFile } from "../schema/words.js";
import { openSandbox } from "../server/open-sandbox.js";
import { type RunningServer, serve } from "../server/serve.js";
import type { ServeOptions } from "../server/serve-options.js";
import type { StateFile } from "../server/state-file.js";
import { type AnnouncedFlags, announce, announcementKind, noteOpenAddresses } from "./announce.js";
import type { CommandCall } from "./command.js";
import { describeFailure, usageError } from "./exit-codes.js";
import type * as flag from "./flags.js";
import type { Io } from "./io.js";
import { type LogFlags, logEvents } from "./log.js";
import { warnOfScenario } from "./scenario.js";
import * as shared from "./shared-flags.js";
import type { ServedScenario } from "./watch.js";

// The server of `start` and its parts, in an order that matters:
// 1. How to stop a part is added to `stops` as soon as it has started: if a later step fails, the part is stopped.
// 2. The variables of clients are written as soon as the server listens, before anything else is awaited. So they are in their
//    file before the first request, and a file that cannot be written ends the start.
// 3. The announcement follows once everything runs. People read it first, then notes and warnings. For a program it comes
//    last, because the program may stop reading after it.

interface StartFlags extends AnnouncedFlags, shared.SandboxFlags {
  readonly state?: string;
  readonly watch?: boolean;
  readonly writeEnv?: string;
}

/** What each step of a start needs. */
export interface StartContext {
  readonly call: Pick<CommandCall<StartFlags>, "args" | "flags" | "io">;
  /** The run of `exec` or `certify` that the server belongs to. */
  readonly run: SandboxRun | undefined;
  /** The options of the flags, and for those that they do not set, of the run. */
  readonly startOptions: StartOptions;
  readonly logger: Logger;
  readonly stops: Stops;
}

/** Starts the sandbox of a scenario, its server and what belongs to it, and announces the server. */
export async function startServing(opened: OpenedScenario, context: StartContext): Promise<void> {
  const { call, startOptions, logger, stops } = context;
  const { flags, io } = call;
  // With --watch, each reload puts its scenario here.
  const served: ServedScenario = { loaded: opened.loaded };
  const options = await serveOptions(flags, io, logger);
  const { sandbox, stateFile } = await openKeptSandbox(served, context, options.onDefect);
  logEvents(sandbox, flags, logger);

  let writeVariables: VariablesWriter | undefined;
  if (flags.writeEnv) writeVariables = await loadVariablesWriter(flags.writeEnv, io.cwd, sandbox, logger);
  const server = await serve(sandbox, {
    ...options,
    stateFile,
    startedScenario: () => served.loaded,
    onControlCall: logger.controlCall,
  });
  // This waits for open requests. A second signal ends the process.
  stops.add(() => server.close());
  writeVariables?.(server);

  if (flags.watch) {
    const { startWatching } = await import("./watch.js");
    const onReload = (reloaded: OpenedScenario) => warnOfScenario(reloaded, sandbox, startOptions, logger);
    stops.add(await startWatching({ call, served, sandbox, logger, onReload }));
  }

  const isForProgram = announcementKind(flags) === "json_line";
  if (!isForProgram) announce(sandbox, server, call, logger);
  noteOpenAddresses(server, call, logger);
  await warnOfScenario(opened, sandbox, startOptions, logger);
  if (isForProgram) announce(sandbox, server, call, logger);
}

/** Starts the sandbox, or continues the one in the file of `--state`. */
async function openKeptSandbox(
  served: ServedScenario,
  { call, run, startOptions, logger, stops }: StartContext,
  onProblem: (error: unknown) => void = () => {},
) {
  const { flags, io } = call;
  const isSecure = flags.tls === true || flags.cert !== undefined;
  const start = checkedStart(served.loaded, startOptions, {
    platform: nodePlatform,
    run: run?.conditionedRun,
    invocation: invocationOfServer(isSecure, io.program),
  });
  const opened = await openSandbox(start, {
    name: flags.state,
    cwd: io.cwd,
    startedScenario: () => served.loaded,
    onProblem,
  });
  // The requests of the sandbox are reported in the folder of the run.
  run?.reportRequestsOf(opened.sandbox);

  const { stateFile } = opened;
  if (stateFile !== undefined) {
    noteContinued(stateFile, flags.state ?? "", startOptions, logger);
    stops.add(() => stateFile.close());
  }
  return opened;
}

/** Says that a sandbox continues, and which flags have no effect because of that. */
function noteContinued({ savedAt }: StateFile, file: string, options: StartOptions, log: Logger): void {
  if (savedAt === undefined) return;
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(shared.startOptionsOf(options))) {
    if (value !== undefined) ignored.push(`--${name}`);
  }

  const saved = `Continuing from ${quoteFile(file)}, saved ${isoTime(savedAt)}.`;
  if (ignored.length === 0) log.note(saved);
  else log.note(`${saved} It overrides ${listed(ignored, "and")}; remove it to start again.`);
}

/** The flags of a command that serves a sandbox. */
export interface ServeFlags extends flag.FlagValues<typeof shared.serverFlags>, LogFlags {
  readonly port?: number;
}

/** The options of a server that the flags set. */
export async function serveOptions(flags: ServeFlags, io: Io, log: Logger): Promise<ServeOptions> {
  const { port = 4747, host, publicUrl, allowHosts, explain, noControl, controlToken } = flags;
  const tls = await readTls(flags, io);
  return {
    port,
    ...(host !== undefined && { host }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(allowHosts !== undefined && { allowHosts }),
    ...(explain !== undefined && { explain }),
    ...(noControl && { control: false }),
    ...(controlToken !== undefined && { controlToken }),
    ...(tls !== undefined && { tls }),
    stop: io.stopProcess,
    program: io.program,
    onDefect(error) {
      const failure = describeFailure(error, { ...flags, json: false }).trimEnd();
      // A failed save is reported here too, although no request waits for it.
      const isFailedSave = error instanceof SandboxError && error.code.startsWith("state_");
      if (isMachineLimit(error) || isFailedSave) log.problem(failure);
      else log.problem(`A request got 500. ${failure}`);
    },
  };
}

/** The option that `--tls`, `--cert` and `--key` set: whether to serve HTTPS, and with which certificate. Throws a usage error if it has no private key, or the other way round. */
async function readTls(flags: ServeFlags, { cwd }: Io): Promise<ServeOptions["tls"]> {
  const { cert, key } = flags;
  if (cert === undefined && key === undefined) return flags.tls;
  if (cert === undefined || key === undefined) {
    const requires = key === undefined ? "--cert requires --key" : "--key requires --cert";
    throw usageError(`${requires}. Use both, or only --tls for a self-signed certificate.`);
  }
  const { readPair } = await import("../server/sockets/tls.js");
  return readPair({ cert, key }, cwd);
}

/** Stops a part of a server. */
type Stop = () => void | Promise<void>;

/** How to stop the parts of a server. What started last stops first: no file changes a server that stops, and no request comes after the last save. */
export class Stops {
  readonly #stops: Stop[] = [];

  /** Adds how to stop a part that has started. */
  add(stop: Stop): void {
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

/** Writes the variables of a server's clients into a file, and again after each start of its sandbox. */
export type VariablesWriter = (server: RunningServer) => void;

/**
 * Loads what keeps the variables of clients in the file of `--write-env`. A failure of its first write is thrown, and a later one
 * is only reported: the server continues.
 */
export async function loadVariablesWriter(
  name: string,
  cwd: string,
  sandbox: SandboxState,
  logger: Logger,
): Promise<VariablesWriter> {
  const { clientEnvironment } = await import("./env-file.js");
  const { writeEnvFile } = await import("./env-file.js");
  const write = (server: RunningServer) => {
    const variables: Record<string, string> = { ...clientEnvironment(sandbox, server) };
    if (server.controlToken !== undefined) variables.SVC_SANDBOX_CONTROL_TOKEN = server.controlToken;
    const isNarrowed = writeEnvFile(name, cwd, variables);
    if (!isNarrowed) return;
    logger.note(`Only you can read ${quoteFile(name)} now (0600): it contains the control token.`);
  };

  return (server) => {
    write(server);
    sandbox.journal.subscribe(({ type }) => {
      // After a reset or a reload, the keys are others.
      if (type === "sandbox.started") tryOrReport(() => write(server), logger);
    });
  };
}

function tryOrReport(write: () => void, logger: Logger): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    logger.problem(error.message);
  }
}
