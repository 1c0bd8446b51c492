import { expect, test } from "vitest";
import { runEnd, sentTimes } from "../../../test/certify/hand-made.js";
import type { OnRequest } from "../../runs/conditions.js";
import type { RunEnd } from "./client-run.js";
import { progressLines } from "./progress.js";

/** The verdict and the word of a run in which a request got this. */
function shown(
  gets: OnRequest["gets"],
  result: RunEnd["result"],
  which: "first" | "each" = "first",
  replacedCount = 1,
): string {
  const onRequest: OnRequest = { which: { kind: which, outcome: "200.test" }, gets };
  const run = {
    ...runEnd({ result, replacedCount }),
    purpose: { kind: "answer", outcome: "200.test" },
    seed: 1,
    conditions: { onRequest },
    clientMayWaitMs: 0,
    timeouts: { total: 1, silent: 1 },
    isAlone: false,
    isAfterHang: false,
    number: 2,
  } as const;
  const [line = ""] = progressLines(run, { allow: [] }, runEnd());
  return line.slice(0, line.indexOf("answer.200.test")).trim().replace(/ +/, " ");
}

const wrong = { kind: "wrong_answer" } as const;
const late = { kind: "late", seconds: 2 } as const;

test("a wrong answer is noticed or not, and one to the first request is tried again", () => {
  expect(shown(wrong, "failed")).toBe("ok noticed");
  expect(shown(wrong, "passed", "each")).toBe("problem unnoticed");
  expect(shown(wrong, "passed", "first")).toBe("unnoticed");
});

test("a response that is only late has no verdict, also if the command fails", () => {
  expect(shown(late, "failed")).toBe("failed");
  expect(shown(late, "passed")).toBe("passed");
});

test("a run that hit no request has no verdict", () => {
  expect(shown(wrong, "passed", "each", 0)).toBe("passed");
  expect(shown(wrong, "failed", "each", 0)).toBe("failed");
});

test("a varied run that passes has a verdict only if it shows what it was made for", () => {
  const sent = [sentTimes("active", 1)];
  const points = [{ row: "etag", variant: "weak", status: 200 }];
  const lineOf = (end: Partial<RunEnd>) => {
    const run = {
      ...runEnd({ sentKeys: sent, points, ...end }),
      purpose: { kind: "varied", seed: 1 },
      seed: 1,
      conditions: { profile: "varied" },
      clientMayWaitMs: 0,
      timeouts: { total: 1, silent: 1 },
      isAlone: false,
      isAfterHang: false,
      number: 2,
    } as const;
    const [line = ""] = progressLines(run, { allow: [] }, runEnd({ sentKeys: sent }));
    return line.trim();
  };
  expect(lineOf({})).toMatch(/^ok +passed +varied\.1/);
  expect(lineOf({ ownSeed: 3 })).toMatch(/^passed +varied\.1/);
  expect(lineOf({ points: [] })).toMatch(/^passed +varied\.1/);
  expect(lineOf({ sentKeys: [] })).toMatch(/^passed +varied\.1/);
  expect(lineOf({ ownSeed: 3, result: "failed" })).toMatch(/^problem +failed +varied\.1/);
});
