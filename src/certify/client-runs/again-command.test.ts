import { expect, test } from "vitest";
import type { CertifyPlan } from "../checks/plan.js";
import { againCommandOfRun } from "./again-command.js";

const plan: CertifyPlan = {
  seed: 1,
  firstSeed: 9,
  allow: [],
  defaultKey: "active",
  flags: ["--now", "0"],
  certifyFlags: [],
};

test("the command of a mixed run has its seed, which its name lacks", () => {
  const mixed = { kind: "varied", seed: "mixed" } as const;
  for (const result of ["failed", "passed", "timed_out"] as const) {
    const again = againCommandOfRun({ purpose: mixed, result }, plan);
    expect(again.join(" ")).toBe("certify --only varied.mixed --seed 9 --now 0");
  }
});
