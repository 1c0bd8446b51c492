import { expect, test } from "vitest";
import type { CertifyPlan } from "../checks/plan.js";
import { againCommandOfRun, lastLineOf } from "./finding-parts.js";

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

test("the command of a plain run names its profile only if the scenario has another one", () => {
  const plain = { purpose: { kind: "plain" }, result: "failed" } as const;
  const commandOf = (profile?: CertifyPlan["profile"]) =>
    againCommandOfRun(plain, { ...plan, profile }).join(" ");
  expect(commandOf()).toBe("exec --now 0");
  expect(commandOf("minimal")).toBe("exec --now 0");
  expect(commandOf("typical")).toBe("exec --profile minimal --now 0");
});

const ofNode = [
  "not ok 1 - a key",
  "  ---",
  "  error: |-",
  "    Expected values:",
  "    ",
  "    200 !== 401",
  "    ",
];

test.each<[string, string[], string | undefined]>([
  ["the last line with an error", ["Error: a", "  Error: b", "at c", ""], "Error: b"],
  ["the last line without one", ["a", " b ", ""], "b"],
  [
    "the text below it in node:test",
    [...ofNode, "  code: 'X'", "  ...", "# fail 1"],
    "error: Expected values: 200 !== 401",
  ],
  ["that text at the end of the output", ofNode, "error: Expected values: 200 !== 401"],
  [
    "its file and message in Go",
    [
      "--- FAIL: TestMe (0.00s)",
      "    me_test.go:38: 200 instead of 401",
      "FAIL",
      "FAIL\texample.com/me\t0.1s",
    ],
    "me_test.go:38: 200 instead of 401",
  ],
  [
    "the failure, if no line explains it",
    ["--- FAIL: TestMe (0.00s)", "exit status 1"],
    "--- FAIL: TestMe (0.00s)",
  ],
  [
    "no line of npm, which comes last in a workspace",
    [
      "AssertionError: 200",
      "npm error Lifecycle script `test` failed with error:",
      "npm error command sh -c vitest",
    ],
    "AssertionError: 200",
  ],
  [
    "no line of pnpm or Yarn",
    ["no", " ELIFECYCLE  Test failed.", "error Command failed with exit code 1."],
    "no",
  ],
  ["nothing", ["", " "], undefined],
])("the last line shows %s", (_what, output, lastLine) => {
  expect(lastLineOf({ output })).toEqual(lastLine === undefined ? {} : { lastLine });
});
