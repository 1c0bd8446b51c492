import fc from "fast-check";
import { expect, test } from "vitest";
import { me } from "../api/endpoints/me.js";
import { type ApiPathId, apiPathIds } from "../rules/outcomes.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import {
  collectWrites,
  judgedPaths,
  type Purpose,
  type RunFacts,
  type SentCount,
  whyNoEvidence,
} from "./evidence.js";

const paths = fc.array(fc.constantFrom(...apiPathIds), { minLength: 1, maxLength: 4 });
const sent: fc.Arbitrary<SentCount> = fc.record({
  key: fc.constantFrom("active", "live", "revoked", "3f0e8a526c1d", ""),
  nth: fc.nat({ max: 2 }),
  paths,
});
const point = { row: "via", variant: "gateway", status: 200 };
const evidence = (requests: readonly SentCount[]): RunFacts => ({ sent: requests, points: [point], hits: 1 });
const purposes: readonly Purpose[] = ["requests", "points", "fault", "promise"];
const plans = fc.record({
  baseline: fc.array(sent, { minLength: 1, maxLength: 5 }),
  more: fc.array(sent, { maxLength: 5 }),
  purpose: fc.constantFrom(...purposes),
});

test("a run that sent at least what the baseline sent, and in which its purpose happened, is evidence", () => {
  fc.assert(
    fc.property(plans, ({ baseline, more, purpose }) => {
      expect(whyNoEvidence({ sent: baseline }, evidence([...more, ...baseline]), purpose)).toBeUndefined();
    }),
  );
});

test("a run without a key or a path of the baseline is never evidence", () => {
  const plan = plans.chain((one) => fc.tuple(fc.constant(one), fc.nat({ max: one.baseline.length - 1 })));
  fc.assert(
    fc.property(plan, ([{ baseline, more, purpose }, at]) => {
      const { key, paths: left } = baseline[at] as SentCount;
      const without = (path: ApiPathId) =>
        [...more, ...baseline].map((row) => ({
          ...row,
          paths: row.paths.filter((other) => row.key !== key || other !== path),
        }));
      const run = evidence(without(left[0] as ApiPathId));
      expect(whyNoEvidence({ sent: baseline }, run, purpose)).toBeDefined();
    }),
  );
});

test("a run in which its points, its fault or its promise never came is never evidence", () => {
  fc.assert(
    fc.property(plans, ({ baseline, more, purpose }) => {
      fc.pre(purpose !== "requests");
      const run = { sent: [...baseline, ...more], points: [], hits: 0 };
      expect(whyNoEvidence({ sent: baseline }, run, purpose)).toBeDefined();
    }),
  );
});

const active: SentCount = { key: "active", nth: 0, paths: ["200.test"] };
const unknown = (key: string): SentCount => ({ key, isUnknown: true, nth: 0, paths: ["401.unknown"] });

test.each<[string, SentCount[], Partial<RunFacts>, Purpose, RegExp | undefined]>([
  ["no request", [active], { sent: [] }, "points", /^the command sent no request \(a cache/],
  [
    "another seed's unknown key",
    [active, unknown("a")],
    { sent: [active, unknown("b")] },
    "points",
    undefined,
  ],
  ["another key", [active], { sent: [{ ...active, key: "live" }] }, "requests", /`active` \(200\.test\)$/],
  [
    "the seed of the tests",
    [active],
    { pinned: "a.js sets the seed 2" },
    "points",
    /^a\.js sets the seed 2$/,
  ],
  ["the seed of the tests, and a fault", [active], { pinned: "a.js sets the seed 2" }, "fault", undefined],
  ["no point", [active], { points: [] }, "points", /^no response differed/],
  ["no hit", [active], { hits: 0 }, "fault", /^the fault hit no request/],
  ["no hit", [active], { hits: 0 }, "promise", /^the client got no response with it/],
])("a run with %s (%#)", (_, baseline, more, purpose, why) => {
  const reason = whyNoEvidence({ sent: baseline }, { ...evidence(baseline), ...more }, purpose);
  expect(reason?.why).toEqual(why && expect.stringMatching(why));
});

test("POST and PATCH must not be repeated", () => {
  const { responsesContext: _, ...own } = me;
  const create = { ...own, operationId: "createLoan", status: 201 } as const;
  const writes = collectWrites([create]);
  const exchange = { operation: "createLoan", pathId: "201.createLoan" } as const;
  for (const method of ["GET", "DELETE", "POST"])
    writes.add({ ...exchange, method } as Partial<Exchange> as Exchange);
  writes.add({
    operation: "createLoan",
    pathId: "401.unknown",
    method: "POST",
  } as Partial<Exchange> as Exchange);
  expect([...writes.once]).toEqual(["201.createLoan"]);
  const paths = ["200.test", ...writes.once] as const;
  expect(judgedPaths(paths, "fault.truncate", writes)).toEqual(["200.test"]);
  expect(judgedPaths(paths, "fault.latency", writes)).toEqual(paths);
});
