import { expect, test } from "vitest";
import { faultExamples, faultKinds, faultKindsOf, faultKindTable } from "./fault-effects.js";

test.each(faultKinds)("a fault with only %s has this kind, and its outcome names it", (kind) => {
  expect(faultKindsOf(faultExamples[kind])).toEqual([kind]);
});

test("no two kinds are as drastic as each other, and each is one of a fault that has all", () => {
  const severities = new Set(faultKinds.map((kind) => faultKindTable[kind].severity));
  expect(severities.size).toBe(faultKinds.length);
  const all = Object.fromEntries(faultKinds.map((kind) => [kind, true]));
  expect(faultKindsOf(all).sort()).toEqual([...faultKinds].sort());
});
