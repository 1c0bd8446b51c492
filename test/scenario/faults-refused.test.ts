import { expect, test } from "vitest";
import { createSandbox, type Fault, parseScenario, SandboxError } from "../../src/index.js";
import { scenarioWith } from "../support/faulty.js";

test("faults of the scenario that another one extends are replaced as a whole, also by none", () => {
  expect(parseScenario("version: 1\nextends: bad-day\n").faults).not.toEqual([]);
  expect(parseScenario("version: 1\nextends: bad-day\nfaults: []\n").faults).toEqual([]);
});

const inJson = (fault: object): Fault => fault as Fault;

test.each([
  [{ when: { key: "mian" }, then: { reset: true } }, "faults.0.when.key", "did you mean main?"],
  [
    { when: { organization: "nobody" }, then: { reset: true } },
    "faults.0.when.organization",
    "bank, insurer",
  ],
  [{ when: { probability: 2 }, then: { reset: true } }, "faults.0.when.probability", "from 0 to 1"],
  [{ then: { reset: true, status: 503 } }, "faults.0.then.reset", "cannot both happen"],
  [{ then: {} }, "faults.0.then", "says nothing"],
] as const)("set refuses %j in the same words, and changes nothing", (fault, field, problem) => {
  const sandbox = createSandbox({
    scenario: scenarioWith([{ when: { key: "main" }, then: { status: 503 } }]),
  });
  const before = sandbox.snapshot();
  const events = refusalOf(() => sandbox.faults.set([inJson(fault)]));
  expect(events).toMatchObject({ code: "validation_failed" });
  expect((events.details.fields as Record<string, string>)[field]).toContain(problem);
  expect(sandbox.snapshot()).toEqual(before);
});

function refusalOf(act: () => unknown): SandboxError {
  try {
    act();
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
