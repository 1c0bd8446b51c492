import { conditionedRun } from "../../../src/api/conditioned-run.js";
import { builtIn } from "../../../src/api/routes.js";
import { certify, resultOf } from "../../../src/certify/certification.js";
import { planOf, type Timeouts } from "../../../src/certify/plan.js";
import type { CertifyResult } from "../../../src/certify/result.js";
import type { ClientRun, Progress, Tools } from "../../../src/certify/runs.js";
import { collectRequests } from "../../../src/cli/certify/certify-client.js";
import { nodePlatform } from "../../../src/node/platform.js";
import { clientReport } from "../../../src/report/report.js";
import { faultPathIds } from "../../../src/rules/outcomes.js";
import { type RandomStream, randomStream } from "../../../src/rules/seed.js";
import type { RunConditions } from "../../../src/sandbox/conditions.js";
import type { SandboxState } from "../../../src/sandbox/sandbox.js";
import { startSandbox } from "../../../src/sandbox/start.js";
import { bundledScenarios } from "../../../src/scenario/bundled.js";
import { passed } from "../certified.js";
import { runSuite, type Suite } from "./suite.js";
import { createVirtualTime } from "./virtual-time.js";

/** What a certificate shows of a suite. */
export interface Certified
  extends Pick<CertifyResult, "verdict" | "runs" | "promises" | "retries" | "notTried" | "unmet"> {}

export interface CertifyOptions {
  /** Chooses the random numbers of each run. */
  readonly label: string;
  /** The number of runs with varied responses. */
  readonly seeds: number;
  readonly withFaults: boolean;
}

const scenario = bundledScenarios["key-states"];
/** A Monday morning, as the scenario's clock shows. */
const start = Date.parse("2026-03-02T09:00:00Z");
const noProgress: Progress = { begin() {}, ran() {}, broke() {}, tried() {}, found() {} };

/** Certifies a suite that runs in this process, in virtual time and one run at a time. */
export async function certifySuite(suite: Suite, options: CertifyOptions): Promise<Certified> {
  const seeds = Array.from({ length: options.seeds }, (_, i) => i + 1);
  const faults = options.withFaults ? faultPathIds : [];
  // As the author of a suite that waits for minutes sets it.
  const timeout = suite.timers === "real" && suite.client.limitTries > 1 ? 1_800_000 : undefined;
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  const run: Tools["run"] = ({ profile, seed }, conditions, limits) => {
    const { timeouts, isWanted, isOver = () => false } = limits;
    const next = last.then(() => {
      if (!isWanted()) return undefined;
      count += 1;
      const random = randomStream(count, "run", options.label);
      return runOnce(
        suite,
        { ...conditions, profile },
        { seed, random, isFirst: count === 1, timeouts, isOver },
      );
    });
    last = next;
    return next;
  };
  const plan = {
    runs: planOf(1, seeds, faults),
    jobs: 1,
    endpoints: builtIn,
    kinds: "swaps" as const,
    timeout,
  };
  const tools = { run, separate() {}, isStopped: () => false, stopwatch: () => 0 };
  const certification = await certify(plan, { ...tools, progress: noProgress });
  const gates = { failOn: "error", minCoverage: 0 } as const;
  const result = resultOf(certification, plan, { ...passed, faults: [...faults], gates });
  if (result === undefined) throw new Error("The first run was not made.");
  return result;
}

interface RunOptions {
  readonly seed: number;
  readonly random: RandomStream;
  readonly isFirst: boolean;
  readonly timeouts: Timeouts;
  readonly isOver: (hits: number) => boolean;
}

async function runOnce(
  suite: Suite,
  conditions: RunConditions,
  { seed, random, isFirst, timeouts: { total, silent }, isOver }: RunOptions,
): Promise<ClientRun> {
  const time = createVirtualTime(start);
  const { stopwatch, wall } = time;
  const run = conditionedRun(conditions);
  const platform = { ...nodePlatform, time: wall, steadyTime: wall, stopwatch, run };
  const collected = collectRequests(builtIn, stopwatch);
  const startWith = (ownSeed = seed) => {
    const given = { seed: ownSeed };
    const sandbox = startSandbox(scenario, { platform, name: "key-states", ...given, given });
    const pinned = ownSeed === seed ? undefined : given;
    sandbox.counters.passOnTo({
      ...collected,
      count: (exchange, keys, observation) =>
        collected.count(exchange, keys, observation && { ...observation, pinned }),
    });
    return sandbox;
  };
  let served: SandboxState | undefined;
  const server = () => {
    served ??= startWith();
    return served;
  };
  const work = runSuite(suite, {
    time,
    random,
    server,
    start: (options) => startWith(options.seed),
    isRepeated: !isFirst,
  });
  const limit = () => (isOver(collected.hits()) ? -1 : Math.min(total, collected.latest() + silent));
  const code = await time.passWhile(work, limit);
  const outcome = code === undefined ? "timed_out" : code === 0 ? "passed" : "failed";
  const report = clientReport(server(), { underExec: true }, collected.counters);
  const durationMs = Math.round(stopwatch());
  return { outcome, code: code ?? null, durationMs, report, output: [], ...collected.facts() };
}
