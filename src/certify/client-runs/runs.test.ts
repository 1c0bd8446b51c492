import { expect, test } from "vitest";
import { handMade } from "../../../test/certify/hand-made.js";

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
