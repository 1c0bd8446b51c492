import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Scenario, ScenarioError, type ScenarioProblemCode } from "../../src/index.js";
import { dryRunProblems } from "../../src/node/dry-run.js";
import { scenarioLimits } from "../../src/scenario/format/fields.js";
import { loadScenario } from "../../src/server/start-server.js";
import { wrongScenarios } from "../support/messages.js";
import { root } from "../support/pages.js";
import { problemsIn, problemsOf } from "../support/problems-of.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A scenario of one bank, with these lines for its keys. */
const inKeys = (lines: string) => `version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n${lines}`;

test.each([
  ["key-sates", "did you mean key-states?"],
  ["./other.yaml", "a file if this scenario is in a file"],
])("a scenario without files that extends %s has a hint", (name, hint) => {
  expect(problemsOf(`version: 1\nextends: ${name}\n`)).toMatchObject([
    { code: "extends_not_found", line: 2, column: 10, hint: expect.stringContaining(hint) },
  ]);
});

test("a file that is extended and missing is a problem of the file that names it", async () => {
  const cwd = temporaryFolder({
    "a.yaml": "version: 1\nextends: ./sub/b.yaml\n",
    "sub/b.yaml": "version: 1\nextends: ./comon.yaml\n",
    "sub/common.yaml": "version: 1\n",
  });
  await expect(loadScenario("a.yaml", { cwd })).rejects.toMatchObject({
    problems: [{ file: "sub/b.yaml", line: 2, message: expect.stringContaining("./comon.yaml") }],
  });
});

test("a key's organization without a type in an extended file is no misspelled one", async () => {
  const cwd = temporaryFolder({
    "c.yaml": "version: 1\nextends: ./m.yaml\n",
    "m.yaml": "version: 1\nextends: rotation\norganizations:\n  acme: { keys: {} }\n",
  });
  await expect(loadScenario("c.yaml", { cwd })).rejects.toMatchObject({
    problems: [{ file: "m.yaml", line: 4, hint: "add type: bank or insurer" }],
  });
});

test("a scenario shows at most a hundred problems, from a text as from a value", () => {
  const names = Array.from({ length: 300 }, (_, index) => `field${index}`);
  const text = `version: 1\n${names.map((name) => `${name}: 1`).join("\n")}\n`;
  expect(problemsOf(text)).toHaveLength(100);
  expect(problemsOf(`version: 1\n${"seed: 1\n".repeat(300)}`)).toHaveLength(100);
  const scenario = { version: 1, ...Object.fromEntries(names.map((name) => [name, 1])) };
  expect(problemsIn(() => createSandbox({ scenario: scenario as never }))).toHaveLength(100);
});

test.each<[what: string, field: string, text: string]>([
  ["an endpoint", "endpoints.a.path", `endpoints: { a: { path: /${"p".repeat(1000)} } }`],
  ["a request of a story", "story[0].request.path", `story: [{ request: { path: /${"p".repeat(1000)} } }]`],
])("a path of %s that is too long is called too long", (_what, field, text) => {
  const problems = problemsOf(`version: 1\norganizations: { bank: { type: bank } }\n${text}\n`);
  expect(problems).toMatchObject([{ field, hint: "write at most 1,000 characters" }]);
  expect(
    problemsOf(`version: 1\norganizations: { bank: { type: bank } }\n${text.replace("ppp", "pp")}\n`),
  ).toEqual([]);
});

test("an error of YAML is not far above the changed line, at a line with a field, whichever line of the starter is indented", () => {
  const lines = readFileSync(join(root, "src/scenario/starter.yaml"), "utf8").split("\n");
  const isField = (line = "") => /^\s*[^\s#]/.test(line);
  let found = 0;
  for (const [index, line] of lines.entries()) {
    if (!isField(line)) continue;
    for (const by of [1, 2, 3]) {
      const [problem] = problemsOf(lines.with(index, " ".repeat(by) + line).join("\n"));
      if (problem?.code !== "yaml_syntax") continue;
      found += 1;
      const { line: at = 0, hint = "" } = problem;
      expect([at >= index, isField(lines[at - 1]), /indent/.test(hint)], `${by}: ${line}`).toEqual([
        true,
        true,
        true,
      ]);
    }
  }
  expect(found).toBeGreaterThan(40);
});

test("everything that is wrong with the shape is reported at once, from top to end", () => {
  const text = inKeys("      a: { environment: tst, color: red }\n      B: {}\n").replace("bank\n", "banc\n");
  expect(problemsOf(text)).toMatchObject([
    { line: 4, code: "bad_choice" },
    { line: 6, code: "bad_choice" },
    { line: 6, code: "unknown_field" },
    { line: 7, code: "bad_ref" },
    { line: 7, code: "missing_field" },
  ]);
});

test("a field that is written twice hides no other problem", () => {
  const keys =
    "      a: { environment: test, state: revoked, replaced_by: b }\n      b: { environment: live }\n";
  const fault = "faults: [{ when: { after: 2m, until: 1m }, then: { hang: true } }]\n";
  const codes = (text: string) => problemsOf(text).map(({ code }) => code);

  expect(codes(`${inKeys(keys)}seed: 1\nseed: 2\n`)).toEqual(["replacement_elsewhere", "duplicate_field"]);
  const valid = inKeys("      a: { environment: test }\n");
  expect(codes(`${valid}${fault}seed: 1\nseed: 2\n`)).toEqual(["fault_contradiction", "duplicate_field"]);
});

test.each([
  ["name", "name: >\n  Village Bank\n"],
  ["default_key", "default_key: |\n  main\n"],
  ["organizations.bank.name", "organizations:\n  bank:\n    name: >\n      Village Bank\n    type: bank\n"],
  [
    "organizations.bank.keys.a.secret",
    "organizations:\n  bank:\n    type: bank\n    keys:\n      a:\n        environment: test\n        secret: |\n          SVC_test_sbx1234\n",
  ],
  ["clock.now", "clock:\n  now: >\n    2026-03-02T09:00:00Z\n"],
])("%s is one line: the message of a block shows its line end, or no value of a secret", (field, members) => {
  const text = `version: 1\n${members}`;
  const problem = problemsOf(text).find((one) => one.field === field);
  expect(problem?.message).toMatch(field.endsWith("secret") ? /one line [^"]+$/ : /\\n"$/);
  const corrected = problemsOf(text.replace(/([>|])\n/, "$1-\n"));
  expect(corrected.filter((one) => one.field === field && one.code !== "unknown_key_ref")).toEqual([]);
});

test("a key that a step makes may be used by any step, under the name that it will have", () => {
  const steps = [
    "  - rotate: { key: main }",
    "  - create_key: { organization: bank, environment: test, name: Core banking }",
    "  - request: { key: main-2 }",
    "  - rotate: { key: core-banking, as: core }",
    "  - request: { key: core }",
  ];
  expect(problemsOf(`${inKeys("      main: { environment: test }\n")}story:\n${steps.join("\n")}\n`)).toEqual(
    [],
  );
});

const over = "2020-01-01T00:00:00Z";
const withTimeline: Scenario = {
  version: 1,
  organizations: { bank: { type: "bank" } },
  timeline: [{ at: over, faults: [] }],
};

test("a time of the timeline that is over is an error, whether the scenario or the real time starts the clock", () => {
  const early = [{ code: "timeline_order", field: "timeline[0].at" }];
  const inFile: Scenario = { ...withTimeline, clock: { now: "2026-03-02T09:00:00Z" } };
  expect(problemsIn(() => createSandbox({ scenario: inFile }))).toMatchObject(early);
  expect(problemsIn(() => createSandbox({ scenario: withTimeline }))).toMatchObject(early);
  expect(dryRunProblems({ scenario: withTimeline, name: "early" })).toMatchObject([
    { code: "timeline_order", field: ["timeline", 0, "at"] },
  ]);
  // A start before it is a start of its own.
  expect(createSandbox({ scenario: withTimeline, now: "2019-01-01T00:00:00Z" }).clock.now()).toMatch(/^2019/);
});

test("a value with a field `files` is a value, whose field is unknown", () => {
  const scenario = { ...withTimeline, name: "mine", files: ["a.yaml"] };
  expect(problemsIn(() => createSandbox({ scenario: scenario as never }))).toMatchObject([
    { code: "unknown_field", field: "files" },
  ]);
});

test("a key is no name of a header in a story (R46)", () => {
  const story = `story:\n  - request: { headers: { SVC_test_sbx4eC39HqLyjWDarjtT1zdp7dc123: "1" } }\n`;
  const problems = problemsOf(inKeys("      main: { environment: test }\n") + story);
  expect(problems).toMatchObject([{ code: "bad_format", line: 8 }]);
  expect(JSON.stringify(problems)).not.toContain("sbx4eC39");
});

const random = "4eC39HqLyjWDarjtT1zdp7dc";

test.each([
  ...wrongScenarios.filter(({ text }) => text.includes(random)).map(({ text }) => text),
  inKeys(`      SVC_live_${random}: { environment: test }`),
  inKeys(`      main: { environment: SVC_live_${random}, SVC_live_${random}: 1 }`),
  `version: 1\n# SVC_live_${random}\n"SVC_live_${random}: 1`,
  `version: 1\ndefault_key: SVC_live_${random}\nextends: SVC_live_${random}`,
])("no error shows the key in %j (R46)", (text) => {
  const problems = problemsOf(text);
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems) + new ScenarioError(problems).message).not.toContain(random.slice(4));
});

/** Texts that are too big, or too odd, to keep as files. */
const hostile: Readonly<Record<string, readonly [string, ScenarioProblemCode]>> = {
  "ten thousand open brackets": ["[".repeat(10_000), "too_deep"],
  "more than 1 MiB": [inKeys(`# ${"x".repeat(scenarioLimits.bytes)}`), "too_large"],
  "more than 1 MiB in UTF-8 only": [inKeys(`# ${"銀".repeat(scenarioLimits.bytes / 2)}`), "too_large"],
  "a wrong field five thousand times": [
    Array.from({ length: 5_000 }, (_, index) => `field${index}: 1\n`).join(""),
    "unknown_field",
  ],
  "a thousand keys that replace each other in a circle": [
    inKeys(
      Array.from(
        { length: 1_000 },
        (_, i) => `      k${i}: { environment: test, state: retiring, replaced_by: k${(i + 1) % 1_000} }\n`,
      ).join(""),
    ),
    "replacement_cycle",
  ],
  "60,000 aliases of a list": [`version: 1\nx: &x [1, 2, 3]\ny: [${"*x, ".repeat(60_000)}]`, "too_large"],
  "a hundred and one faults": [
    `version: 1\nfaults:\n${"  - { then: { reset: true } }\n".repeat(101)}organizations: {}\n`,
    "out_of_range",
  ],
  "a NUL character": ["version: 1\nname: a\u0000b\n", "not_text"],
};

test.each(Object.entries(hostile))("%s is rejected", (_name, [text, code]) => {
  const problems = problemsOf(text);
  expect(problems.map((problem) => problem.code)).toContain(code);
  expect(problems.every((problem) => (problem.source ?? "").length < 200)).toBe(true);
});

const bank = "version: 1\norganizations: { bank: { type: bank } }\n";
test.each<[string, number, string, (size: number) => string]>([
  ["bytes", scenarioLimits.bytes, "too_large", (size) => `${bank}#`.padEnd(size, "x")],
  ["levels", 32, "too_deep", (size) => `version: 1\nx: ${"[".repeat(size)}${"]".repeat(size)}\n`],
  ["aliases", 1000, "too_large", (size) => `version: 1\na: &a 1\nx: [${"*a,".repeat(size)}]\n`],
  ["steps", 1000, "out_of_range", (size) => `${bank}story:\n${"- say: x\n".repeat(size)}`],
  [
    "requests of a fault",
    1000,
    "out_of_range",
    (size) =>
      `${bank}faults: [{ when: { requests: [${Array.from({ length: size }, (_, n) => n + 1)}] }, then: { reset: true } }]\n`,
  ],
])("a scenario may have as many %s as the limit, %i, and one more is %s", (_what, max, code, textOf) => {
  const [allowed, rejected] = [max, max + 1].map((size) => problemsOf(textOf(size)).map((one) => one.code));
  expect([allowed?.includes(code as never), rejected?.includes(code as never)]).toEqual([false, true]);
});

const longList = Object.assign([], { length: 2 ** 32 - 1 });
test.each<[string, unknown, ScenarioProblemCode]>([
  ["a list that says it is endless", { version: 1, timeline: longList }, "too_large"],
  [
    "a getter that throws",
    {
      version: 1,
      get organizations() {
        throw new Error("not now");
      },
    },
    "not_plain_data",
  ],
])("%s is a problem of the scenario", (_name, scenario, code) => {
  const create = () => createSandbox({ scenario: scenario as never });
  expect(create).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ code })] }));
});

test("R12 a pinned secret that another seed generates for another key is reported by the sandbox with that seed", () => {
  const secret = createSandbox({ scenario: "key-states", seed: 7 }).secret("revoked");
  const keys = {
    mine: { environment: "test", secret },
    revoked: { environment: "test", state: "revoked" },
  } as const;
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } } } as const;
  expect(createSandbox({ scenario }).secret("mine")).toBe(secret);
  expect(() => createSandbox({ scenario, seed: 7 })).toThrow('the key "revoked" has the same secret');
});

const spaces = ["", "\u00A0", "\u3000", "\u2007"];
const typos = spaces.flatMap((space) => [
  [inKeys(`      main: { environment:${space}test }\n`), 15],
  [inKeys(`      main: { environment: test, limits: { per_minute:${space}60 } }\n`), 44],
  [inKeys(`      main:${space}{ environment: test }\n`), 7],
  [`${inKeys("      main: { environment: test }\n")}clock: { now:${space}2026-03-02T09:00:00Z }\n`, 10],
]);

test.each(typos)(
  "a colon without an ordinary space after it is one problem, at the name: %j",
  (text, column) => {
    expect(problemsOf(String(text))).toEqual([
      expect.objectContaining({
        code: "yaml_syntax",
        column,
        hint: expect.stringContaining("space after it"),
      }),
    ]);
  },
);

test("names with colons stay names, where they have values or quotes", () => {
  const keys = inKeys("      main: { environment: test }\n");
  expect(problemsOf(`${keys}x-notes: { "a:b", urn:x: 1, 'c:d': { e:f: [g:h] } }\n`)).toEqual([]);
});

test("an instance of a class is no scenario, and is called one", () => {
  class Settings {
    version = 1;
  }
  const read = () => createSandbox({ scenario: new Settings() as never });
  expect(read).toThrow(/found an instance of a class/);
});
