import { appendFileSync } from "node:fs";
import fc from "fast-check";
import type { RunnerTestCase as Test } from "vitest";
import { VitestTestRunner } from "vitest/runners";

/** What Stryker's instrumented code reads and writes. */
interface Planted {
  activeMutant?: string | undefined;
  currentTestId?: string;
  hitCount?: number;
  hitLimit?: number;
  readonly mutantCoverage?: Readonly<Record<"static", object>> & {
    readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
  /** The mutants that no test has noticed yet, and how long tests have tried each. */
  left?: Map<string, number>;
}

const shared = globalThis as { __stryker__?: Planted };
shared.__stryker__ ??= {};
const planted = shared.__stryker__;
const { MUTANT_IDS = "", MUTANT_RESULTS = "" } = process.env;
planted.left ??= new Map(MUTANT_IDS.split(",").map((id) => [id, 0]));
const { left } = planted;
// Saved now, because tests fake it.
const { setInterval, clearInterval } = process.getBuiltinModule("node:timers");
const { eventLoopUtilization } = process.getBuiltinModule("node:perf_hooks").performance;
// One failure is enough: nobody reads the smallest one.
fc.configureGlobal({ endOnFailure: true });
const report = (word: string, ids: readonly string[]) =>
  appendFileSync(MUTANT_RESULTS, ids.map((id) => `${word} ${id}\n`).join(""));
/** Milliseconds of the processor that all tests spend on one mutant, and that one test spends on all. */
const most = { mutant: 10_000, test: 30_000 };
const spentMs = () => process.cpuUsage().user / 1000;
/** Stands for a try without a mutant. */
const none = "";

/**
 * Runs each test as it is, then once more, to see whether it can be repeated, then with each mutant that it has reached. A
 * failure counts if the test passes again without the mutant.
 */
export default class MutantRunner extends VitestTestRunner {
  #tries: string[] = [];
  #hits: Readonly<Record<string, number>> = {};
  #ms = 0;
  #startedAt = 0;
  #endsAt = 0;

  override async onBeforeRunTask(test: Test) {
    this.#tries = [none, none];
    if (left.size === 0) test.mode = "skip";
    // Vitest compares it before each try.
    test.repeats = { valueOf: () => this.#tries.length - 1 } as number;
    await super.onBeforeRunTask(test);
  }

  override onBeforeTryTask(test: Test, at?: { readonly repeats: number }) {
    const index = at?.repeats ?? 0;
    const id = this.#tries[index] as string;
    const hitLimit = 1000 + 100 * (this.#hits[id] ?? 0);
    Object.assign(planted, { activeMutant: id || undefined, hitCount: 0, hitLimit });
    planted.currentTestId = index === 0 ? test.id : "repeated";
    this.#startedAt = spentMs();
    super.onBeforeTryTask(test);
  }

  async runTask(test: Test) {
    const run = VitestTestRunner.getTestFn(test)?.() as Promise<unknown>;
    if (planted.activeMutant === undefined) return void (await run);
    const limit = 20_000 + 10 * this.#ms;
    const start = eventLoopUtilization();
    // On a busy machine, a test may take any time: what counts is what it computes, and how long it waits for nothing.
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((_, reject) => {
      timer = setInterval(() => {
        const isLate = spentMs() - this.#startedAt > limit || eventLoopUtilization(start).idle > 15_000;
        if (isLate) reject(new Error("too slow"));
      }, 500);
    });
    await Promise.race([run, late]).finally(() => clearInterval(timer));
  }

  onAfterRetryTask(test: Test, { repeats }: { readonly repeats: number }) {
    const [before, id] = [this.#tries[repeats - 1], this.#tries[repeats] as string];
    const ms = spentMs() - this.#startedAt;
    const hasFailed = test.result?.state === "fail";
    delete planted.activeMutant;
    delete planted.currentTestId;
    if (repeats === 0) {
      this.#ms = ms;
      this.#endsAt = spentMs() + most.test;
      this.#hits = planted.mutantCoverage?.perTest[test.id] ?? {};
      report(
        "reached",
        Object.keys(this.#hits).filter((id) => left.has(id)),
      );
      if (hasFailed || this.#next() === undefined) this.#tries.length = 1;
      return;
    }
    Object.assign(test.result as object, { state: "pass", errors: undefined });
    if (id !== none) {
      left.set(id, (left.get(id) ?? 0) + ms);
      if (hasFailed) return void this.#tries.push(none);
    } else if (hasFailed) return;
    else if (before) {
      left.delete(before);
      report("noticed", [before]);
    }
    const next = this.#next();
    if (next !== undefined) this.#tries.push(next);
  }

  override onAfterRunFiles() {
    report("loaded", Object.keys(planted.mutantCoverage?.static ?? {}));
    super.onAfterRunFiles();
  }

  /** The next mutant for the current test. */
  #next(): string | undefined {
    if (spentMs() > this.#endsAt) return undefined;
    for (const [id, spent] of left) {
      if (id in this.#hits && spent < most.mutant && !this.#tries.includes(id)) return id;
    }
    return undefined;
  }
}
