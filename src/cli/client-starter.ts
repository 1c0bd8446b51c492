import { constants } from "node:os";
import type { PlannedRun, RunEnd } from "../certify/client-runs/client-run.js";
import { SeenRequests } from "../certify/client-runs/seen-requests.js";
import { nodePlatform } from "../node/platform.js";
import { minute } from "../rules/time.js";
import { Counters } from "../sandbox/journal/counts.js";
import type { StartOptions } from "../sandbox/sandbox-state.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { OutputTail } from "./client-output.js";
import type { CommandCall } from "./command.js";
import { JobQueue } from "./job-queue.js";
import { runClient } from "./run-client.js";
import { type CommandEnd, TakenSignals } from "./run-command.js";
import type { ServeFlags } from "./shared-flags.js";

// How a command ends (`CommandEnd`), and what certify gets of it:
//
//   the command             certify gets
//   not_run                 a run that has failed, with why it could not start
//   stopped, by a signal    stopped, as each run during or after a signal
//   ended, in its time      a run that has passed or failed, by the exit code
//   ended, too late         a run that has timed out

/** What all runs of a client have in common. */
interface CommonStart {
  readonly loaded: LoadedScenario;
  readonly call: Pick<CommandCall<ServeFlags>, "clientCommand" | "io" | "flags">;
  /** The options of each sandbox, but for its seed. */
  readonly startOptions: StartOptions;
}

/** Runs a client many times, `jobs` of them in parallel, and takes the signals of this process. */
export class ClientStarter {
  readonly #common: CommonStart;
  readonly #queue: JobQueue;
  readonly #signals: TakenSignals;

  constructor(common: CommonStart, jobs: number) {
    this.#common = common;
    this.#queue = new JobQueue(jobs);
    this.#signals = new TakenSignals(common.call.io);
  }

  /** The signal that has stopped the runs: all current ones got it, and no more start. */
  get stopped(): NodeJS.Signals | undefined {
    return this.#signals.first;
  }

  /** Stops taking signals: after the certificate, which a signal must not interrupt. */
  release(): void {
    this.#signals.release();
  }

  /** Runs the client in its own sandbox once a job is free. */
  runInTurn(request: PlannedRun): Promise<RunEnd | "stopped"> {
    return this.#queue.run(() => this.#runUnlessStopped(request), request.isAlone);
  }

  async #runUnlessStopped(request: PlannedRun): Promise<RunEnd | "stopped"> {
    if (this.stopped !== undefined) return "stopped";
    const runEnd = await runInOwnSandbox(this.#common, request, this.#signals);
    // A run that the signal ended shows nothing.
    return this.stopped === undefined ? runEnd : "stopped";
  }
}

async function runInOwnSandbox(
  { call, loaded, startOptions }: CommonStart,
  request: PlannedRun,
  signals: TakenSignals,
): Promise<RunEnd | "stopped"> {
  // Milliseconds: of the whole run, and since the latest request.
  const { total, silent } = request.timeouts;
  const { stopwatch, time } = nodePlatform;
  const requests = new SeenRequests(stopwatch);
  const counts = new Counters();
  counts.alsoCountWith(requests);
  const output = new OutputTail();
  const started = stopwatch();
  const now = time();
  const { end, report, folder } = await runClient({
    call,
    loaded,
    startOptions: { ...startOptions, seed: request.seed },
    // Each run starts at the start of a minute, so that a limit of the minute ends at the same time in all of them.
    clockStart: now - (now % minute),
    conditions: request.conditions,
    counts,
    certifyLine: `${call.io.program} certify`,
    terminal: "none",
    signals,
    isLate: () => stopwatch() - started > total || stopwatch() - requests.latestRequestAt > silent,
    onOutput: (_name, chunk) => output.add(chunk),
  });
  folder.throwIfIncomplete();
  const durationMs = Math.round(stopwatch() - started);
  return runEndOf(end, { durationMs, report, output: output.lines(), ...requests.facts() });
}

/** What certify gets of a command: the table at the head of this file. */
function runEndOf(end: CommandEnd, facts: Omit<RunEnd, "result" | "code" | "failure">): RunEnd | "stopped" {
  switch (end.kind) {
    case "not_run":
      return { result: "failed", code: null, failure: end.failure, ...facts };
    case "stopped":
      return "stopped";
    case "ended": {
      if (end.isTimedOut) return { result: "timed_out", code: null, ...facts };
      const result = end.code === 0 ? "passed" : "failed";
      // A shell, or npm, passes on the code of a signal that has ended the command below it.
      const [signal] =
        Object.entries(constants.signals).find(([, number]) => end.code === 128 + number) ?? [];
      return { result, code: end.code, signal, ...facts };
    }
    default:
      return end satisfies never;
  }
}
