import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxRun } from "../../runs/current-run.js";
import { runDue } from "../../sandbox/operations/run-due.js";
import type { SandboxState, StartOptions } from "../../sandbox/sandbox-state.js";
import { checkedStart, invocationOfServer } from "../../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { listed, quoteFile } from "../../schema/words.js";
import { openSandbox } from "../../server/open-sandbox.js";
import { type RunningServer, serve } from "../../server/serve.js";
import type { StateFile } from "../../server/state-file.js";
import type { CommandCall } from "../command.js";
import * as shared from "../flags/shared-flags.js";
import { warnOfScenario } from "../scenario/warn-of-scenario.js";
import { type AnnouncedFlags, announce, noteReach, printsJson } from "./announce.js";
import { logEvents } from "./log.js";
import { serveOptions } from "./serve-options.js";
import type { StartedParts } from "./started-parts.js";
import { keepVariables } from "./variables-file.js";
import type { ServedScenario } from "./watch.js";

// The server of `start` and its parts, in an order that matters:
// 1. Each part is added to `parts` as soon as it has started: if a later step fails, the part is stopped.
// 2. The variables of clients are written as soon as the server listens, before anything else is awaited. So they are in their
//    file before the first request, and a file that cannot be written ends the start.
// 3. The announcement follows once everything runs. People read it first, then notes and warnings. For a program it comes
//    last, because the program may stop reading after it.

interface ServingFlags extends AnnouncedFlags, shared.SandboxFlags {
  readonly state?: string;
  readonly watch?: boolean;
  readonly writeEnv?: string;
}

/** What the parts of a server start with. */
export interface Serving {
  readonly call: Pick<CommandCall<ServingFlags>, "args" | "flags" | "io">;
  /** The run of `exec` or `certify` that the server belongs to. */
  readonly run: SandboxRun | undefined;
  /** The options of the flags, and for those that they do not set, of the run. */
  readonly startOptions: StartOptions;
  readonly logger: Logger;
  readonly parts: StartedParts;
}

/** A scenario to serve. One of a run comes without the places of its fields. */
export interface ScenarioToServe {
  readonly loaded: LoadedScenario;
  readonly places?: OpenedScenario["places"];
}

/** Starts the sandbox, its server and what belongs to it, and announces the server. */
export async function startServing(opened: ScenarioToServe, serving: Serving): Promise<void> {
  const { call, startOptions, logger, parts } = serving;
  const { flags, io } = call;
  const scenario: ServedScenario = { loaded: opened.loaded };
  const options = await serveOptions(flags, io, logger);
  const { sandbox, stateFile } = await openServedSandbox(scenario, serving, options.onDefect);
  logEvents(sandbox, flags, logger);

  const variables = await keepVariables(flags.writeEnv, io.cwd, sandbox, logger);
  const server = await serve(sandbox, {
    ...options,
    stateFile,
    startedScenario: () => scenario.loaded,
    onControlCall: logger.controlCall,
  });
  // This waits for open requests. A second signal ends the process.
  parts.add(() => server.close());
  variables.write(server);

  if (flags.watch) {
    const { startWatching } = await import("./watch.js");
    const onReload = (reloaded: ScenarioToServe) => warnOfScenario(reloaded, sandbox, startOptions, logger);
    parts.add(await startWatching({ call, scenario, sandbox, logger, onReload }));
  }

  if (!printsJson(flags)) announceServer(sandbox, server, serving);
  noteReach(server, call, logger);
  await warnOfScenario(opened, sandbox, startOptions, logger);
  if (printsJson(flags)) announceServer(sandbox, server, serving);
}

/** Starts the sandbox, or continues the one in the file of `--state`. */
async function openServedSandbox(
  scenario: ServedScenario,
  { call, run, startOptions, logger, parts }: Serving,
  onProblem: (error: unknown) => void = () => {},
) {
  const { flags, io } = call;
  const isSecure = flags.tls === true || flags.cert !== undefined;
  const start = checkedStart(scenario.loaded, startOptions, {
    platform: nodePlatform,
    run: run?.conditionedRun,
    invocation: invocationOfServer(isSecure, io.program),
  });
  const opened = await openSandbox(start, {
    name: flags.state,
    cwd: io.cwd,
    startedScenario: () => scenario.loaded,
    onProblem,
  });
  // The requests of the sandbox are reported in the folder of the run.
  run?.follow(opened.sandbox);

  const { stateFile } = opened;
  if (stateFile !== undefined) {
    noteContinued(stateFile, flags.state ?? "", startOptions, logger);
    parts.add(() => stateFile.close());
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

/** The announcement shows what each key gets now. */
function announceServer(sandbox: SandboxState, server: RunningServer, { call, logger }: Serving): void {
  runDue(sandbox);
  announce(sandbox, server, call, logger);
}
