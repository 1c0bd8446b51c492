import { expect, test } from "vitest";
import { handMade } from "../../../test/certify/hand-made.js";
import { shownOr } from "../checks/judgment.js";
import type { RunEnd } from "./client-run.js";
import { findDoubtOfFailure, repeatFailures } from "./failures.js";

const varied = { purpose: { kind: "varied", seed: 1 }, conditions: { profile: "varied" } } as const;
const failed: Partial<RunEnd> = { result: "failed" };

/** Runs whose varied ones end like this, by how many there were; the plain ones pass. */
const runsThat = (endOf: (before: number) => Partial<RunEnd> | undefined, only?: readonly string[]) =>
  handMade(({ name }, before) => (name === "varied.1" ? endOf(before) : {}), only && { only });

const firstOf = async ({ runs }: Awaited<ReturnType<typeof handMade>>) => await runs.makeOnce(varied);

test("with all varied runs, a failure counts without another run", async () => {
  const made = await runsThat(() => failed);
  expect(await findDoubtOfFailure(made.runs, await firstOf(made))).toBeUndefined();
  expect(made.names).toHaveLength(2);
});

test("with fewer varied runs, a failure counts if it comes again, and two more plain runs are made", async () => {
  const only = ["varied.1"];
  const sure = await runsThat(() => failed, only);
  expect(await findDoubtOfFailure(sure.runs, await firstOf(sure))).toBeUndefined();
  expect(sure.names.filter((name) => name === "plain")).toHaveLength(3);
  const once = await runsThat((before) => (before === 0 ? failed : {}), only);
  expect((await findDoubtOfFailure(once.runs, await firstOf(once)))?.why).toBe(
    "the command fails, but only in some runs",
  );
});

test("a failure does not count if the last plain run is not made", async () => {
  const made = await handMade(
    ({ name }, before) => (name === "varied.1" ? failed : before === 2 ? undefined : {}),
    {
      only: ["varied.1"],
    },
  );
  await expect(findDoubtOfFailure(made.runs, await firstOf(made))).rejects.toMatchObject({
    reason: { why: "certify was stopped" },
  });
});

const whyFailuresDoNotCount = (...args: Parameters<typeof repeatFailures>) =>
  shownOr(repeatFailures(...args), (reason) => reason);

test.each<[string, Partial<RunEnd>, number]>([
  ["one failure is repeated five times: chance passes one of them", failed, 5],
  ["a run that does not end is repeated twice: it takes long", { result: "timed_out" }, 2],
])("%s", async (_, end, count) => {
  const made = await runsThat(() => end);
  const run = await firstOf(made);
  expect(await whyFailuresDoNotCount(made.runs, [run])).toBeUndefined();
  expect(made.names.filter((name) => name === "varied.1")).toHaveLength(1 + count);
});

test("a repetition that passes contradicts the failure, and one that was not made shows nothing", async () => {
  const passing = await runsThat((before) => (before < 3 ? failed : {}));
  const doubt = await whyFailuresDoNotCount(passing.runs, [await firstOf(passing)]);
  expect(doubt?.why).toBe("the command passes and fails under the same conditions (varied.1, runs 2 and 5)");
  expect(passing.runs.findContradiction()).toMatchObject({ failed: { number: 2 }, passed: { number: 5 } });
  const stopped = await runsThat((before) => (before < 3 ? failed : undefined));
  expect((await whyFailuresDoNotCount(stopped.runs, [await firstOf(stopped)]))?.why).toBe(
    "certify was stopped",
  );
  expect(stopped.runs.isStopped).toBe(true);
});

test("only a failure next to another run is repeated alone", async () => {
  for (const isShared of [true, false]) {
    const alone: unknown[] = [];
    const { runs } = await handMade(({ name, isAlone }) => {
      if (name === "varied.1") alone.push(isAlone);
      return name === "varied.1" ? { ...failed, isShared } : {};
    });
    await repeatFailures(runs, [await runs.makeOnce(varied)]);
    expect(alone).toEqual([false, ...Array(5).fill(isShared)]);
  }
});

const hung: Partial<RunEnd> = { result: "timed_out" };

test("a run that does not end counts only if two repetitions do not end, in less time, and ten plain runs pass", async () => {
  const totals: number[] = [];
  const made = await handMade(({ name, timeouts }) => {
    if (name === "varied.1") totals.push(timeouts.total);
    return name === "varied.1" ? hung : {};
  });
  const run = await firstOf(made);
  expect(await whyFailuresDoNotCount(made.runs, [run])).toBeUndefined();
  expect(totals).toEqual([30_000, 10_000, 10_000]);
  expect(made.names.filter((name) => name === "plain")).toHaveLength(10);
});

test("a run that does not end once accuses nobody, and both runs are named", async () => {
  for (const passing of [1, 2]) {
    const made = await runsThat((before) => (before === passing ? {} : hung));
    const doubt = await whyFailuresDoNotCount(made.runs, [await firstOf(made)]);
    const runs = `runs 2 and ${2 + passing}`;
    expect(doubt?.why).toBe(`the command passes and fails under the same conditions (varied.1, ${runs})`);
  }
});

test("a plain run next to it that does not end accuses nobody either", async () => {
  const made = await handMade(({ name }, before) => (name === "varied.1" || before === 6 ? hung : {}));
  const doubt = await whyFailuresDoNotCount(made.runs, [await firstOf(made)]);
  expect(doubt?.why).toMatch(/^the command no longer passes: the plain run passed in run 1, and did not end/);
});

test("after two repetitions of runs that do not end, no other is made, and its run is not repeated", async () => {
  const made = await handMade(({ name }) => (name === "plain" ? {} : hung));
  const runs = [1, 2, 3].map((seed) =>
    made.runs.makeOnce({ ...varied, seed, purpose: { kind: "varied", seed } }),
  );
  const [first, second, third] = await Promise.all(runs);
  if (!first || !second || !third) throw new Error("Three runs are made.");
  expect(await whyFailuresDoNotCount(made.runs, [first, second, third])).toBeUndefined();
  expect([first, second, third].map((run) => made.runs.isRepeated(run))).toEqual([true, true, false]);
});

test("a run that waits as long as a response asks, in the usual time, has this time again", async () => {
  const totals: number[] = [];
  const lastAskedWait = { outcome: "429.per_minute", status: 429, seconds: 20 } as const;
  const made = await handMade(({ name, timeouts }) => {
    if (name === "varied.1") totals.push(timeouts.total);
    return name === "varied.1" ? { ...hung, lastAskedWait } : {};
  });
  await whyFailuresDoNotCount(made.runs, [await firstOf(made)]);
  expect(totals).toEqual([30_000, 30_000, 30_000]);
});
