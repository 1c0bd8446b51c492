import { expect, test } from "vitest";
import { asksFor, type Check, nameOf, type RunPurpose, seedIn } from "./check.js";

test.each<[string, Check | RunPurpose]>([
  ["plain", { kind: "plain" }],
  ["varied.3", { kind: "varied", seed: 3 }],
  ["varied.mixed", { kind: "varied", seed: "mixed" }],
  ["answer.401.revoked", { kind: "answer", outcome: "401.revoked" }],
  ["resend", { kind: "resend_control" }],
  ["resend.401", { kind: "resend", outcome: "401.expired" }],
  ["resend.403.insufficient_scope", { kind: "resend", outcome: "403.insufficient_scope" }],
  ["resend.429.without", { kind: "resend", outcome: "429.per_minute", retryAfter: "without" }],
  ["resend.503.seconds", { kind: "resend", outcome: "fault.status", retryAfter: "seconds" }],
  ["fault.hang", { kind: "fault", outcome: "fault.hang" }],
  ["advice", { kind: "advice" }],
  ["advice.key-in-output", { kind: "advice", id: "key-in-output" }],
])("a check or a run has the name %s", (name, subject) => {
  expect(nameOf(subject)).toBe(name);
});

const revoked: Check = { kind: "answer", outcome: "401.revoked" };

test("a name of --only asks for each check whose words begin with its own, and not for half a word", () => {
  const names = ["answer", "answer.401", "answer.401.revoked", "answer.40", "answer.401.rev", "resend.401"];
  expect(names.filter((name) => asksFor(name, revoked))).toEqual(names.slice(0, 3));
});

test("only varied.N is the name of a seed", () => {
  const names = ["varied.3", "varied", "varied.mixed", "varied.3.4", "varied.-1", "varied.03", "answer.3"];
  expect(names.map((name) => seedIn(name))).toEqual([3, ...Array(6).fill(undefined)]);
});
