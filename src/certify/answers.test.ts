import { expect, test } from "vitest";
import { handMade, reportCovering, sentKey, sentTimes } from "../../test/certify/hand-made.js";
import { judgeAnswers } from "./answers.js";
import type { RunEnd } from "./client-runs/client-run.js";

const name = "answer.401.revoked";
const keys = [sentTimes("active", 2), sentKey("revoked", { outcome: "401.revoked" })];

/** Judges the wrong answer to a revoked key: to the first request, and to each one, three times. */
async function judged(
  ends: {
    readonly first: Partial<RunEnd>;
    readonly each?: Partial<RunEnd>;
    readonly again?: Partial<RunEnd>;
  },
  plan: Parameters<typeof handMade>[1] = {},
) {
  let eachCount = 0;
  const { runs, names } = await handMade(
    ({ conditions: { onRequest } }) => {
      if (onRequest === undefined) return { sentKeys: keys, report: reportCovering("401.revoked") };
      if (onRequest.which.kind === "first") return { sentKeys: keys, ...ends.first };
      eachCount += 1;
      return { sentKeys: keys, ...(eachCount === 1 ? ends.each : (ends.again ?? ends.each)) };
    },
    { only: [name], ...plan },
  );
  const { checks, problems } = await judgeAnswers(runs);
  const [result] = checks.map((check) => check.result);
  const why = result?.kind === "not_judged" ? result.why : undefined;
  return { kind: result?.kind, why, problems: problems.map(({ sentence }) => sentence), names };
}

const noticed: Partial<RunEnd> = { result: "failed", replacedCount: 1 };
const unnoticed: Partial<RunEnd> = { replacedCount: 1 };

test("a wrong answer holds if the command fails at the first one, or at one of all", async () => {
  expect((await judged({ first: noticed })).kind).toBe("held");
  expect((await judged({ first: unnoticed, each: noticed })).kind).toBe("held");
});

test("a wrong answer that no test notices is a problem", async () => {
  const { kind, problems } = await judged({ first: unnoticed, each: unnoticed });
  expect([kind, problems]).toEqual([
    "failed",
    [expect.stringMatching(/^Passes with the wrong answer: 200 in place of 401 for /)],
  ]);
});

test.each<[string, Partial<RunEnd>, RegExp]>([
  [
    "that ends late",
    { result: "timed_out", replacedCount: 1 },
    /^the command did not end in time in run \d+$/,
  ],
  ["without a request that got it", {}, /^no request was hit$/],
  ["without a request", { sentKeys: [] }, /^the command did not send what it sent in the plain run: /],
  ["that fails without a request that got it", { result: "failed" }, /^no request was hit$/],
  [
    "that lacks other requests",
    { replacedCount: 1, sentKeys: [sentTimes("active", 1)] },
    /^the command did not send what it sent in the plain run: `revoked`/,
  ],
])("a run %s is not judged", async (_, each, why) => {
  expect(await judged({ first: unnoticed, each })).toMatchObject({
    kind: "not_judged",
    why: expect.stringMatching(why),
    problems: [],
  });
});

test.each(["401.revoked", "answer.401.revoked", "answer"])(
  "a wrong answer that --allow names as %s is allowed if nothing notices it, and holds otherwise",
  async (allowed) => {
    const plan = { allow: [allowed] };
    const { kind, problems, names } = await judged({ first: unnoticed, each: unnoticed }, plan);
    expect([kind, problems, names.length]).toEqual(["allowed", [], 3]);
    expect((await judged({ first: unnoticed, each: noticed }, plan)).kind).toBe("held");
  },
);

test("a wrong answer that is noticed in some of three runs is not judged, with the counts", async () => {
  const { why, problems } = await judged({ first: unnoticed, each: unnoticed, again: noticed });
  expect([why, problems]).toEqual([
    "the command passes with a wrong answer to each request that ends on 401.revoked in 1 of 3 runs",
    [],
  ]);
});
