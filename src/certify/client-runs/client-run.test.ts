import { expect, test } from "vitest";
import { reasonOf, runEnd, sentKey, sentTimes } from "../../../test/certify/hand-made.js";
import { type RunEnd, resultOfPass, timeoutsFor } from "./client-run.js";

test.each<[string, Parameters<typeof timeoutsFor>, { readonly total: number; readonly silent: number }]>([
  ["what --timeout sets", [5_000, 1_000, 61_000], { total: 5_000, silent: 5_000 }],
  ["a minute for the plain run", [undefined, undefined], { total: 60_000, silent: 60_000 }],
  ["half a minute for a short run", [undefined, 1_000], { total: 30_000, silent: 30_000 }],
  ["five times a long run", [undefined, 20_000], { total: 100_000, silent: 100_000 }],
  [
    "longer, and so long without a request, if the client may wait",
    [undefined, 1_000, 61_000],
    { total: 91_000, silent: 62_000 },
  ],
  ["at least half a minute without a request", [undefined, 1_000, 10_000], { total: 40_000, silent: 31_000 }],
  [
    "no less without a request than if the client may not wait",
    [undefined, 60_000, 30_000],
    { total: 330_000, silent: 300_000 },
  ],
])("a run has %s", (_, [timeout, plainMs, wait], expected) => {
  expect(timeoutsFor(timeout, plainMs, wait)).toEqual(expected);
});

const point = { row: "etag", variant: "weak", status: 200 };
const rejected = { outcome: "401.revoked" } as const;
const plain = runEnd({ sentKeys: [sentTimes("active", 2), sentKey("revoked", rejected)] });

const whyOf = (more: Partial<RunEnd>, subject: "varied" | "replaced" = "replaced", of = plain) => {
  const end = runEnd({ replacedCount: 1, points: [point], sentKeys: of.sentKeys, ...more });
  const run = { ...end, number: 5 };
  return reasonOf(resultOfPass(of, run, subject))?.why;
};

test("a run with its subject and all requests of the plain one is judged", () => {
  expect(whyOf({})).toBeUndefined();
  expect(whyOf({ replacedCount: 0 }, "varied")).toBeUndefined();
  expect(whyOf({ points: [], ownSeed: 3 })).toBeUndefined();
});

test.each<[string, Partial<RunEnd>, "varied" | "replaced", RegExp]>([
  ["sent nothing", { sentKeys: [] }, "replaced", /^the command did not send what it sent in the plain run: /],
  ["has another seed", { ownSeed: 3 }, "varied", /^your code sets the seed 3$/],
  ["did not vary", { points: [] }, "varied", /^no response varied$/],
  ["was not hit", { replacedCount: 0 }, "replaced", /^no request was hit$/],
  [
    "lacks a key",
    { sentKeys: [sentTimes("active", 2)] },
    "replaced",
    /in the plain run: `revoked` \(401\.revoked\)$/,
  ],
])("a run that %s is not judged", (_, more, subject, why) => {
  expect(whyOf(more, subject)).toMatch(why);
});

test("a key may lack an outcome after one of its requests was hit, and a fault of the tests may be missing", () => {
  const faulty = runEnd({
    sentKeys: [sentKey("active", {}, { outcome: "fault.status" }), sentKey("revoked", rejected)],
  });
  const whyWith = (request: Parameters<typeof sentKey>[1]) =>
    whyOf({ sentKeys: [sentKey("active", request), sentKey("revoked", rejected)] }, "replaced", faulty);
  expect(whyWith({})).toBeUndefined();
  expect(whyWith({ outcome: "403.access_denied", isReplaced: true })).toBeUndefined();
});

test("more than three missing requests are named by three, and an unknown key by its outcome", () => {
  const keys = ["a", "b", "c", "d"].map((key) => sentTimes(key, 1));
  const unknown = { ...sentKey("6f2a", { outcome: "401.unknown" }), isUnknown: true };
  const why = (...sentKeys: RunEnd["sentKeys"]) =>
    whyOf({ sentKeys: plain.sentKeys }, "replaced", runEnd({ sentKeys }));
  expect(why(...keys)).toMatch(/: `a` \(200\.test\), `b` \(200\.test\), `c` \(200\.test\) and others$/);
  expect(why(...keys.slice(1))).toMatch(/`c` \(200\.test\) and `d` \(200\.test\)$/);
  expect(why(unknown)).toMatch(/: a request that ends on 401\.unknown$/);
});
