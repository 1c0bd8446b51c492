import { expect, test } from "vitest";
import { describeFailure, exitCodeOf } from "./exit-codes.js";

const defect = new Error("no sandbox here", { cause: new Error("the cause") });

test("anything else is a defect: it exits with 3 and shows how to report it, without a stack", () => {
  expect(exitCodeOf(defect)).toBe(3);
  expect(describeFailure(defect, { verbose: false })).toBe(
    "svc-sandbox failed: no sandbox here\nThis is a defect of svc-sandbox. Please report it, with the command and what it prints with --verbose.\n",
  );
});

test("a defect shows its stack and its causes when verbose", () => {
  const text = describeFailure(defect, { verbose: true });
  expect(text).toMatch(/\n\s+at .*exit-codes\.test\.ts/);
  expect(text).toContain("Error: the cause\n");
});

test("an error of the machine exits with 2, and shows its file", () => {
  const full = Object.assign(new Error("no space"), { code: "ENOSPC", path: "/data/log" });
  expect([exitCodeOf(full), describeFailure(full, {})]).toEqual([
    2,
    expect.stringMatching(/^svc-sandbox failed "\/data\/log": .* \(no space\)\.\n$/),
  ]);
  expect(JSON.parse(describeFailure(full, { json: true })).error.code).toBe("machine");
});

test("what is thrown without being an error is described too", () => {
  expect(describeFailure("nothing", { verbose: true })).toMatch(/^svc-sandbox failed: nothing\n/);
});
