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
    const again = againCommandOfRun({ purpose: mixed, result, conditions: { profile: "varied" } }, plan);
    expect(again.join(" ")).toBe("certify --only varied.mixed --seed 9 --now 0");
  }
});

test("the command of a plain run has its profile, unless exec takes the same from the scenario", () => {
  const purpose = { kind: "plain" } as const;
  const commandWith = (profile: "minimal" | "typical", of = plan) =>
    againCommandOfRun({ purpose, result: "failed", conditions: { profile } }, of).join(" ");
  expect(commandWith("typical")).toBe("exec --profile typical --now 0");
  expect(commandWith("minimal")).toBe("exec --now 0");
  const ofTypical: CertifyPlan = { ...plan, profile: "typical" };
  expect(commandWith("typical", ofTypical)).toBe("exec --now 0");
  expect(commandWith("minimal", ofTypical)).toBe("exec --profile minimal --now 0");
});
