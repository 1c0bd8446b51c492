import { expect, test } from "vitest";
import { createSandbox, type Fault, SandboxError } from "../src/index.js";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { ScenarioError } from "../src/scenario/scenario-error.js";
import type { ScenarioProblem, ScenarioProblemCode } from "../src/scenario/scenario-problem.js";
import { scenarioWith } from "./support/faulty.js";

const head = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

/** Broken faults, each alone in a list that begins in line 4: column, code, and parts of message and hint. */
const brokenFaults: readonly (readonly [
  fault: string,
  column: number,
  code: ScenarioProblemCode,
  message: string,
  hint: string,
])[] = [
  // Which requests
  [
    "when: { key: mian }, then: { reset: true }",
    20,
    "unknown_key_ref",
    'no key "mian"',
    "did you mean main?",
  ],
  [
    "when: { organization: bnak }, then: { reset: true }",
    29,
    "unknown_organization_ref",
    'no organization "bnak"',
    "did you mean bank?",
  ],
  [
    "when: { path_id: 401.revokd }, then: { reset: true }",
    24,
    "bad_choice",
    'not "401.revokd"',
    "did you mean 401.revoked?",
  ],
  [
    "when: { path_id: fault.reset }, then: { reset: true }",
    24,
    "bad_choice",
    "fixed list",
    "404.unknown_path",
  ],
  ["when: { probability: 1.5 }, then: { reset: true }", 28, "out_of_range", "from 0 to 1, not 1.5", "0.25"],
  ["when: { probability: -0.1 }, then: { reset: true }", 28, "out_of_range", "from 0 to 1", "0.25"],
  ["when: { probability: 50 }, then: { reset: true }", 28, "out_of_range", "from 0 to 1", "write 0.5"],
  ["when: { probability: 20% }, then: { reset: true }", 28, "wrong_type", "from 0 to 1", "write 0.2"],
  ["when: { every: 0 }, then: { reset: true }", 22, "out_of_range", "1 or more, not 0", "write 1 or more"],
  ["when: { every: 2.5 }, then: { reset: true }", 22, "out_of_range", "whole number", "write 2 or 3"],
  ["when: { requests: 3 }, then: { reset: true }", 25, "wrong_type", "requests is a list", "write [3]"],
  ["when: { requests: [1, 0] }, then: { reset: true }", 29, "out_of_range", "requests[1]", "write 1 or more"],
  ["when: { requests: [] }, then: { reset: true }", 25, "empty_list", "empty list", "leave the field out"],
  ["when: { after: 10 }, then: { reset: true }", 22, "bad_time", "not the number 10", "10s or 10m"],
  [
    "when: { after: 10m, until: 5m }, then: { reset: true }",
    34,
    "fault_contradiction",
    "no later than it begins",
    "write a later time",
  ],
  [
    "when: { after: 2026-03-02T10:00:00Z, until: 2026-03-02T10:00:00Z }, then: { reset: true }",
    51,
    "fault_contradiction",
    "no later than it begins",
    "write a later time",
  ],
  [
    "when: { probabilty: 1 }, then: { reset: true }",
    15,
    "unknown_field",
    "probabilty",
    'mean "probability"?',
  ],
  ["when: [main], then: { reset: true }", 13, "wrong_type", "when is a mapping", "when: { key: … }"],
  // What happens
  ["then: { latency: 250 }", 24, "bad_time", "not the number 250", "250ms or 250s"],
  ["then: { latency: -2s }", 24, "bad_time", "not a duration", "without the sign: 2s"],
  ["then: { latency: 2h }", 24, "out_of_range", "an hour at most", "write 1h or less"],
  ["then: { latency: [1s, 2s] }", 24, "wrong_type", "latency is a duration", "write it as 250ms"],
  ["then: { latency: { min: 2s } }", 15, "missing_field", "max is missing", "add max"],
  ["then: { latency: { min: 2s, max: 1s } }", 40, "fault_contradiction", "less than min", "exchange the two"],
  ["then: { latency: { min: 1, max: 2s } }", 31, "bad_time", "min is a duration", "1ms or 1s"],
  ["then: { status: 404 }", 23, "bad_choice", "500, 501, 502, 503 or 504, not 404", "write 500"],
  ['then: { status: "503" }', 23, "bad_choice", "500, 501", "write 503 without quotes"],
  ["then: { body: html }", 21, "fault_contradiction", "body goes with a status", "add status: 502"],
  ["then: { status: 502, body: xml }", 34, "bad_choice", "body is json or html", "write json or html"],
  ["then: { slow: 0 }", 21, "out_of_range", "1 or more, not 0", "write 1 or more"],
  ["then: { reset: yes }", 22, "wrong_type", "true or false", "write true, without quotes"],
  [
    "then: { reset: true, status: 503 }",
    22,
    "fault_contradiction",
    "status and reset",
    "remove one of the two",
  ],
  ["then: { hang: true, latency: 2s }", 36, "fault_contradiction", "no answer to wait for", "remove one"],
  ["then: { hang: true, slow: 5 }", 33, "fault_contradiction", "hang and slow", "remove one of the two"],
  [
    "then: { malformed: true, truncate: true }",
    26,
    "fault_contradiction",
    "truncate and malformed",
    "remove",
  ],
  ["then: { malformed: true, status: 500 }", 26, "fault_contradiction", "status and malformed", "remove one"],
  ["then: { reset: true, hang: true }", 34, "fault_contradiction", "reset and hang", "remove one of the two"],
  ["then: {}", 13, "missing_field", "says nothing that would happen", "latency, status, reset"],
  ["then: { reset: false }", 13, "missing_field", "says nothing that would happen", "latency, status, reset"],
  ["then: { delay: 2s }", 15, "unknown_field", 'unknown field "delay"', 'did you mean "latency"?'],
  ["then: 503", 13, "wrong_type", "then is a mapping, not 503", "write then: { status: 503 }"],
  ["when: { key: main }", 5, "missing_field", "then is missing in faults[0]", "add then"],
  ["key: main, then: { reset: true }", 7, "unknown_field", 'unknown field "key"', '"key" belongs in "when"'],
  ["then: { reset: true }, slow: 5", 30, "unknown_field", 'unknown field "slow"', '"slow" belongs in "then"'],
];

function problemsOf(text: string): readonly ScenarioProblem[] {
  try {
    parseScenario(text);
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
  return [];
}

test.each(brokenFaults)("{ %s } is refused at column %i as %s", (fault, column, code, message, hint) => {
  const problems = problemsOf(`${head}faults:\n  - { ${fault} }\n`);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ line: 4, column, code });
  expect(problems[0]?.message).toContain(message);
  expect(problems[0]?.hint).toContain(hint);
});

test.each([
  ["faults:", 3, 1, "wrong_type"],
  ["faults: reset", 3, 9, "wrong_type"],
  ["faults: { when: { key: main }, then: { reset: true } }", 3, 9, "wrong_type"],
  ["faults: [reset]", 3, 10, "wrong_type"],
  ["fault: []", 3, 1, "unknown_field"],
  [`faults:\n${"  - { then: { reset: true } }\n".repeat(101)}`, 4, 3, "out_of_range"],
] as const)("the list %j is refused", (text, line, column, code) => {
  expect(problemsOf(`${head}${text}\n`)).toMatchObject([{ line, column, code }]);
});

test("every fault that is wrong is told at once, each at its place", () => {
  const faults = [
    "  - { when: { key: mian }, then: { reset: true } }",
    "  - { when: { every: 0 }, then: { status: 503 } }",
    "  - { when: { key: main }, then: { latency: 1s } }",
    "  - { then: { reset: true, hang: true } }",
  ];
  expect(problemsOf(`${head}faults:\n${faults.join("\n")}\n`).map(({ line, path }) => [line, path])).toEqual([
    [4, "faults[0].when.key"],
    [5, "faults[1].when.every"],
    [7, "faults[3].then.hang"],
  ]);
});

test("a key that may be hidden behind another mistake is not said to be missing", () => {
  const text = `${head.replace("keys:", "kyes:")}faults:\n  - { when: { key: main }, then: { reset: true } }\n`;
  expect(problemsOf(text).map(({ code }) => code)).toEqual(["unknown_field"]);
});

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
  [{ when: { path_id: "401" }, then: { reset: true } }, "faults.0.when.path_id", "fixed list"],
  [{ when: { probability: 2 }, then: { reset: true } }, "faults.0.when.probability", "from 0 to 1"],
  [{ when: { every: 0 }, then: { reset: true } }, "faults.0.when.every", "1 or more"],
  [{ when: { after: "1m", until: "1m" }, then: { reset: true } }, "faults.0.when.until", "no later than"],
  [{ then: { latency: 300 } }, "faults.0.then.latency", "300ms or 300s"],
  [{ then: { latency: { min: "2s", max: "1s" } } }, "faults.0.then.latency.max", "less than min"],
  [{ then: { latency: { min: "2s" } } }, "faults.0.then.latency.max", "max is missing"],
  [{ then: { status: 404 } }, "faults.0.then.status", "500, 501, 502, 503 or 504"],
  [{ then: { reset: true, status: 503 } }, "faults.0.then.reset", "cannot both happen"],
  [{ then: {} }, "faults.0.then", "says nothing"],
  [{ then: { delay: "1s" } }, "faults.0.then.delay", "unknown field"],
  [{ when: {} }, "faults.0.then", "then is missing"],
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
