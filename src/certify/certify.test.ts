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

test("a command that cannot be started is started once", async () => {
  let count = 0;
  const run: ClientRunner["run"] = async () => {
    count += 1;
    return runEnd({ result: "failed", code: null, failure: new Error("not found") });
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  const certification = await certify(plan, { run, say() {}, jobs: 1 });
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
    const { onRequest } = request.conditions;
    const isFault = onRequest?.gets.kind === "fault";
    const isNoticed = onRequest !== undefined && !isFault;
    const sentKeys = [sentTimes("active", isFault ? 3 : 2, isFault ? 1 : 0)];
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
  const client = await certifyAndJudge(plan, { run, say() {}, jobs: 1 });
  const { checks, problems, whyNotJudged } = client;
  const heldNames = checks.flatMap(({ check, result }) => (result.kind === "held" ? nameOf(check) : []));
  const plainCount = names.filter((name) => name === "plain").length;
  const { why, whatToDo } = whyNotJudged ?? {};
  return { held: heldNames, problems, checks, why, whatToDo, plainCount, count: names.length };
}

test("after the plain run, it says how many runs follow, and how long they take", async () => {
  const lines: string[] = [];
  const run = async () => runEnd({ report, durationMs: 3_000 });
  const plan = {
    seed: 1,
    firstSeed: 1,
    allow: [],
    defaultKey: "active",
    flags: [],
    certifyFlags: [],
    only: ["varied", "resend"],
  };
  await certify(plan, { run, say: (line) => lines.push(line), jobs: 2 });
  // Eight seeds, varied.mixed, five rejections, and the plain run again.
  expect(lines[1]).toMatch(/^About 15 more runs, 23 s and the time that the client waits\. /);
});

test("if wrong answers are noticed, the plain run is made again at the end", async () => {
  const { held, why, plainCount } = await certified(() => undefined);
  expect([why, plainCount]).toEqual([undefined, 2]);
  expect(held).toContain("answer.401.revoked");
});

test("a certificate that rests on no failure makes the plain run once", async () => {
  const { held, plainCount } = await certified(() => undefined, { only: ["varied"] });
  expect([held.length, plainCount]).toEqual([8 + 1 + 1, 1]);
});

test("a name of --only without a check says that no outcome of it is covered", async () => {
  const { why } = await certified(() => undefined, { only: ["answer.401.expired"] });
  expect(why).toBe("the client covers no outcome of answer.401.expired");
});

test("of the checks that --only asks for, three of four of a group must be judged", async () => {
  const change = ({ purpose }: PlannedRun) =>
    purpose.kind === "fault" && purpose.outcome === "fault.hang" ? { replacedCount: 0 } : undefined;
  expect((await certified(change, { only: ["fault"] })).why).toBe(undefined);
  const { why } = await certified(change, { only: ["fault.status", "fault.hang"] });
  expect(why).toBe("1 of 2 faults show nothing: no request was hit");
});

test("what --allow names counts as judged, also if the runs show nothing", async () => {
  const change = ({ purpose }: PlannedRun) => (purpose.kind === "fault" ? { replacedCount: 0 } : undefined);
  const { why } = await certified(change, { only: ["fault"] });
  expect(why).toBe("4 of 4 faults show nothing: no request was hit");
  const allowed = await certified(change, { only: ["fault"], allow: ["fault"] });
  expect([allowed.why, new Set(allowed.checks.map(({ result }) => result.kind))]).toEqual([
    undefined,
    new Set(["held", "allowed"]),
  ]);
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

test("wrong answers and faults that show nothing are the reason", async () => {
  const isOf = (kind: string, { purpose }: PlannedRun) => purpose.kind === kind;
  const whyWithout = async (kind: string) =>
    (await certified((request) => (isOf(kind, request) ? { result: "passed", replacedCount: 0 } : undefined)))
      .why;
  expect(await whyWithout("answer")).toBe("2 of 2 wrong answers show nothing: no request was hit");
  expect(await whyWithout("fault")).toBe("4 of 4 faults show nothing: no request was hit");
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
      /^the command failed in run \d+, and passed in run \d+ under the same conditions \(\S+\)$/,
    );
    expect(count).toBeLessThan(60);
  },
);

test("a command that depends on its seed breaks also if nothing is varied, and its plain run passes at the end", async () => {
  const { problems, plainCount, count } = await certified(({ seed }) =>
    seed === 1 ? undefined : { result: "failed" },
  );
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Breaks with seeds 2, 3, 4, 5, 6, 7 and 8 even when nothing is varied",
  ]);
  expect(plainCount).toBe(2);
  expect(count).toBeLessThan(60);
});

const isPlain = ({ purpose }: PlannedRun) => purpose.kind === "plain";

test("a contradiction withdraws what holds because a run failed, and not what holds because one passed", async () => {
  const { held, problems, why } = await certified((request, number) =>
    isPlain(request) && number > 1 ? { result: "failed" } : undefined,
  );
  expect(problems).toEqual([]);
  expect(why).toMatch(
    /^the command failed in run \d+, and passed in run 1 under the same conditions \(plain\)$/,
  );
  expect(held.filter((name) => /^(?:answer|resend)/.test(name))).toEqual([]);
  expect(held).toEqual(expect.arrayContaining(["varied.1", "varied.mixed", "fault.hang", "advice"]));
});

test("a contradiction withdraws problems that rest on a failure", async () => {
  const { held, problems, why } = await certified((request, number) => {
    if (request.purpose.kind === "fault") return { result: "failed" };
    return isPlain(request) && number > 1 ? { result: "failed" } : undefined;
  });
  expect([problems, held.filter((name) => name.startsWith("fault"))]).toEqual([[], []]);
  expect(why).toMatch(
    /^the command failed in run \d+, and passed in run 1 under the same conditions \(plain\)$/,
  );
});

test("after a signal, nothing is judged that needs another run", async () => {
  let isOver = false;
  const run: ClientRunner["run"] = async (request) => {
    if (isOver) return "stopped";
    const seen = { report, points: [point], sentKeys: [sentTimes("active", 2)], replacedCount: 1 };
    const { onRequest } = request.conditions;
    if (request.purpose.kind !== "fault") {
      return runEnd({ ...seen, result: onRequest === undefined ? "passed" : "failed" });
    }
    // A repetition passes, and is the last run.
    isOver = request.isAlone === true;
    return runEnd({ ...seen, result: isOver ? "passed" : "failed" });
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  const client = await certifyAndJudge(plan, { run, say() {}, jobs: 1 });
  expect([client.isStopped, client.problems]).toEqual([true, []]);
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
