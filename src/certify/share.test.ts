import { expect, test } from "vitest";
import { handMade, sentTimes } from "../../test/certify/hand-made.js";
import type { JudgedCheck, ResultOfCheck } from "./checks/judgment.js";
import { findDoubtOfShare } from "./share.js";

const held = { kind: "held" } as const;
const open = { kind: "not_judged", reason: { why: "no response varied", whatToDo: "Fix." } } as const;

function varied(...results: readonly ResultOfCheck[]): JudgedCheck[] {
  return results.map((result, index) => ({ check: { kind: "varied", seed: index + 1 }, result }));
}

const answers = (...results: readonly ResultOfCheck[]): JudgedCheck[] =>
  results.map((result) => ({ check: { kind: "answer", outcome: "200.test" }, result }));

test.each<[string, readonly JudgedCheck[], string | undefined]>([
  ["three of four varied runs", varied(held, held, held, open), undefined],
  [
    "two of three varied runs",
    varied(held, held, open),
    "1 of 3 varied runs show nothing: no response varied",
  ],
  ["no varied run", varied(open), "1 of 1 varied runs show nothing: no response varied"],
  ["no wrong answer", answers(open), "1 of 1 wrong answers show nothing: no response varied"],
  ["all faults but one", [{ check: { kind: "fault", outcome: "fault.hang" }, result: open }], undefined],
  ["a resend less", [{ check: { kind: "resend", outcome: "401.revoked" }, result: open }], undefined],
])("a client of which %s is judged", async (_, checks, why) => {
  const { runs } = await handMade(() => ({}));
  expect(findDoubtOfShare(runs, checks)?.why).toBe(why);
});

test("runs that send less from some run on are the reason", async () => {
  const { runs } = await handMade((_, before) => ({ sentKeys: [sentTimes("active", before < 2 ? 9 : 1)] }));
  await runs.makeUpTo({ purpose: { kind: "plain" } }, 8);
  expect(findDoubtOfShare(runs, varied(held, open, open))?.why).toBe(
    "2 of 3 varied runs show nothing: the plain run sent 9 requests, and each run after run 2 sent 1 or fewer",
  );
});
