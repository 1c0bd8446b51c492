import { stripVTControlCharacters } from "node:util";
import type { RunEnd, RunRequest } from "../../certify/client-run.js";
import { SeenRequests } from "../../certify/seen-requests.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { nodePlatform, startNamed } from "../../node/platform.js";
import { clientReport } from "../../report/report.js";
import { redactEncoded } from "../../rules/redact.js";
import { minute, minuteEnd } from "../../rules/time.js";
import { conditionedRun } from "../../runs/conditioned-run.js";
import type { GivenOptions } from "../../sandbox/sandbox-state.js";
import type { CommandCall } from "../command.js";
import type { CommandEnd } from "../serve/run-command.js";

import { openRunFolder } from "../serve/run-folder.js";
import { invocationOf, KeyFinder, runServed } from "../serve/run-served.js";
import type { ServeFlags } from "../serve/serve-options.js";

/** The client's command and the sandbox that each of its runs starts. */
interface ClientCommand {
  readonly loaded: LoadedScenario;
  readonly call: Pick<CommandCall<ServeFlags>, "rest" | "io" | "flags">;
  readonly given: GivenOptions;
}

/** Runs a client many times, `jobs` of them in parallel, and takes the signals of this process. */
export class ClientStarter {
  readonly #command: ClientCommand;
  readonly #queue: Queue;
  readonly #underWay = new Set<(signal: NodeJS.Signals) => void>();
  #stopped: NodeJS.Signals | undefined;
  /** Stops taking signals: after the certificate, which a signal must not interrupt. */
  readonly release: () => void;

  constructor(command: ClientCommand, jobs: number) {
    this.#command = command;
    this.#queue = new Queue(jobs);
    // Passes a signal to all current runs, and starts no more.
    this.release = command.call.io.takeSignals((signal) => {
      this.#stopped ??= signal;
      for (const pass of this.#underWay) pass(signal);
    });
  }

  /** The signal that has stopped the runs. */
  get stopped(): NodeJS.Signals | undefined {
    return this.#stopped;
  }

  /** Runs the client in its own sandbox once a job is free; `undefined` if it was stopped. */
  async runInTurn(request: RunRequest): Promise<RunEnd | undefined> {
    const { result, isShared } = await this.#queue.take(
      () => this.#runUnlessStopped(request),
      request.isAlone === true,
    );
    return result && { ...result, isShared };
  }

  separate(): void {
    this.#queue.separate();
  }

  async #runUnlessStopped(request: RunRequest): Promise<RunEnd | undefined> {
    if (this.#stopped !== undefined) return undefined;
    let pass: ((signal: NodeJS.Signals) => void) | undefined;
    const run = await runInOwnSandbox(this.#command, request, (listener) => {
      pass = listener;
      this.#underWay.add(listener);
    });
    if (pass !== undefined) this.#underWay.delete(pass);
    return this.#stopped === undefined ? run : undefined;
  }
}

async function runInOwnSandbox(
  { loaded, call, given: { seed: _, ...given } }: ClientCommand,
  { seed, conditions, timeouts: { total, silent } }: RunRequest,
  takeSignals: (listener: (signal: NodeJS.Signals) => void) => void,
): Promise<RunEnd> {
  const { stopwatch, time } = nodePlatform;
  // A limit of the minute then ends at the same time in each run.
  const start = minuteEnd(time()) - minute;
  const options = { ...given, seed };
  const now = given.now ?? (loaded.scenario.clock?.now === undefined ? start : undefined);
  const folder = await openRunFolder({ scenario: loaded, options, start, conditions });
  const sandbox = startNamed(loaded, { ...options, now }, conditionedRun(conditions, folder.claim));
  // A test may clear the requests to count its own.
  const collected = new SeenRequests(stopwatch);
  sandbox.counters.passOnTo(collected);
  const [output, keys] = [new OutputTail(), new KeyFinder(sandbox)];
  const started = stopwatch();
  const end = await runServed(call, sandbox, {
    folder,
    takeSignals,
    isLate: () => stopwatch() - started > total || stopwatch() - collected.latest > silent,
    onOutput(name, chunk) {
      output.add(chunk);
      keys.add(name, chunk);
    },
  });
  folder.requireWhole();
  const durationMs = Math.round(stopwatch() - started);
  sandbox.invocation = invocationOf(call, `${call.io.program} certify`);
  const report = clientReport(sandbox, { underExec: true, keysInOutput: keys.places() }, collected.counters);
  return { ...howEnded(end), durationMs, report, output: output.lines(), ...collected.facts() };
}

function howEnded(end: CommandEnd): Pick<RunEnd, "result" | "code" | "failure"> {
  if ("failure" in end) return { result: "failed", code: null, failure: end.failure };
  if (end.isTimedOut === true) return { result: "timed_out", code: null };
  return { result: end.code === 0 ? "passed" : "failed", code: end.code };
}

const maxTail = 64 * 1024;

/** The end of the output, as lines without keys and colors. */
class OutputTail {
  #chunks: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < 2 * maxTail) return;
    this.#chunks = [Buffer.concat(this.#chunks).subarray(-maxTail)];
    this.#length = maxTail;
  }

  lines(): string[] {
    const text = Buffer.concat(this.#chunks).subarray(-maxTail).toString("utf8");
    const lines = stripVTControlCharacters(text).trimEnd().split(/\r?\n/);
    return lines.map((line) => redactEncoded(line).slice(0, 500));
  }
}

interface Slot {
  readonly isAlone: boolean;
  isShared: boolean;
}

/** Runs at most `limit` jobs in parallel, in order. */
class Queue {
  #limit: number;
  readonly #underWay = new Set<Slot>();
  /** Resolves when the job that was added last has begun. */
  #latest = Promise.resolve();
  #ended = () => {};

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs a job; with `isAlone`, while no other is under way. */
  async take<Result>(job: () => Promise<Result>, isAlone: boolean) {
    const slot: Slot = { isAlone, isShared: false };
    this.#latest = this.#latest.then(() => this.#begin(slot));
    await this.#latest;
    try {
      return { result: await job(), isShared: slot.isShared };
    } finally {
      this.#underWay.delete(slot);
      this.#ended();
    }
  }

  /** Runs all later jobs one at a time. */
  separate(): void {
    this.#limit = 1;
  }

  /** Waits until there is room for a job. */
  async #begin(slot: Slot): Promise<void> {
    while (!this.#fits(slot)) await new Promise<void>((ended) => (this.#ended = ended));
    this.#underWay.add(slot);
    if (this.#underWay.size > 1) for (const slot of this.#underWay) slot.isShared = true;
  }

  #fits({ isAlone }: Slot): boolean {
    const isOneAlone = [...this.#underWay].some((other) => other.isAlone);
    return isAlone ? this.#underWay.size === 0 : this.#underWay.size < this.#limit && !isOneAlone;
  }
}
