import { expect, test } from "vitest";
import { handMade, reasonOf } from "../../../test/certify/hand-made.js";
import type { NotJudged } from "../checks/judgment.js";
import type { RunEnd } from "./client-run.js";
import { Runs, unlessStopped } from "./runs.js";

const varied = { purpose: { kind: "varied", seed: 1 }, conditions: { profile: "varied" } } as const;

test("the first run is made once for all that ask for it, and another one is always new", async () => {
  const { runs, names } = await handMade(() => ({}));
  const [first, same] = await Promise.all([runs.makeOnce(varied), runs.makeOnce(varied)]);
  const other = await runs.makeAnother(varied);
  expect([first === same, first === other, names]).toEqual([true, false, ["plain", "varied.1", "varied.1"]]);
});

test("what needs a run that a signal stopped ends only after the commands that are under way", async () => {
  let endCommand: (end: RunEnd | "stopped") => void = () => {};
  const underWay = new Promise<RunEnd | "stopped">((resolve) => {
    endCommand = resolve;
  });
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [] };
  const runs = new Runs(plan, {
    run: async ({ seed }) => (seed === 2 ? underWay : "stopped"),
    say() {},
    jobs: 2,
  });
  let isEnded = false;
  const other = runs.makeOnce({ ...varied, seed: 2 }).catch(() => {});
  const stopped = unlessStopped(runs.makeOnce(varied)).then((result) => {
    isEnded = true;
    return result;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isEnded, runs.isStopped]).toEqual([false, true]);
  endCommand("stopped");
  await other;
  expect(reasonOf((await stopped) as NotJudged)?.why).toBe("certify was stopped");
});

test("of two runs under the same conditions, the one that did not end in time is told so, with its number", async () => {
  const { runs } = await handMade(({ name }, before) => ({
    result: name === "varied.1" && before === 0 ? "timed_out" : "passed",
  }));
  for (let made = 0; made < 2; made++) await runs.makeAnother(varied);
  expect(runs.findContradiction()?.why).toBe(
    "the command did not end in time in run 2, and passed in run 3 under the same conditions (varied.1)",
  );
});

test("a wrong answer that is noticed only sometimes is no contradiction: a test may not read each response", async () => {
  const { runs } = await handMade(({ name }, before) => ({
    result: name === "varied.1" && before === 0 ? "failed" : "passed",
  }));
  const onRequest = {
    which: { kind: "each", outcome: "200.test" },
    gets: { kind: "wrong_answer" },
  } as const;
  const request = { purpose: varied.purpose, conditions: { onRequest } };
  for (let made = 0; made < 2; made++) await runs.makeAnother(request);
  expect(runs.findContradiction()).toBeUndefined();
});

test("what is against the client needs three of three runs, of which two are alone", async () => {
  const check = { kind: "varied", seed: 1 } as const;
  const isFailed = ({ result }: { readonly result: string }) => result === "failed";
  const judgedWith = async (...failing: readonly number[]) => {
    const alone: boolean[] = [];
    const { runs } = await handMade(({ name, isAlone }, before) => {
      if (name !== "varied.1") return {};
      alone.push(isAlone);
      return { result: failing.includes(before) ? "failed" : "passed" };
    });
    const run = await runs.makeOnce(varied);
    const result = await runs.judgeAgainst(check, run, isFailed, "it fails");
    return [reasonOf(result)?.why ?? result.kind, alone];
  };
  expect(await judgedWith(0, 1, 2)).toEqual(["failed", [false, true, true]]);
  expect(await judgedWith(0, 2)).toEqual(["it fails in 2 of 3 runs", [false, true, true]]);
  expect(await judgedWith(0)).toEqual(["it fails in 1 of 3 runs", [false, true, true]]);
});

test("a repetition of a run that did not end in time has five times as long as the longest that passed, and what the client may wait", async () => {
  const totals: number[] = [];
  const { runs } = await handMade(({ name, timeouts }) => {
    if (name === "plain") return { durationMs: 3_000 };
    totals.push(timeouts.total);
    return { result: "timed_out" };
  });
  await runs.threeOf(await runs.makeOnce(varied));
  await runs.threeOf(await runs.makeOnce({ ...varied, seed: 2, clientMayWaitMs: 4_000 }));
  expect(totals).toEqual([30_000, 15_000, 15_000, 34_000, 19_000, 19_000]);
});
