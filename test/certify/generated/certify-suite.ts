import { type CertifyResult, certifyResultOf } from "../../../src/certify/certificate/certificate.js";
import { certify } from "../../../src/certify/certify.js";
import type { Finding } from "../../../src/certify/checks/judgment.js";
import type { CertifyPlan } from "../../../src/certify/checks/plan.js";
import type { ClientRunner, PlannedRun, RunEnd } from "../../../src/certify/client-runs/client-run.js";
import { SeenRequests } from "../../../src/certify/client-runs/seen-requests.js";
import { nodePlatform } from "../../../src/node/platform.js";
import { clientReport } from "../../../src/report/report.js";
import { type RandomStream, randomStream } from "../../../src/rules/seed.js";
import { conditionedRun } from "../../../src/runs/conditioned-run.js";
import type { RunConditions } from "../../../src/runs/conditions.js";
import { Counters } from "../../../src/sandbox/journal/counts.js";
import type { SandboxState } from "../../../src/sandbox/sandbox-state.js";
import { prepareStart, startSandbox } from "../../../src/sandbox/start-sandbox.js";
import { bundledScenarios } from "../../../src/scenario/bundled.js";
import { runSuite, type Suite } from "./suite.js";
import { createVirtualTime } from "./virtual-time.js";

export interface CertifyOptions extends Partial<Pick<CertifyPlan, "only" | "hasAllFaults">> {
  /** Chooses the random numbers of each run. */
  readonly label: string;
  /** After how many runs a signal stops it. Default: after none. */
  readonly stopAfter?: number;
}

const scenario = bundledScenarios["key-states"];
/** A Monday morning, as the scenario's clock shows. */
const start = Date.parse("2026-03-02T09:00:00Z");

/** What a certificate states about every suite here. */
export const about = {
  scenario: "key-states",
  scenarioDigest: "5f".repeat(32),
  specification: "0.1.0",
  sandbox: "0.1.0",
  command: ["pytest"],
  startedAt: "2026-03-02T08:59:58.123Z",
  durationMs: 900,
};

/** Certifies a suite that runs in this process, in virtual time and one run at a time. */
export async function certifySuite(
  suite: Suite,
  { label, stopAfter = Number.POSITIVE_INFINITY, ...options }: CertifyOptions,
): Promise<CertifyResult> {
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  const run: ClientRunner["run"] = ({ seed, conditions, timeouts }) => {
    const next = last.then(async (): Promise<RunEnd | "stopped"> => {
      if (count >= stopAfter) return "stopped";
      count += 1;
      const random = randomStream(count, "run", label);
      return runOnce(suite, conditions, { seed, random, number: count, timeouts });
    });
    last = next;
    return next;
  };
  const plan: CertifyPlan = {
    seed: 1,
    firstSeed: 1,
    allow: suite.allow,
    defaultKey: "active",
    flags: [],
    certifyFlags: [],
    // As the author of a suite that waits for minutes sets it.
    timeout: suite.timers === "real" && suite.client.limitTries > 1 ? 1_800_000 : undefined,
    ...options,
  };
  const certification = await certify(plan, { run, say() {}, jobs: 1 });
  if (certification.kind !== "judged") throw new Error("The first run was not made.");
  return certifyResultOf(certification, plan, about);
}

/** Whether the row of a problem breaks the suite alone, in another run with the seed of its sentence. */
export async function breaksAlone(suite: Suite, { row, name }: Finding): Promise<boolean> {
  if (row === undefined) return true;
  const conditions = { profile: "varied", rows: [{ row }] } as const;
  const [seed, random] = [Number(name.split(".")[1]), randomStream(1, "again", name)];
  const run = await runOnce(suite, conditions, { seed, random, number: 2, timeouts: longTimeouts });
  return run.result !== "passed";
}

/** For suites that wait for many minutes. */
const longTimeouts = { total: 3_600_000, silent: 3_600_000 };

interface RunOptions extends Pick<PlannedRun, "timeouts"> {
  readonly seed: number;
  readonly random: RandomStream;
  readonly number: number;
}

/** Whether a claim is the first one of its name in all processes of a run. */
function startClaims(): (name: string) => boolean {
  const claimed = new Set<string>();
  return (name) => {
    const isFirst = !claimed.has(name);
    claimed.add(name);
    return isFirst;
  };
}

async function runOnce(
  suite: Suite,
  conditions: RunConditions,
  { seed, random, number, timeouts: { total, silent } }: RunOptions,
): Promise<RunEnd> {
  const time = createVirtualTime(start);
  const { stopwatch, wall } = time;
  const claim = startClaims();
  const processes = [0, 1].map(() => conditionedRun(conditions, claim));
  const platform = { ...nodePlatform, time: wall, stopwatch };
  const collected = new SeenRequests(stopwatch);
  const counters = new Counters();
  counters.alsoCountWith(collected);
  const startWith = (ownSeed = seed, worker = 0) => {
    const source = { scenario, name: "key-states" };
    const options = { seed: ownSeed };
    const start = prepareStart({ source, options, platform, clientRun: processes[worker] });
    const sandbox = startSandbox(start);
    sandbox.counters.alsoCountWith({
      countUnread: (id) => counters.countUnread(id),
      count: (exchange, trace) =>
        counters.count(exchange, trace && { ...trace, ownSeed: ownSeed === seed ? undefined : ownSeed }),
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
    start: (options, worker) => startWith(options.seed, worker),
    number,
  });
  const code = await time.passWhile(work, () => Math.min(total, collected.latestRequestAt + silent));
  const result = code === undefined ? "timed_out" : code === 0 ? "passed" : "failed";
  const report = clientReport(server(), counters, true);
  const durationMs = Math.round(stopwatch());
  return { result, code: code ?? null, durationMs, report, output: [], ...collected.facts() };
}
