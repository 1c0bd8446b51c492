import { expect, test } from "vitest";
import { named, reportCovering, runEnd, sentTimes } from "../../test/certify/hand-made.js";
import { adviceOf } from "../rules/advice.js";
import { certify, type JudgedClient } from "./certify.js";
import { nameOf } from "./checks/check.js";
import type { CertifyPlan } from "./checks/plan.js";
import type { ClientRunner, PlannedRun, RunEnd } from "./client-runs/client-run.js";

/** Certifies a client whose plain run ends. */
async function certifyAndJudge(plan: CertifyPlan, runner: ClientRunner): Promise<JudgedClient> {
  const certification = await certify(plan, runner);
  if (certification.kind !== "judged") throw new Error(`It is ${certification.kind}.`);
  return certification;
}

/** Why nothing is judged, if each run ends as the next of these; the last one is repeated. */
async function whyPlainNotJudged(...ends: readonly ("passes" | "fails")[]): Promise<string | undefined> {
  let run = 0;
  const runOnce = async (): Promise<RunEnd> => {
    const end = ends[Math.min(run, ends.length - 1)];
    run += 1;
    return runEnd({ result: end === "passes" ? "passed" : "failed" });
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  const runner: ClientRunner = { run: runOnce, say() {}, separateRuns() {} };
  return (await certifyAndJudge(plan, runner)).whyNotJudged?.why;
}

const fails = "the command fails in the plain run with exit code 1";

test("a plain run that fails names the profile typical only if it always decides: each other command may fail at random", async () => {
  const turn = ["fails", "passes"] as const;
  expect(await whyPlainNotJudged("fails")).toBe(fails);
  expect(await whyPlainNotJudged("fails", "passes")).toBe(`${fails}, and passes when it runs again`);
  expect(await whyPlainNotJudged("fails", ...turn, "passes")).toBe(`${fails}, and passes when it runs again`);
  expect(await whyPlainNotJudged("fails", ...turn, "fails")).toBe(
    `${fails}, and passes and fails with \`--profile typical\``,
  );
  expect(await whyPlainNotJudged("fails", ...turn, ...turn, ...turn, ...turn)).toBe(
    `${fails}, and passes with \`--profile typical\``,
  );
  expect(await whyPlainNotJudged("fails", ...turn, ...turn, ...turn, "fails", "fails")).toBe(
    `${fails}, and passes and fails with \`--profile typical\``,
  );
});

/** What to do about a plain run that fails, if certify is stopped after so many runs, of which those with `typical` pass. */
async function whatToDoStoppedAfter(count: number): Promise<string | undefined> {
  let made = 0;
  const run: ClientRunner["run"] = async ({ conditions }) => {
    made += 1;
    if (made > count) return "stopped";
    return runEnd({ result: conditions.profile === "typical" ? "passed" : "failed" });
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  return (await certifyAndJudge(plan, { run, say() {}, separateRuns() {} })).whyNotJudged?.whatToDo;
}

test("a stopped certify does not say that the command always fails", async () => {
  for (const count of [1, 2, 3, 4, 5]) {
    expect(await whatToDoStoppedAfter(count)).toBe("Run certify again.");
  }
});

test("a command that cannot be started is started once", async () => {
  let count = 0;
  const run: ClientRunner["run"] = async () => {
    count += 1;
    return runEnd({ result: "failed", code: null, failure: new Error("not found") });
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  const certification = await certify(plan, { run, say() {}, separateRuns() {} });
  expect(count).toBe(1);
  expect(certification).toMatchObject({ kind: "not_started", failure: { message: "not found" } });
});

const covering = reportCovering("401.revoked", "200.test");
const report = { ...covering, coverage: { ...covering.coverage, covered: 5 } };
const point = { row: "etag", variant: "weak", status: 200 };

/** Certifies a client that notices wrong answers and survives everything else, but for what a test changes by the number of the run. */
async function certified(
  change: (request: PlannedRun, number: number) => Partial<RunEnd> | undefined,
  more: Partial<CertifyPlan> = {},
) {
  const names: string[] = [];
  const run = async (request: PlannedRun): Promise<RunEnd> => {
    names.push(named(request).name);
    const isNoticed = request.conditions.onRequest?.gets.kind === "wrong_answer";
    const isFault = request.conditions.onRequest?.gets.kind === "fault";
    const sentKeys = [sentTimes("active", isFault ? 2 : 1, isFault ? 1 : 0)];
    const end = { report, points: [point], sentKeys, replacedCount: 1 };
    const result = isNoticed ? "failed" : "passed";
    return runEnd({ ...end, result, ...change(request, names.length) });
  };
  const plan = {
    seed: 1,
    firstSeed: 1,
    allow: [],
    defaultKey: "active",
    flags: [],
    certifyFlags: [],
    ...more,
  };
  const client = await certifyAndJudge(plan, { run, say() {}, separateRuns() {} });
  const { checks, problems, whyNotJudged } = client;
  const heldNames = checks.flatMap(({ check, result }) => (result.kind === "held" ? nameOf(check) : []));
  const plainCount = names.filter((name) => name === "plain").length;
  const { why, whatToDo } = whyNotJudged ?? {};
  return { held: heldNames, problems, checks, why, whatToDo, plainCount, count: names.length };
}

test("if wrong answers are noticed, the plain run is made again at the end", async () => {
  const { held, why, plainCount } = await certified(() => undefined);
  expect([why, plainCount]).toEqual([undefined, 2]);
  expect(held).toContain("answer.401.revoked");
});

test("a certificate that rests on no failure makes the plain run once", async () => {
  const { held, plainCount } = await certified(() => undefined, { only: ["varied"] });
  expect([held.length, plainCount]).toEqual([8 + 1 + 1, 1]);
});

test("a name of --only without a check says which keys end there, or that none is needed", async () => {
  const whatToDoFor = async (name: string) => (await certified(() => undefined, { only: [name] })).whatToDo;
  expect(await whatToDoFor("resend.403")).toMatch(
    /^Send a key that ends there, and check its response: SVC_KEY_\S+ \(403\.\w+\), SVC_KEY_/,
  );
  expect(await whatToDoFor("answer.401.expired")).toMatch(/: SVC_KEY_\S+ \(401\.expired\)$/);
  expect(await whatToDoFor("answer.401.missing")).toBe(
    "Send a request that ends there, and check its response.",
  );
});

test("a name of --only shows something if one of its checks is judged, and each name must", async () => {
  const change = ({ purpose }: PlannedRun) =>
    purpose.kind === "fault" && purpose.outcome === "fault.hang" ? { replacedCount: 0 } : undefined;
  expect((await certified(change, { only: ["fault"] })).why).toBe(undefined);
  const { why, checks } = await certified(change, { only: ["fault.status", "fault.hang"] });
  expect(why).toBe("fault.hang: no request was hit");
  // The verdict has its reason, which is not shown twice.
  const results = checks.map(({ result }) => result.kind === "not_judged" && result.isOfVerdict);
  expect(results.filter((isOfVerdict) => isOfVerdict)).toHaveLength(1);
});

const unvaried = { points: [] };

test.each<[string, (request: PlannedRun) => boolean, string | undefined]>([
  ["two of eight varied runs", ({ seed }) => seed > 6, undefined],
  [
    "three of eight varied runs",
    ({ seed }) => seed > 5,
    "3 of 8 varied runs show nothing: no response varied",
  ],
])("a client of which %s are not judged passes if three of four are", async (_, isUnvaried, why) => {
  const { why: found } = await certified((request) => (isUnvaried(request) ? unvaried : undefined));
  expect(found).toBe(why);
});

test("wrong answers that show nothing are the reason, and neither faults nor resends", async () => {
  const isOf = (kind: string, { purpose }: PlannedRun) => purpose.kind === kind;
  const whyWithout = async (kind: string) =>
    (await certified((request) => (isOf(kind, request) ? { result: "passed", replacedCount: 0 } : undefined)))
      .why;
  expect(await whyWithout("answer")).toBe("2 of 2 wrong answers show nothing: no request was hit");
  expect(await whyWithout("fault")).toBe(undefined);
});

test("runs that send less from some run on are the reason", async () => {
  const { why } = await certified((_, number) => ({
    result: "passed",
    sentKeys: [sentTimes("active", number < 3 ? 9 : 1)],
    points: [],
  }));
  expect(why).toBe(
    "8 of 8 varied runs show nothing: the plain run sent 9 requests, and each run after run 2 sent 1 or fewer",
  );
});

test.each([2, 6, 10, 12])(
  "a command that no longer passes from run %i on has no problem, and nothing holds because it fails",
  async (from) => {
    const fails = (_: PlannedRun, number: number) =>
      number < from ? undefined : ({ result: "failed" } as const);
    const { held, problems, why, count } = await certified(fails);
    expect(problems).toEqual([]);
    expect(held.filter((name) => name.startsWith("answer"))).toEqual([]);
    expect(why).toMatch(
      /^the command no longer passes: the plain run passed in run 1, and failed in run \d+$/,
    );
    expect(count).toBeLessThan(60);
  },
);

test("a command that depends on its seed fails also if nothing is varied, and its plain run passes again", async () => {
  const { problems, plainCount, count } = await certified(({ seed }) =>
    seed === 1 ? undefined : { result: "failed" },
  );
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Fails with seeds 2, 3, 4, 5, 6, 7 and 8 even when nothing is varied",
  ]);
  expect(plainCount).toBe(3);
  expect(count).toBeLessThan(60);
});

const isPlain = ({ purpose }: PlannedRun) => purpose.kind === "plain";

test("a contradiction withdraws what holds because a run failed, and not what holds because one passed", async () => {
  const { held, problems, why } = await certified((request, number) =>
    isPlain(request) && number > 1 ? { result: "failed" } : undefined,
  );
  expect(problems).toEqual([]);
  expect(why).toMatch(/^the command no longer passes: /);
  expect(held.filter((name) => /^(?:answer|resend)/.test(name))).toEqual([]);
  expect(held).toEqual(expect.arrayContaining(["varied.1", "varied.mixed", "fault.hang", "advice"]));
});

test("a plain run that no longer ends in time is told so, and not as a failure", async () => {
  const { why } = await certified((request, number) =>
    isPlain(request) && number > 1 ? { result: "timed_out" } : undefined,
  );
  expect(why).toMatch(
    /^the command no longer passes: the plain run passed in run 1, and did not end in time in run \d+$/,
  );
});

test("a contradiction withdraws problems that rest on a failure", async () => {
  const { held, problems, why } = await certified((request, number) => {
    if (request.purpose.kind === "fault") return { result: "failed" };
    return isPlain(request) && number > 1 ? { result: "failed" } : undefined;
  });
  expect([problems, held.filter((name) => name.startsWith("fault"))]).toEqual([[], []]);
  expect(why).toMatch(/^the command no longer passes: /);
});

/** Certifies a command one run of which fails next to another. Returns the names of the runs after which all are made one at a time. */
async function sharing(endOf: (request: PlannedRun, isSeparate: boolean) => Partial<RunEnd> | undefined) {
  let count = 0;
  const separated: string[] = [];
  const run: ClientRunner["run"] = async (request) => {
    const isNoticed = request.conditions.onRequest?.gets.kind === "wrong_answer";
    const end = endOf(request, separated.length > 0);
    if (end === undefined) return "stopped";
    count += 1;
    const seen = { report, points: [point], sentKeys: [sentTimes("active", 1)], replacedCount: 1 };
    return runEnd({ ...seen, result: isNoticed ? "failed" : "passed", ...end });
  };
  const say: ClientRunner["say"] = (line) => {
    const [, name] = / *(\S+) failed next to another run/.exec(line) ?? [];
    if (name !== undefined) separated.push(name);
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  const client = await certifyAndJudge(plan, { run, say, separateRuns() {} });
  return { ...client, separated, count };
}

test("a run that failed next to another one is no contradiction: all runs are made again, and all are counted", async () => {
  const { separated, count, runCount, whyNotJudged } = await sharing((request, isSeparate) =>
    request.isAlone && !isSeparate ? { result: "failed", isShared: true } : {},
  );
  expect([separated, whyNotJudged]).toEqual([["plain"], undefined]);
  expect(runCount).toBe(count);
});

test("a key in the output of a run counts, although all runs are made again", async () => {
  const { level, rule, meaning, whatToDo } = adviceOf("key-in-output");
  const keyInOutput = {
    id: "key-in-output" as const,
    level,
    rule,
    meaning,
    whatToDo,
    count: 1,
    examples: [],
  };
  const leaking = { ...report, advice: [keyInOutput] };
  const { problems, scenarios } = await sharing((request, isSeparate) => {
    if (isSeparate || !request.isAlone) return { scenarios: ["second"] };
    return { result: "failed", isShared: true, report: leaking, scenarios: ["first"] };
  });
  expect(problems.map(({ name, runs }) => [name, runs])).toEqual([["advice.key-in-output", ["plain"]]]);
  expect(scenarios).toEqual(["second", "first"]);
});

test("after a signal, no run is made again", async () => {
  let isOver = false;
  const { separated } = await sharing((request) => {
    if (isOver) return undefined;
    if (request.purpose.kind !== "fault") return {};
    // A repetition passes, and is the last run.
    isOver = request.isAlone === true;
    return { result: isOver ? "passed" : "failed", isShared: true };
  });
  expect([isOver, separated]).toEqual([true, []]);
});

test("a key in another header is told with that header, or that there was none", async () => {
  const { level, rule, meaning, whatToDo } = adviceOf("key-in-authorization");
  const misplaced = {
    id: "key-in-authorization" as const,
    level,
    rule,
    meaning,
    whatToDo,
    count: 1,
    examples: [],
  };
  const sentenceWith = async (...headersWithKey: readonly string[]) => {
    const { problems } = await certified(() => ({
      report: { ...report, advice: [misplaced] },
      headersWithKey,
    }));
    return problems[0]?.sentence;
  };
  expect(await sentenceWith("authorization", "cookie")).toBe(
    "Your client sent the key in `authorization` and `cookie` (run plain)",
  );
  expect(await sentenceWith()).toMatch(/^Your client sent x-api-key with .* \(run plain\)$/);
});
