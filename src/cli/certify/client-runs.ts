import { availableParallelism, constants } from "node:os";
import { stripVTControlCharacters } from "node:util";
import type { ClientRun, RunSandbox } from "../../certify/certification.js";
import { type Patience, type PlannedRun, recordPoints } from "../../certify/plan.js";
import type { Run } from "../../certify/result.js";
import { createPlaces } from "../../certify/retries.js";
import { stopwatch, wallTime } from "../../library/real-time.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { CommandEnd } from "../../node/run-command.js";
import { clientReport } from "../../report/report.js";
import { createCounters } from "../../sandbox/journal/counts.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import { settled } from "../../sandbox/operations/operations.js";
import type { GivenOptions, SandboxState, Trial } from "../../sandbox/sandbox.js";
import { minuteStart } from "../../spec/api-key.js";
import type { PathId } from "../../spec/outcomes.js";
import { redactKeys } from "../../spec/redact.js";
import type { CommandCall } from "../command.js";
import { startNamed } from "../open-scenario.js";
import { createKeyFinder, runServed } from "../serve/run-served.js";
import type { ServeFlags } from "../serve/serve-options.js";

/** Prepares to run a client many times, with `jobs` runs in parallel, and takes the signals of this process. */
export function createClientRuns(
  loaded: LoadedScenario,
  call: Pick<CommandCall<ServeFlags>, "rest" | "io" | "flags">,
  given: GivenOptions,
  jobs = availableParallelism(),
) {
  const underWay = new Set<(signal: NodeJS.Signals) => void>();
  const inTurn = createQueue(jobs);
  let stopped: NodeJS.Signals | undefined;
  let notes: readonly string[] | undefined;

  const runNow = async (
    { profile, seed }: PlannedRun,
    trial: Trial,
    { total, silent }: Patience,
    isWanted = () => true,
    hasShownEnough = () => false,
  ): Promise<ClientRun | undefined> => {
    if (stopped !== undefined || !isWanted()) return undefined;
    const recorded = recordPoints(trial);
    // A limit of the minute then ends at the same time in each run.
    const start =
      given.now ?? (loaded.scenario.clock?.now === undefined ? minuteStart(wallTime()) : undefined);
    const runtime = startNamed(loaded, { ...given, now: start, profile, seed, trial: recorded.trial });
    // A test may clear the requests to count its own.
    const counters = createCounters();
    runtime.counters.passOnTo(counters);
    const journal = listenTo(runtime);
    const sandboxes: RunSandbox[] = [{ runtime }];
    const output = createTail();
    const keys = createKeyFinder(runtime);
    const started = stopwatch();
    let pass: ((signal: NodeJS.Signals) => void) | undefined;
    const end = await runServed(call, runtime, {
      takeSignals(listener) {
        pass = listener;
        underWay.add(listener);
      },
      isLate: () =>
        stopwatch() - started > total ||
        stopwatch() - journal.latest() > silent ||
        hasShownEnough() ||
        !isWanted(),
      onOutput(name, chunk) {
        output.add(chunk);
        keys.add(name, chunk);
      },
      onInstance({ id, tenancy: { label = id }, runtime: its }) {
        journal.add(its);
        sandboxes.push({ runtime: its, instance: label });
      },
    });
    notes ??= end.notes;
    const durationMs = Math.round(stopwatch() - started);
    if (pass !== undefined) underWay.delete(pass);
    if (stopped !== undefined || !isWanted()) return undefined;
    const report = clientReport(runtime, { underExec: true, keysInOutput: keys.places() }, counters);
    const seen = { report, points: recorded.points(), output: output.lines() };
    const ended = howEnded(end);
    const kept = ended.outcome === "passed" ? [] : sandboxes;
    return { ...ended, durationMs, ...seen, ...sentIn(journal, sandboxes), sandboxes: kept };
  };

  // Passes a signal to all current runs, and starts no more.
  const release = call.io.takeSignals((signal) => {
    stopped ??= signal;
    for (const pass of underWay) pass(signal);
  });
  return {
    jobs,
    /** Runs the client in its own sandbox once a job is free; `undefined` if the run is no longer wanted, or stopped. */
    run: (...planned: Parameters<typeof runNow>) => inTurn(() => runNow(...planned)),
    /** The exit code once a signal has come. */
    cutShort: () => stopped && 128 + constants.signals[stopped],
    /** Stops taking signals. */
    release,
    /** Problems in the first run between the client and the proxy of `--intercept`, as sentences. */
    notes: () => notes ?? [],
  };
}

/** What the client sent in a run. */
function sentIn(journal: ReturnType<typeof listenTo>, sandboxes: readonly RunSandbox[]) {
  const last = journal.last();
  const faults = sandboxes.flatMap(({ runtime }) => settled(runtime).faults);
  return {
    ...(last !== undefined && { lastRequest: last }),
    lastOn: journal.last,
    suspect: faults.find(({ given, matched }) => given.when?.path_id !== undefined && matched > 0)?.when
      .pathId,
    sent: journal.sent(),
  };
}

function howEnded(end: CommandEnd): Pick<ClientRun, "outcome" | "code" | "failure"> {
  if ("failure" in end) return { outcome: "failed", code: null, failure: end.failure };
  if (end.isTimedOut === true) return { outcome: "timed_out", code: null };
  return { outcome: end.code === 0 ? "passed" : "failed", code: end.code };
}

/** Counts the requests, and keeps the last one of each status, over all sandboxes and instances of a run. */
function listenTo(runtime: SandboxState) {
  const exchanges = new Map<number, Exchange>();
  let latest = stopwatch();
  const sent = new Map<string, { key: string; nth: number; paths: PathId[] }>();
  const placeIn = createPlaces();
  const add = (world: SandboxState) => {
    world.history.subscribe((event) => {
      if (event.type !== "request" || event.exchange.fromStory) return;
      const { exchange } = event;
      latest = stopwatch();
      const { pathId, key: ref, fingerprint } = exchange;
      const key = ref ?? fingerprint ?? "";
      const nth = placeIn(key, world);
      const known = sent.get(`${nth} ${key}`);
      if (known === undefined) sent.set(`${nth} ${key}`, { key, nth, paths: [pathId] });
      else known.paths.push(pathId);
      // Keeps the latest one last in the map.
      exchanges.delete(exchange.status);
      exchanges.set(exchange.status, exchange);
    });
  };
  add(runtime);
  const last = (statuses?: readonly number[]): Run["lastRequest"] => {
    const last = [...exchanges.values()].filter(({ status }) => statuses?.includes(status) ?? true).at(-1);
    return last && { id: last.id, pathId: last.pathId, status: last.status };
  };
  return { add, last, latest: () => latest, sent: () => [...sent.values()] };
}

const mostKept = 64 * 1024;

function createTail() {
  let chunks: Buffer[] = [];
  let length = 0;
  return {
    add(chunk: Buffer) {
      chunks.push(chunk);
      length += chunk.length;
      if (length < 2 * mostKept) return;
      chunks = [Buffer.concat(chunks).subarray(-mostKept)];
      length = mostKept;
    },
    lines(): string[] {
      const text = Buffer.concat(chunks).subarray(-mostKept).toString("utf8");
      return redactKeys(stripVTControlCharacters(text))
        .trimEnd()
        .split(/\r?\n/)
        .filter((line, at) => line !== "" || at > 0)
        .map((line) => line.slice(0, 500));
    },
  };
}

/** Runs at most `size` jobs in parallel, in order. */
function createQueue(size: number) {
  let free = size;
  const waiting: (() => void)[] = [];
  return async <Result>(job: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      // After this result, the caller may want no more jobs.
      else setImmediate(next);
    }
  };
}
