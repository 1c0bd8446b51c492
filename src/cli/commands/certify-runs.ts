import { stripVTControlCharacters } from "node:util";
import { type ClientRun, collectRequests, type RunRequest } from "../../certify/run.js";
import { stopwatch, wallTime } from "../../library/real-time.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { CommandEnd } from "../../node/run-command.js";
import { clientReport } from "../../report/report.js";
import { minuteStart } from "../../rules/api-key.js";
import { redactKeys } from "../../rules/redact.js";
import { conditionedRun } from "../../runs/conditioned-run.js";
import type { GivenOptions } from "../../sandbox/sandbox.js";
import type { CommandCall } from "../command.js";
import { startNamed } from "../open-scenario.js";
import { openRunFolder } from "../serve/run-folder.js";
import { KeyFinder, runServed } from "../serve/run-served.js";
import type { ServeFlags } from "../serve/serve-options.js";

/** The client's command and the sandbox that each of its runs starts. */
export interface ClientCommand {
  readonly loaded: LoadedScenario;
  readonly call: Pick<CommandCall<ServeFlags>, "rest" | "io" | "flags">;
  readonly given: GivenOptions;
}

/** Runs a client many times, `jobs` of them in parallel, and takes the signals of this process. */
export function createClientRuns(command: ClientCommand, jobs: number) {
  const underWay = new Set<(signal: NodeJS.Signals) => void>();
  const queue = createQueue(jobs);
  let stopped: NodeJS.Signals | undefined;
  const runUnlessStopped = async (request: RunRequest): Promise<ClientRun | undefined> => {
    if (stopped !== undefined) return undefined;
    let pass: ((signal: NodeJS.Signals) => void) | undefined;
    const run = await runInOwnSandbox(command, request, (listener) => {
      pass = listener;
      underWay.add(listener);
    });
    if (pass !== undefined) underWay.delete(pass);
    return stopped === undefined ? run : undefined;
  };
  // Passes a signal to all current runs, and starts no more.
  const release = command.call.io.takeSignals((signal) => {
    stopped ??= signal;
    for (const pass of underWay) pass(signal);
  });
  return {
    /** Runs the client in its own sandbox once a job is free; `undefined` if it was stopped. */
    async runInTurn(request: RunRequest): Promise<ClientRun | undefined> {
      const { result, isShared } = await queue.take(
        () => runUnlessStopped(request),
        request.isAlone === true,
      );
      return result && { ...result, isShared };
    },
    separate: queue.separate,
    /** The signal that has stopped the runs. */
    stopped: () => stopped,
    /** Stops taking signals: after the certificate, which a signal must not interrupt. */
    release,
  };
}

async function runInOwnSandbox(
  { loaded, call, given: { seed: _, ...given } }: ClientCommand,
  { seed, conditions, timeouts: { total, silent } }: RunRequest,
  takeSignals: (listener: (signal: NodeJS.Signals) => void) => void,
): Promise<ClientRun> {
  // A limit of the minute then ends at the same time in each run.
  const start = minuteStart(wallTime());
  const options = { ...given, seed };
  const now = given.now ?? (loaded.scenario.clock?.now === undefined ? start : undefined);
  const folder = await openRunFolder({ scenario: loaded, options, start, conditions });
  const sandbox = startNamed(loaded, { ...options, now }, conditionedRun(conditions, folder.claim));
  // A test may clear the requests to count its own.
  const collected = collectRequests(stopwatch);
  sandbox.counters.passOnTo(collected);
  const [output, keys] = [createTail(), new KeyFinder(sandbox)];
  const started = stopwatch();
  const end = await runServed(call, sandbox, {
    folder,
    takeSignals,
    isLate: () => stopwatch() - started > total || stopwatch() - collected.latest() > silent,
    onOutput(name, chunk) {
      output.add(chunk);
      keys.add(name, chunk);
    },
  });
  const durationMs = Math.round(stopwatch() - started);
  const report = clientReport(sandbox, { underExec: true, keysInOutput: keys.places() }, collected.counters);
  return { ...howEnded(end), durationMs, report, output: output.lines(), ...collected.facts() };
}

function howEnded(end: CommandEnd): Pick<ClientRun, "outcome" | "code" | "failure"> {
  if ("failure" in end) return { outcome: "failed", code: null, failure: end.failure };
  if (end.isTimedOut === true) return { outcome: "timed_out", code: null };
  return { outcome: end.code === 0 ? "passed" : "failed", code: end.code };
}

const maxKept = 64 * 1024;

/** Keeps the end of the output, as lines without keys and colors. */
function createTail() {
  let chunks: Buffer[] = [];
  let length = 0;
  return {
    add(chunk: Buffer) {
      chunks.push(chunk);
      length += chunk.length;
      if (length < 2 * maxKept) return;
      chunks = [Buffer.concat(chunks).subarray(-maxKept)];
      length = maxKept;
    },
    lines(): string[] {
      const text = Buffer.concat(chunks).subarray(-maxKept).toString("utf8");
      const lines = redactKeys(stripVTControlCharacters(text)).trimEnd().split(/\r?\n/);
      return lines.map((line) => line.slice(0, 500));
    },
  };
}

/** Runs at most `size` jobs in parallel, in order. */
function createQueue(size: number) {
  const waiting: { readonly isAlone: boolean; readonly begin: () => void }[] = [];
  const underWay = new Set<{ isAlone: boolean; isShared: boolean }>();
  let limit = size;
  const beginNext = () => {
    const [next] = waiting;
    if (next === undefined) return;
    const isOnlyOne = [...underWay].some(({ isAlone }) => isAlone);
    if (next.isAlone ? underWay.size > 0 : underWay.size >= limit || isOnlyOne) return;
    waiting.shift();
    next.begin();
    beginNext();
  };
  return {
    /** Runs a job; with `isAlone`, while no other is under way. */
    async take<Result>(job: () => Promise<Result>, isAlone: boolean) {
      const turn = { isAlone, isShared: false };
      await new Promise<void>((resolve) => {
        const begin = () => {
          underWay.add(turn);
          if (underWay.size > 1) for (const turnBeside of underWay) turnBeside.isShared = true;
          resolve();
        };
        waiting.push({ isAlone, begin });
        beginNext();
      });
      try {
        return { result: await job(), isShared: turn.isShared };
      } finally {
        underWay.delete(turn);
        beginNext();
      }
    },
    /** Runs all later jobs one at a time. */
    separate() {
      limit = 1;
    },
  };
}
