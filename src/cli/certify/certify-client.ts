import { availableParallelism, constants } from "node:os";
import { stripVTControlCharacters } from "node:util";
import { conditionedRun } from "../../api/conditioned-run.js";
import type { Endpoint } from "../../api/endpoint.js";
import { apiVersion } from "../../api/openapi.js";
import { builtIn } from "../../api/routes.js";
import { type Certification, certify, resultOf } from "../../certify/certification.js";
import { collectWrites } from "../../certify/evidence.js";
import { planOf, pointsIn, type Timeouts } from "../../certify/plan.js";
import type { CertifyResult, Run } from "../../certify/result.js";
import type { ClientRun, Progress, Tools } from "../../certify/runs.js";
import { stopwatch, wallTime } from "../../library/real-time.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { version } from "../../node/package-files.js";
import { endpointsFor, loadReader, nodePlatform } from "../../node/platform.js";
import type { CommandEnd, CommandOptions } from "../../node/run-command.js";
import { commandLine, pluralize } from "../../report/plain-text.js";
import { clientReport } from "../../report/report.js";
import { minuteStart } from "../../rules/api-key.js";
import type { PathId } from "../../rules/outcomes.js";
import { escapeControls, redactKeys } from "../../rules/redact.js";
import { canonicalJson } from "../../rules/schema/json.js";
import { isMapping } from "../../rules/schema/shape.js";
import { defaultSeed } from "../../rules/seed.js";
import type { Observation, RunConditions, VariedPoint } from "../../sandbox/conditions.js";
import { type Counters, type Counting, createCounters } from "../../sandbox/journal/counts.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { GivenOptions, SandboxState } from "../../sandbox/sandbox.js";
import type { CommandCall } from "../command.js";
import { startNamed } from "../open-scenario.js";
import { openRunFolder, type RunFolder } from "../serve/run-folder.js";
import { createKeyFinder, runServed, sayWhyNotRun } from "../serve/run-served.js";
import type { ServeFlags } from "../serve/serve-options.js";

interface Asked extends Pick<CertifyResult, "command" | "seeds" | "faults" | "gates"> {
  readonly loaded: LoadedScenario;
  readonly kinds: CertifyResult["promises"]["kinds"];
  readonly only?: readonly string[] | undefined;
}

interface CertifyFlags extends ServeFlags {
  readonly jobs?: number;
  readonly bail?: boolean;
  readonly budget?: number;
  readonly timeout?: number;
  readonly now?: number;
  readonly frozen?: boolean;
  readonly openapi?: string;
  readonly json?: boolean;
  readonly format?: string;
}

export const certificateFiles = { name: "--certificate", what: "the certificate" };

/** Certifies a client; `release` stops taking signals, after the certificate, which a signal must not interrupt. */
export async function certifyClient(asked: Asked, call: CommandCall<CertifyFlags>) {
  const { loaded, command, seeds, faults, kinds, only, gates } = asked;
  const { flags, io } = call;
  const { now, frozen, timeout, bail, budget, ...served } = flags;
  const [baseline, ...others] = planOf(loaded.scenario.seed ?? defaultSeed, seeds, faults);
  const endpoints = endpointsFor(loaded.scenario);
  const runs = [baseline, ...others.filter(({ name }) => only?.includes(name) ?? true)] as const;
  const client = createClientRuns(loaded, { io, rest: command, flags: served }, { now, frozen }, flags.jobs);
  const { jobs, cutShort, release } = client;
  const progress = createProgress(call);
  const startedAt = new Date(wallTime()).toISOString();
  const document = await documentIn(loaded, flags);
  progress.begin(`Running ${commandLine(command)}: ${runs.length} runs, ${jobs} in parallel`);
  const plan = { runs, jobs, endpoints, kinds, only, timeout, bail, budget };
  const certification = await certify(plan, {
    run: client.run,
    separate({ name }) {
      client.separate();
      io.stderr.say(
        `${name} failed next to another run, and passed alone: your runs share something, such as a folder or a port. The rest runs one at a time, as with --jobs 1.\n`,
      );
    },
    isStopped: () => cutShort() !== undefined,
    stopwatch,
    progress,
  });
  const { failure, outputOf } = certification;
  if (failure !== undefined) {
    const code = sayWhyNotRun(command[0] as string, failure, call);
    return { result: undefined, cutShort: code, outputOf, notes: [], release };
  }
  const about = aboutClient(asked, certification, document);
  const result = resultOf(certification, plan, { ...about, startedAt, gates });
  if (result === undefined) io.stderr.say("Stopped before the first run ended: there is no result.\n");
  return { result, cutShort: cutShort(), outputOf, notes: client.notes(), release };
}

/** What a certificate states about the client and the sandbox. */
function aboutClient(
  { loaded, command, seeds, faults }: Asked,
  { scenarios }: Certification,
  document: CertifyResult["document"],
) {
  const otherScenarios = scenarios.filter((name) => name !== loaded.name);
  return {
    scenario: loaded.name,
    ...(otherScenarios.length > 0 && { otherScenarios }),
    scenarioDigest: nodePlatform.sha256(canonicalJson({ ...loaded.scenario, openapi: undefined })),
    ...(document !== undefined && { document }),
    specification: apiVersion,
    sandbox: version,
    seeds,
    faults,
    command,
  };
}

/** The document of a scenario, as certificates name it. */
async function documentIn(
  { scenario }: LoadedScenario,
  flags: { readonly openapi?: string },
): Promise<CertifyResult["document"]> {
  if (!isMapping(scenario.openapi)) return undefined;
  const { text, file, info } = (await loadReader()).describe(scenario, builtIn);
  const given = flags.openapi !== undefined && { given: true };
  return {
    ...info,
    ...(file && { file: escapeControls(file) }),
    digest: nodePlatform.sha256(text),
    ...given,
  };
}

/** Shows the progress of a certification: a line for each run, and for each tenth attempt to find a cause. */
function createProgress({ io, flags }: Pick<CommandCall<{ quiet?: boolean }>, "io" | "flags">): Progress {
  let attempts = 0;
  const line = (...cells: string[]) => {
    if (!flags.quiet) io.stderr.write(redactKeys(`${cells.join("  ")}\n`));
  };
  const seconds = (durationMs: number) => `${(durationMs / 1000).toFixed(1)} s`.padStart(7);
  return {
    begin(what) {
      attempts = 0;
      line(what);
    },
    ran({ name, outcome, durationMs, requests }) {
      const requestCount = pluralize(requests, "request");
      line(outcome.replace("_", " ").padEnd(9), name.padEnd(15), seconds(durationMs), requestCount);
    },
    broke({ id, outcome, durationMs }) {
      line(outcome.replace("_", " ").padEnd(11), id, seconds(durationMs));
    },
    tried() {
      attempts += 1;
      if (attempts % 10 === 0) line(`${attempts} attempts`);
    },
    found({ name, outcome, cause }) {
      line(`${name} ${outcome === "flaky" ? "is flaky" : (cause?.sentence ?? outcome)}.`);
    },
  };
}

/** Prepares to run a client many times, with `jobs` runs in parallel, and takes the signals of this process. */
function createClientRuns(
  loaded: LoadedScenario,
  call: Pick<CommandCall<ServeFlags>, "rest" | "io" | "flags">,
  given: GivenOptions,
  jobs = availableParallelism(),
) {
  const underWay = new Set<(signal: NodeJS.Signals) => void>();
  const queue = createQueue(jobs);
  let stopped: NodeJS.Signals | undefined;
  let notes: readonly string[] | undefined;

  const runNow: Tools["run"] = async ({ profile, seed }, conditions, { timeouts, isWanted, isOver }) => {
    if (stopped !== undefined || !isWanted()) return undefined;
    const started = await startRun(loaded, { ...given, seed }, { ...conditions, profile });
    let pass: ((signal: NodeJS.Signals) => void) | undefined;
    const { run, notes: its } = await runOnce(started, call, timeouts, {
      takeSignals(listener) {
        pass = listener;
        underWay.add(listener);
      },
      isUnwanted: (hits) => isOver?.(hits) === true || !isWanted(),
    });
    notes ??= its;
    if (pass !== undefined) underWay.delete(pass);
    return stopped === undefined && isWanted() ? run : undefined;
  };
  /** Runs the client in its own sandbox once a job is free; `undefined` if the run is no longer wanted, or stopped. */
  const run: Tools["run"] = async (planned, conditions, limits) => {
    const { result, isShared } = await queue.take(
      () => runNow(planned, conditions, limits),
      limits.isAlone === true,
    );
    return result && { ...result, isShared };
  };

  // Passes a signal to all current runs, and starts no more.
  const release = call.io.takeSignals((signal) => {
    stopped ??= signal;
    for (const pass of underWay) pass(signal);
  });
  return {
    jobs,
    run,
    separate: queue.separate,
    /** The exit code once a signal has come. */
    cutShort: () => stopped && 128 + constants.signals[stopped],
    /** Stops taking signals. */
    release,
    /** Problems of the first run with sandboxes in processes of the client, as sentences. */
    notes: () => notes ?? [],
  };
}

interface StartedRun {
  /** For the sandboxes in processes of the client. */
  readonly folder: RunFolder;
  readonly sandbox: SandboxState;
  readonly collected: CollectedRequests;
}

async function startRun(
  loaded: LoadedScenario,
  given: GivenOptions,
  conditions: RunConditions,
): Promise<StartedRun> {
  // A limit of the minute then ends at the same time in each run.
  const start = minuteStart(wallTime());
  const now = given.now ?? (loaded.scenario.clock?.now === undefined ? start : undefined);
  const folder = await openRunFolder({ scenario: loaded, options: given, start, conditions });
  const sandbox = startNamed(loaded, { ...given, now }, conditionedRun(conditions, folder.takePlace));
  // A test may clear the requests to count its own.
  const collected = collectRequests(endpointsFor(loaded.scenario));
  sandbox.counters.passOnTo(collected);
  return { folder, sandbox, collected };
}

interface Watched {
  readonly takeSignals: CommandOptions["takeSignals"];
  /** Whether to end the run after its conditions hit this number of requests. */
  readonly isUnwanted: (hits: number) => boolean;
}

async function runOnce(
  { folder, sandbox, collected }: StartedRun,
  call: Pick<CommandCall<ServeFlags>, "rest" | "io" | "flags">,
  { total, silent }: Timeouts,
  { takeSignals, isUnwanted }: Watched,
): Promise<{ readonly run: ClientRun; readonly notes: readonly string[] }> {
  const output = createTail();
  const keys = createKeyFinder(sandbox);
  const started = stopwatch();
  const end = await runServed(call, sandbox, {
    folder,
    takeSignals,
    isLate: () =>
      stopwatch() - started > total ||
      stopwatch() - collected.latest() > silent ||
      isUnwanted(collected.hits()),
    onOutput(name, chunk) {
      output.add(chunk);
      keys.add(name, chunk);
    },
  });
  const durationMs = Math.round(stopwatch() - started);
  const endFacts = { underExec: true, keysInOutput: keys.places() };
  const report = clientReport(sandbox, endFacts, collected.counters);
  const ended = howEnded(end);
  const run = { ...ended, durationMs, report, output: output.lines(), ...collected.facts() };
  return { run, notes: end.notes };
}

function howEnded(end: CommandEnd): Pick<ClientRun, "outcome" | "code" | "failure"> {
  if ("failure" in end) return { outcome: "failed", code: null, failure: end.failure };
  if (end.isTimedOut === true) return { outcome: "timed_out", code: null };
  return { outcome: end.code === 0 ? "passed" : "failed", code: end.code };
}

/** What the requests of a run show, over all its sandboxes. */
interface CollectedRequests extends Counting {
  readonly counters: Counters;
  /** When the latest request came. */
  readonly latest: () => number;
  readonly hits: () => number;
  readonly facts: () => RunFacts;
}

type RunFacts = Omit<ClientRun, "outcome" | "code" | "durationMs" | "report" | "output">;

/** `time`: milliseconds that only grow. */
export function collectRequests(endpoints: readonly Endpoint[], time = stopwatch): CollectedRequests {
  const counters = createCounters();
  const writes = collectWrites(endpoints);
  const exchanges = new Map<number, Exchange>();
  const observed = collectObservations(time);
  let latest = time();
  const count: Counting["count"] = (exchange, keys, seen) => {
    counters.count(exchange, keys);
    writes.add(exchange);
    latest = time();
    // Keeps the latest one last in the map.
    exchanges.delete(exchange.status);
    exchanges.set(exchange.status, exchange);
    if (seen !== undefined) observed.add(exchange, seen);
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
    hits: observed.hits,
    facts() {
      const last = lastOn();
      return { ...observed.facts(), writes, lastOn, ...(last !== undefined && { lastRequest: last }) };
    },
  };
}

/** Collects what the conditions of a run show with its requests. */
function collectObservations(time: () => number) {
  const sentByKey = new Map<string, { key: string; isUnknown: boolean; nth: number; paths: PathId[] }>();
  const points: VariedPoint[] = [];
  const times: number[] = [];
  const scenarios = new Set<string>();
  const unvaried = new Set<string>();
  let hits = 0;
  let suspect: PathId | undefined;
  let pinned: Observation["pinned"];
  let latestTried = time();
  return {
    hits: () => hits,
    add({ pathId, key: ref, fingerprint }: Exchange, seen: Observation): void {
      const key = ref ?? fingerprint ?? "";
      const sentBefore = sentByKey.get(`${seen.nth} ${key}`);
      const usual = seen.hit ?? pathId;
      const isUnknown = ref === null;
      if (sentBefore !== undefined) sentBefore.paths.push(usual);
      else sentByKey.set(`${seen.nth} ${key}`, { key, isUnknown, nth: seen.nth, paths: [usual] });
      points.push(...seen.points);
      suspect ??= seen.hit;
      scenarios.add(seen.scenario);
      pinned ??= seen.pinned;
      for (const name of seen.unvaried) unvaried.add(name);
      if (seen.hit !== undefined) hits += 1;
      if (seen.tried === undefined) return;
      times.push(seen.tried);
      latestTried = time();
    },
    facts: () => ({
      points: pointsIn(points),
      sent: [...sentByKey.values()],
      suspect,
      pinned: pinned && pinnedSentence(pinned),
      scenarios: [...scenarios],
      hits,
      unvaried: [...unvaried],
      times,
      silentMs: time() - latestTried,
    }),
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

interface Turn {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

/** Runs at most `size` jobs in parallel, in order. */
function createQueue(size: number) {
  const waiting: Turn[] = [];
  const underWay = new Set<{ isAlone: boolean; isShared: boolean }>();
  let limit = size;
  const beginNext = () => {
    const [next] = waiting;
    if (next === undefined) return;
    const mayBegin = next.isAlone
      ? underWay.size === 0
      : underWay.size < limit && ![...underWay].some(({ isAlone }) => isAlone);
    if (!mayBegin) return;
    waiting.shift();
    next.begin();
    beginNext();
  };
  return {
    /** Runs a job; with `isAlone`, while no other is under way. */
    async take<Result>(
      job: () => Promise<Result>,
      isAlone: boolean,
    ): Promise<{ readonly result: Result; readonly isShared: boolean }> {
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
        // After this result, the caller may want no more jobs.
        setImmediate(beginNext);
      }
    },
    /** Runs all later jobs one at a time. */
    separate() {
      limit = 1;
    },
  };
}
