import { stripVTControlCharacters } from "node:util";
import type { RunEnd, RunRequest } from "../../certify/client-run.js";
import { SeenRequests } from "../../certify/seen-requests.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { nodePlatform } from "../../node/platform.js";
import { redactEncoded } from "../../rules/redact.js";
import { minute, minuteEnd } from "../../rules/time.js";
import type { StartOptions } from "../../sandbox/sandbox-state.js";
import type { CommandCall } from "../command.js";
import { runClient } from "../serve/run-client.js";
import { type CommandEnd, TakenSignals } from "../serve/run-command.js";
import type { ServeFlags } from "../serve/serve-options.js";

/** The client's command and the sandbox that each of its runs starts. */
interface ClientCommand {
  readonly loaded: LoadedScenario;
  readonly call: Pick<CommandCall<ServeFlags>, "rest" | "io" | "flags">;
  readonly given: StartOptions;
}

/** Runs a client many times, `jobs` of them in parallel, and takes the signals of this process. */
export class ClientStarter {
  readonly #command: ClientCommand;
  readonly #queue: Queue;
  readonly #signals: TakenSignals;

  constructor(command: ClientCommand, jobs: number) {
    this.#command = command;
    this.#queue = new Queue(jobs);
    this.#signals = new TakenSignals(command.call.io);
  }

  /** The signal that has stopped the runs: all current ones got it, and no more start. */
  get stopped(): NodeJS.Signals | undefined {
    return this.#signals.first;
  }

  /** Stops taking signals: after the certificate, which a signal must not interrupt. */
  release(): void {
    this.#signals.release();
  }

  /** Runs the client in its own sandbox once a job is free; `undefined` if it was stopped. */
  async runInTurn(request: RunRequest): Promise<RunEnd | undefined> {
    const run = () => this.#runUnlessStopped(request);
    const { result, isShared } = await this.#queue.take(run, request.isAlone === true);
    if (result === undefined) return undefined;
    return { ...result, isShared };
  }

  separate(): void {
    this.#queue.separate();
  }

  async #runUnlessStopped(request: RunRequest): Promise<RunEnd | undefined> {
    if (this.stopped !== undefined) return undefined;
    const run = await runInOwnSandbox(this.#command, request, this.#signals);
    return this.stopped === undefined ? run : undefined;
  }
}

async function runInOwnSandbox(
  command: ClientCommand,
  request: RunRequest,
  signals: TakenSignals,
): Promise<RunEnd> {
  const { loaded, call, given } = command;
  const { total, silent } = request.timeouts;
  const { stopwatch, time } = nodePlatform;
  const requests = new SeenRequests(stopwatch);
  const output = new OutputTail();
  const started = stopwatch();
  const { end, report, folder } = await runClient(call, {
    loaded,
    options: { ...given, seed: request.seed },
    // A limit of the minute then ends at the same time in each run.
    start: minuteEnd(time()) - minute,
    conditions: request.conditions,
    requests,
    counters: requests.counters,
    certify: `${call.io.program} certify`,
    signals,
    isLate: () => stopwatch() - started > total || stopwatch() - requests.latest > silent,
    onOutput: (_name, chunk) => output.add(chunk),
  });
  folder.requireWhole();
  const durationMs = Math.round(stopwatch() - started);
  return { ...howEnded(end), durationMs, report, output: output.lines(), ...requests.facts() };
}

function howEnded(end: CommandEnd): Pick<RunEnd, "result" | "code" | "failure"> {
  switch (end.kind) {
    case "not_run":
      return { result: "failed", code: null, failure: end.failure };
    // Nobody reads how it ended.
    case "stopped":
      return { result: "failed", code: null };
    case "ended":
      if (end.isTimedOut) return { result: "timed_out", code: null };
      return { result: end.code === 0 ? "passed" : "failed", code: end.code };
    default:
      return end satisfies never;
  }
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

/** A job under way. */
interface Slot {
  /** Whether it runs while no other does. */
  readonly isAlone: boolean;
  /** Whether another one was under way meanwhile. */
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
    while (!this.#fits(slot)) await this.#nextEnd();
    this.#underWay.add(slot);
    if (this.#underWay.size === 1) return;
    for (const other of this.#underWay) other.isShared = true;
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  #fits({ isAlone }: Slot): boolean {
    if (isAlone) return this.#underWay.size === 0;
    for (const other of this.#underWay) if (other.isAlone) return false;
    return this.#underWay.size < this.#limit;
  }
}
