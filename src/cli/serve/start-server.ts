import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxRun } from "../../runs/current-run.js";
import { invocationOfServer } from "../../sandbox/invocation.js";
import type { StartOptions } from "../../sandbox/sandbox-state.js";
import { checkedStart } from "../../sandbox/start-sandbox.js";
import { listed, quoteFile } from "../../schema/words.js";
import { openSandbox, serve } from "../../server/serve.js";
import type { StateFile } from "../../server/state-file.js";
import type { CommandCall } from "../command.js";
import * as shared from "../flags/shared-flags.js";
import { warnOfScenario } from "../scenario/warn-of-scenario.js";
import { type AnnouncedFlags, announce, announcementKind, noteOpenAddresses } from "./announce.js";
import { logEvents } from "./log.js";
import { serveOptions } from "./serve-options.js";
import type { Stops } from "./stops.js";
import { loadVariablesWriter, type VariablesWriter } from "./variables-file.js";
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
