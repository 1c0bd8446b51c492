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
  run?: (() => Promise<unknown> | undefined) | undefined;
}

const shared = globalThis as { __stryker__?: Planted };
shared.__stryker__ ??= {};
const planted = shared.__stryker__;
const { MUTANT_IDS = "", MUTANT_RESULTS = "" } = process.env;
planted.left ??= new Map(MUTANT_IDS.split(",").map((id) => [id, 0]));
const { left } = planted;
// Saved now, because tests fake it.
const { setInterval, clearInterval } = process.getBuiltinModule("node:timers");
const { Script } = process.getBuiltinModule("node:vm");
const { eventLoopUtilization } = process.getBuiltinModule("node:perf_hooks").performance;
// One failure is enough: nobody reads the smallest one.
fc.configureGlobal({ endOnFailure: true });
const report = (word: string, ids: readonly string[]) =>
  appendFileSync(MUTANT_RESULTS, ids.map((id) => `${word} ${id}\n`).join(""));
/** Milliseconds of the processor that all tests spend on one mutant, and that one test spends on all that it does not notice. */
const most = { mutant: 20_000, test: 20_000 };
const spentMs = () => process.cpuUsage().user / 1000;
const runPlanted = new Script("__stryker__.run()");
/** Stands for a try without a mutant. */
const none = "";

/**
 * Runs each test as it is, then with each mutant that it has reached. Its failures count if it passes again at the end
 * without a mutant: it can be repeated, and no mutant has left anything behind.
 */
export default class MutantRunner extends VitestTestRunner {
  #tries: string[] = [];
  #failed: string[] = [];
  #hits: Readonly<Record<string, number>> = {};
  #ms = 0;
  #startedAt = 0;
  #endsAt = 0;

  override async onBeforeRunTask(test: Test) {
    this.#tries = [none];
    this.#failed = [];
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
    planted.run = VitestTestRunner.getTestFn(test) as Planted["run"];
    if (planted.activeMutant === undefined) return void (await planted.run?.());
    const limit = 5_000 + 10 * this.#ms;
    const start = eventLoopUtilization();
    // A loop without an end gives no timer its turn.
    const run = runPlanted.runInThisContext({ timeout: Math.ceil(4 * limit) });
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
    const id = this.#tries[repeats] as string;
    const ms = spentMs() - this.#startedAt;
    const hasFailed = test.result?.state === "fail";
    delete planted.activeMutant;
    delete planted.currentTestId;
    if (repeats === 0) {
      if (hasFailed) return;
      this.#ms = ms;
      this.#endsAt = spentMs() + most.test;
      this.#hits = planted.mutantCoverage?.perTest[test.id] ?? {};
      report(
        "reached",
        Object.keys(this.#hits).filter((id) => left.has(id)),
      );
    } else {
      Object.assign(test.result as object, { state: "pass", errors: undefined });
      if (id === none) {
        if (hasFailed) return;
        for (const one of this.#failed) left.delete(one);
        report("noticed", this.#failed);
        return;
      }
      left.set(id, (left.get(id) ?? 0) + ms);
      if (hasFailed) {
        this.#failed.push(id);
        this.#endsAt += ms;
      }
      // Only an import in the first try has run it.
      else if (planted.hitCount === 0) report("loaded", [id]);
    }
    const next = this.#next();
    if (next !== undefined) this.#tries.push(next);
    else if (this.#failed.length > 0) this.#tries.push(none);
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
