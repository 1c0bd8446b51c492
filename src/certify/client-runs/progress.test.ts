import { expect, test } from "vitest";
import { runEnd, sentTimes } from "../../../test/certify/hand-made.js";
import type { OnRequest, RunConditions } from "../../runs/conditions.js";
import type { RowChoice } from "../../sandbox/variants.js";
import type { RunPurpose } from "../checks/check.js";
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
  expect(shown(wrong, "passed", "first")).toBe("open unnoticed");
});

test("a response that is only late has no verdict, also if the command fails", () => {
  expect(shown(late, "failed")).toBe("open failed");
  expect(shown(late, "passed")).toBe("open passed");
});

test("a run that hit no request has no verdict", () => {
  expect(shown(wrong, "passed", "each", 0)).toBe("open passed");
  expect(shown(wrong, "failed", "each", 0)).toBe("open failed");
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
  expect(lineOf({ ownSeed: 3 })).toMatch(/^open +passed +varied\.1/);
  expect(lineOf({ points: [] })).toMatch(/^open +passed +varied\.1/);
  expect(lineOf({ sentKeys: [] })).toMatch(/^open +passed +varied\.1/);
  expect(lineOf({ ownSeed: 3, result: "failed" })).toMatch(/^problem +failed +varied\.1/);
});

/** The line of a run with these conditions, of a client whose plain run sends a key three times. */
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
    isAfterHang: false,
    number: 27,
  };
  const plain = runEnd({ sentKeys: [sentTimes("active", 3)] });
  const [line = ""] = progressLines(run, { allow: [] }, plain, isAgain);
  return line.replace(/ {2,}/g, "|");
}

test("a line shows alone what was special about its run, and what came of it", () => {
  const resend = { kind: "resend", outcome: "401.revoked" } as const;
  const nth = { kind: "nth", key: "active", nth: 2 } as const;
  const rejection = { kind: "rejection", as: "401.revoked" } as const;
  const [three, four] = [
    { sentKeys: [sentTimes("active", 3, 2)] },
    { sentKeys: [sentTimes("active", 4, 2)] },
  ];
  const rejected = { onRequest: { which: nth, gets: rejection } } as const;
  expect(lineOf(resend, rejected, { result: "failed", ...three })).toBe(
    "ok|noticed|resend.401, request 2 of 3|27",
  );
  expect(lineOf(resend, rejected, four)).toBe("open|sent again|resend.401, request 2 of 3|27");
  expect(lineOf(resend, rejected, { result: "failed", ...four }, true)).toBe(
    "open|sent, fails|resend.401, again, request 2 of 3|27",
  );
  const everyOther = {
    onRequest: { which: { kind: "every_other", key: "active" }, gets: rejection },
  } as const;
  expect(lineOf(resend, everyOther, four)).toBe("open|sent again|resend.401, every other request|27");
  const control = { kind: "resend_control" } as const;
  const notFound = {
    onRequest: { which: nth, gets: { kind: "rejection", as: "404.unknown_path" } },
  } as const;
  expect(lineOf(control, notFound, { result: "failed", ...three })).toBe(
    "ok|noticed|resend, request 2 of 3, a 404|27",
  );
  expect(lineOf(control, { onRequest: { which: nth, gets: late } }, three)).toBe(
    "open|passed|resend, request 2 of 3, late|27",
  );
});

test("a line of a search shows what varied", () => {
  const varied = { kind: "varied", seed: 5 } as const;
  const lineWith = (rows: readonly RowChoice[]) =>
    lineOf(varied, { profile: "varied", rows }, { result: "failed" });
  expect(lineWith([])).toBe("open|failed|varied.5, nothing varied|27");
  expect(lineWith([{ row: "etag" }])).toBe("open|failed|varied.5, only etag|27");
  expect(lineWith([{ row: "etag", status: 200 }])).toBe("open|failed|varied.5, only etag on a 200|27");
  expect(lineWith([{ row: "etag" }, { row: "vary" }])).toBe("open|failed|varied.5, only 2 rows|27");
});
