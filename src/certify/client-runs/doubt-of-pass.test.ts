import { expect, test } from "vitest";
import { runEnd, sentKey, sentTimes } from "../../../test/certify/hand-made.js";
import type { RunEnd } from "./client-run.js";
import { findDoubtOfPass } from "./doubt-of-pass.js";

const point = { row: "etag", variant: "weak", status: 200 };
const rejected = { outcome: "401.revoked" } as const;
const plain = runEnd({ sentKeys: [sentTimes("active", 2), sentKey("revoked", rejected)] });

const whyOf = (more: Partial<RunEnd>, subject: "varied" | "replaced" = "replaced") =>
  findDoubtOfPass(
    plain,
    runEnd({ replacedCount: 1, points: [point], sentKeys: plain.sentKeys, ...more }),
    subject,
  )?.why;

test("a run with its subject and all requests of the plain one is judged", () => {
  expect(whyOf({})).toBeUndefined();
  expect(whyOf({ replacedCount: 0 }, "varied")).toBeUndefined();
  expect(whyOf({ points: [], ownSeed: 3 })).toBeUndefined();
});

test.each<[string, Partial<RunEnd>, "varied" | "replaced", RegExp]>([
  ["sent nothing", { sentKeys: [] }, "replaced", /^the command sent no request/],
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
  const run = (...requests: Parameters<typeof sentKey>[1][]) =>
    findDoubtOfPass(
      faulty,
      runEnd({ replacedCount: 1, sentKeys: [sentKey("active", ...requests), sentKey("revoked", rejected)] }),
      "replaced",
    );
  expect(run({})).toBeUndefined();
  const isReplaced = runEnd({
    replacedCount: 1,
    sentKeys: [
      sentKey("active", { outcome: "403.access_denied", isReplaced: true }),
      sentKey("revoked", rejected),
    ],
  });
  expect(findDoubtOfPass(faulty, isReplaced, "replaced")).toBeUndefined();
});

test("more than three missing requests are named by three, and an unknown key by its outcome", () => {
  const keys = ["a", "b", "c", "d"].map((key) => sentTimes(key, 1));
  const unknown = { ...sentKey("6f2a", { outcome: "401.unknown" }), isUnknown: true };
  const why = (...sentKeys: RunEnd["sentKeys"]) =>
    findDoubtOfPass({ sentKeys }, runEnd({ replacedCount: 1, sentKeys: plain.sentKeys }), "replaced")?.why;
  expect(why(...keys)).toMatch(/: `a` \(200\.test\), `b` \(200\.test\), `c` \(200\.test\) and others$/);
  expect(why(...keys.slice(1))).toMatch(/`c` \(200\.test\) and `d` \(200\.test\)$/);
  expect(why(unknown)).toMatch(/: a request that ends on 401\.unknown$/);
});
