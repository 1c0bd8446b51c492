import { expect, test } from "vitest";
import { runEnd } from "../../../test/certify/hand-made.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import type { RunEnd } from "./client-run.js";
import { progressLines } from "./progress.js";

/** The line of a run with these conditions. */
function lineOf(
  purpose: RunPurpose,
  conditions: RunConditions,
  end: Partial<RunEnd>,
  isAgain = false,
): string {
  const run = {
    ...runEnd({ replacedCount: 1, ...end }),
    purpose,
    seed: 1,
    conditions,
    clientMayWaitMs: 0,
    timeouts: { total: 1, silent: 1 },
    isAlone: false,
    number: 27,
  };
  const [line = ""] = progressLines(run, isAgain);
  return line.replace(/ {2,}/g, "|");
}

const answer = { kind: "answer", outcome: "200.test" } as const;
const gets = { kind: "wrong_answer" } as const;
const wrong = { onRequest: { which: { kind: "first", outcome: "200.test" }, gets } } as const;

test.each<[string, Partial<RunEnd>, string]>([
  ["fails after a wrong response has noticed it", { result: "failed" }, "noticed"],
  ["fails although no request was hit has failed", { result: "failed", replacedCount: 0 }, "failed"],
  ["passes has passed", { result: "passed" }, "passed"],
  ["does not end in time is told so", { result: "timed_out" }, "did not end in time"],
])("a command that %s", (_, end, word) => {
  expect(lineOf(answer, wrong, end)).toBe(`${word}|answer.200.test|27`);
});

test("a fault that breaks the command is not noticed: it should have passed", () => {
  const fault = { kind: "fault", effect: { hang: true } } as const;
  const conditions = { onRequest: { which: { kind: "nth", key: "active", nth: 1 }, gets: fault } } as const;
  expect(lineOf({ kind: "fault", outcome: "fault.hang" }, conditions, { result: "failed" })).toBe(
    "failed|fault.hang|27",
  );
});

test("a line shows alone what was special about its run", () => {
  const each = { onRequest: { which: { kind: "each", outcome: "200.test" }, gets } } as const;
  expect(lineOf(answer, each, {}, true)).toBe("passed|answer.200.test, again, each request|27");
  const which = { kind: "nth", key: "active", nth: 3 } as const;
  const notFound = { onRequest: { which, gets: { kind: "rejection", as: "404.unknown_path" } } } as const;
  expect(lineOf({ kind: "resend_control" }, notFound, { result: "failed" })).toBe("noticed|resend, a 404|27");
});

test("a line of a search shows what varied", () => {
  const lineWith = (...rows: readonly string[]) => {
    const conditions = { profile: "varied", rows: rows.map((row) => ({ row })) } as const;
    return lineOf({ kind: "varied", seed: 5 }, conditions, { result: "failed" });
  };
  expect(lineWith()).toBe("failed|varied.5, only 0 rows|27");
  expect(lineWith("etag")).toBe("failed|varied.5, only etag|27");
  expect(lineWith("etag", "vary")).toBe("failed|varied.5, only 2 rows|27");
});
