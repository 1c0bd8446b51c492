import { availableParallelism, constants } from "node:os";
import { stripVTControlCharacters } from "node:util";
import type { Endpoint } from "../../api/endpoint.js";
import { activateVariant } from "../../api/variant.js";
import type { ClientRun, RunSandbox } from "../../certify/certification.js";
import { type PlannedRun, pointsIn, type Timeouts } from "../../certify/plan.js";
import type { Run } from "../../certify/result.js";
import { collectWrites } from "../../certify/writes.js";
import { stopwatch, wallTime } from "../../library/real-time.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { endpointsFor } from "../../node/platform.js";
import type { CommandEnd } from "../../node/run-command.js";
import { clientReport } from "../../report/report.js";
import { type Counting, createCounters } from "../../sandbox/journal/counts.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { GivenOptions } from "../../sandbox/sandbox.js";
import type { Observation, Variant, VariedPoint } from "../../sandbox/variant.js";
import { minuteStart } from "../../spec/api-key.js";
import type { PathId } from "../../spec/outcomes.js";
import { redactKeys } from "../../spec/redact.js";
import type { CommandCall } from "../command.js";
import { startNamed } from "../open-scenario.js";
import { openRunFolder } from "../serve/run-folder.js";
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
    variant: Variant,
    { total, silent }: Timeouts,
    isWanted = () => true,
    isOver = (_replaced: number) => false,
  ): Promise<ClientRun | undefined> => {
    if (stopped !== undefined || !isWanted()) return undefined;
    const { folder, sandbox, collected } = await startRun(
      loaded,
      { ...given, seed },
      { ...variant, profile },
    );
    const sandboxes: RunSandbox[] = [{ sandbox }];
    const output = createTail();
    const keys = createKeyFinder(sandbox);
    const started = stopwatch();
    let pass: ((signal: NodeJS.Signals) => void) | undefined;
    const end = await runServed(call, sandbox, {
      folder,
      takeSignals(listener) {
        pass = listener;
        underWay.add(listener);
      },
      isLate: () =>
        stopwatch() - started > total ||
        stopwatch() - collected.latest() > silent ||
        isOver(collected.replaced()) ||
        !isWanted(),
      onOutput(name, chunk) {
        output.add(chunk);
        keys.add(name, chunk);
      },
      onInstance({ id, tenancy: { label = id }, sandbox: its }) {
        sandboxes.push({ sandbox: its, instance: label });
      },
    });
    notes ??= end.notes;
    const durationMs = Math.round(stopwatch() - started);
    if (pass !== undefined) underWay.delete(pass);
    if (stopped !== undefined || !isWanted()) return undefined;
    const report = clientReport(
      sandbox,
      { underExec: true, keysInOutput: keys.places() },
      collected.counters,
    );
    const ended = howEnded(end);
    const kept = ended.outcome === "passed" ? [] : sandboxes;
    return { ...ended, durationMs, report, output: output.lines(), ...collected.facts(), sandboxes: kept };
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

/** Starts the sandbox of a run, and the folder for the sandboxes in processes of the client. */
async function startRun(loaded: LoadedScenario, given: GivenOptions, variant: Variant) {
  // A limit of the minute then ends at the same time in each run.
  const start = minuteStart(wallTime());
  const now = given.now ?? (loaded.scenario.clock?.now === undefined ? start : undefined);
  const folder = await openRunFolder({ scenario: loaded, options: given, start, variant });
  const active = activateVariant(variant, folder.claim);
  const sandbox = startNamed(loaded, { ...given, now, variant: active });
  // A test may clear the requests to count its own.
  const collected = collectRequests(endpointsFor(loaded.scenario));
  sandbox.counters.passOnTo(collected);
  return { folder, sandbox, collected };
}

function howEnded(end: CommandEnd): Pick<ClientRun, "outcome" | "code" | "failure"> {
  if ("failure" in end) return { outcome: "failed", code: null, failure: end.failure };
  if (end.isTimedOut === true) return { outcome: "timed_out", code: null };
  return { outcome: end.code === 0 ? "passed" : "failed", code: end.code };
}

/** Collects what the requests of a run show, over all its sandboxes and instances. */
function collectRequests(endpoints: readonly Endpoint[]) {
  const counters = createCounters();
  const writes = collectWrites(endpoints);
  const exchanges = new Map<number, Exchange>();
  const sent = new Map<string, { key: string; nth: number; paths: PathId[] }>();
  const points: VariedPoint[] = [];
  const tried: number[] = [];
  const scenarios = new Set<string>();
  let replaced = 0;
  let suspect: PathId | undefined;
  let pinned: Observation["pinned"];
  let latest = stopwatch();
  let latestTried = latest;
  const count: Counting["count"] = (exchange, keys, seen) => {
    counters.count(exchange, keys);
    writes.add(exchange);
    latest = stopwatch();
    // Keeps the latest one last in the map.
    exchanges.delete(exchange.status);
    exchanges.set(exchange.status, exchange);
    if (seen === undefined) return;
    const { pathId, key: ref, fingerprint } = exchange;
    const key = ref ?? fingerprint ?? "";
    const known = sent.get(`${seen.nth} ${key}`);
    if (known === undefined) sent.set(`${seen.nth} ${key}`, { key, nth: seen.nth, paths: [pathId] });
    else known.paths.push(pathId);
    points.push(...seen.points);
    suspect ??= seen.suspect;
    scenarios.add(seen.scenario);
    pinned ??= seen.pinned;
    if (seen.isReplaced) replaced += 1;
    if (seen.tried === undefined) return;
    tried.push(seen.tried);
    latestTried = latest;
  };
  const lastOn = (statuses?: readonly number[]): Run["lastRequest"] => {
    const last = [...exchanges.values()].filter(({ status }) => statuses?.includes(status) ?? true).at(-1);
    return last && { id: last.id, pathId: last.pathId, status: last.status };
  };
  return {
    counters,
    count,
    countUnread: counters.countUnread,
    latest: () => latest,
    replaced: () => replaced,
    facts() {
      const last = lastOn();
      const silentMs = stopwatch() - latestTried;
      const all = {
        points: pointsIn(points),
        sent: [...sent.values()],
        suspect,
        pinned: pinned && pinnedSentence(pinned),
        scenarios: [...scenarios],
        replaced,
        tried,
        silentMs,
        writes,
      };
      return { ...all, lastOn, ...(last !== undefined && { lastRequest: last }) };
    },
  };
}

function pinnedSentence({ seed, place }: NonNullable<Observation["pinned"]>): string {
  return place === undefined ? `the client's tests set the seed ${seed}` : `${place} sets the seed ${seed}`;
}

const maxKept = 64 * 1024;

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
