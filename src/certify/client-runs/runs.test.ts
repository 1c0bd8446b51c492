import { expect, test } from "vitest";
import { handMade, runEnd } from "../../../test/certify/hand-made.js";
import { plainRunRequest } from "./client-run.js";
import { Runs } from "./runs.js";

const varied = { purpose: { kind: "varied", seed: 1 }, conditions: { profile: "varied" } } as const;

test("the first run is made once for all that ask for it, and another one is always new", async () => {
  const { runs, names } = await handMade(() => ({}));
  const [first, same] = await Promise.all([runs.makeOnce(varied), runs.makeOnce(varied)]);
  const other = await runs.makeAnother(varied);
  expect([first === same, first === other, names]).toEqual([true, false, ["plain", "varied.1", "varied.1"]]);
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

test("the runs of a second pass are numbered after those of the first: progress has shown these", async () => {
  const { runs } = await handMade(() => ({}));
  await runs.makeAnother(varied);
  const lines: string[] = [];
  const runner = { run: async () => runEnd(), say: (line: string) => lines.push(line), separateRuns() {} };
  const second = new Runs(runs.plan, runner, runs.ended);
  await second.makeOnce(plainRunRequest);
  await second.makeAnother(plainRunRequest);
  expect(second.ended.map(({ number }) => number)).toEqual([3, 4]);
  expect(lines[0]).toBe(`plain  ${second.plain.report.requests} requests`);
  expect(lines[1]).toMatch(/^ok +passed +plain, again +4$/);
});
