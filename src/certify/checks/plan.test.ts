import { expect, test } from "vitest";
import { findUnknownOnly, isOnPurpose, variedSeeds } from "./plan.js";

test("a seed that --only names again is one seed", () => {
  expect(variedSeeds({ only: ["varied.1", "varied.3", "varied.1"], firstSeed: 1 })).toEqual([1, 3]);
});

test("a seed that --only names besides the group is one more", () => {
  const seeds = variedSeeds({ only: ["varied", "varied.30", "varied.2"], firstSeed: 1 });
  expect(seeds).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 30]);
});

test("--allow takes the names of --only, and outcomes of wrong answers", () => {
  const answer = { kind: "answer", outcome: "200.retiring" } as const;
  const resend = { kind: "resend", outcome: "401.revoked" } as const;
  const fault = { kind: "fault", outcome: "fault.hang" } as const;
  const allowedBy = (name: string) =>
    [answer, resend, fault].filter((check) => isOnPurpose({ allow: [name] }, check)).map(({ kind }) => kind);
  expect(["200.retiring", "answer.200.retiring", "answer"].map(allowedBy)).toEqual(Array(3).fill(["answer"]));
  expect([allowedBy("resend.401"), allowedBy("fault.hang"), allowedBy("401.revoked")]).toEqual([
    ["resend"],
    ["fault"],
    [],
  ]);
});

test("the first name that asks for no run is unknown", () => {
  const outcomes = ["200.test", "401.revoked", "403.access_denied"] as const;
  const known = [
    "plain",
    "varied",
    "varied.77",
    "varied.mixed",
    "answer.401",
    "resend.403.access_denied",
    "fault",
  ];
  expect(findUnknownOnly(known, outcomes)).toBeUndefined();
  for (const name of [
    "varied.03",
    "answer.401.expired",
    "resend.403.insufficient_scope",
    "fault.x",
    "200.test",
  ]) {
    expect(findUnknownOnly([...known, name], outcomes)?.unknown).toBe(name);
  }
});
