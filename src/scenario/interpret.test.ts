import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { problemsIn, problemsOf } from "../../test/support/problems-of.js";
import { bundledScenarios } from "./bundled.js";
import { faultProblems } from "./checks/fault-rules.js";
import { interpretScenario } from "./interpret.js";
import { bundledOnly, parseScenario, resolveSource } from "./scenario-source.js";
import { withStory } from "./stories.js";
import { warningsOf } from "./warnings.js";
import { readValue } from "./written-scenario.js";
import { yamlText } from "./yaml/read-yaml.js";

const base = `version: 1
name: Base
seed: 5
organizations:
  bank:
    type: bank
    keys:
      main: { environment: test, scopes: [attestations:read, consents:read], limits: { per_minute: 6, per_day: 9 } }
`;
const files: Readonly<Record<string, string>> = { "base.yaml": base };
const load = (name: string) => {
  const text = files[name];
  return text === undefined ? undefined : { text, file: name };
};

test("plain data is YAML without aliases, so that each record can be read alone", () => {
  const value = { a: [1, 2] };
  expect(yamlText([value, value])).not.toContain("&");
});

test.each([
  ["after: 0s, say: Wait.", ["story[0].after"]],
  ["after: 1s, say: Wait.", []],
  ["advance: 0s", ["story[0].advance"]],
])("a step of a story waits or advances, or is wrong: %s", (step, fields) => {
  expect(problemsOf(`${base}story: [{ ${step} }]\n`).map(({ field }) => field)).toEqual(fields);
});

describe("a text", () => {
  test.each(["{ <<: *b }", "{ type: bank, <<: 3 }"])("with a merge key is not a scenario: %s", (bank) => {
    const text = `version: 1\nx-b: &b { type: bank }\norganizations: { bank: ${bank} }\n`;
    const column = text.split("\n")[2]?.search(/<</) as number;
    expect(problemsOf(text)).toMatchObject([
      { code: "yaml_syntax", message: "merge keys are not supported", line: 3, column: column + 1 },
    ]);
  });

  test("has one problem for a mistake in an anchor with 400 uses", () => {
    const keys = Array.from({ length: 400 }, (_, at) => ` k${at}: { environment: test, limits: *few }`);
    const start = "version: 1\nx-few: &few { per_minut: 2 }\norganizations: { bank: { type: bank, keys: {";
    expect(problemsOf(`${start}\n${keys.join(",\n")} } } }\n`)).toMatchObject([{ line: 2, column: 15 }]);
  });

  test.each([
    '"price {EUR}": 1',
    '{ "price {EUR}": 1 }',
    "price {EUR}: 1",
    '"price {EUR": 1',
    '"<<": 1',
    "xml:lang:",
    "users:{id}: 1",
  ])("may have braces, colons and << in the names of a body: %s", (body) => {
    const text = `version: 1\norganizations: { bank: { type: bank } }\nendpoints:\n  e:\n    path: /e\n    body:\n      ${body}\n`;
    expect(problemsOf(text)).toEqual([]);
  });

  test.each(["{ data:1 }", "{ data: { a:1 } }"])(
    "has a space after the colon, also in a body: %s",
    (body) => {
      const text = `version: 1\norganizations: { bank: { type: bank } }\nendpoints: { e: { path: /e, body: ${body} } }\n`;
      expect(problemsOf(text)).toMatchObject([{ code: "yaml_syntax" }]);
    },
  );

  test("may use anchors and aliases for whole values, and keep them in members that start with x-", () => {
    const { organizations } = parseScenario(
      "version: 1\nx-bank: &one { type: bank }\norganizations:\n  one: *one\n  two: *one\n",
    );
    expect(organizations).toEqual({ one: { type: "bank" }, two: { type: "bank" } });
    expect(organizations?.one).not.toBe(organizations?.two);
  });
});

describe("extends", () => {
  test.each(["version: 1.0.0\nname: [\n", "name: app\nversion: 1-beta\na: b: c\n"])(
    "shows nothing of a file that is no scenario: %s",
    (text) => {
      const options = { load: () => ({ text, file: "pubspec.yaml" }) };
      expect(problemsIn(() => parseScenario("version: 1\nextends: pubspec.yaml\n", options))).toMatchObject([
        { code: "extends_failed", line: 2 },
      ]);
    },
  );

  test("shows nothing of a file that load returns as a text", () => {
    const load = () => "password: hunter2\n" as never; // JavaScript may return a text
    const [problem] = problemsIn(() => parseScenario("version: 1\nextends: mine.yaml\n", { load }));
    expect(problem).toMatchObject({
      code: "extends_failed",
      message: expect.stringContaining("load returned a string"),
    });
    expect(JSON.stringify(problem)).not.toContain("hunter2");
  });

  test.each([undefined, null])("does not exist where load finds %s", (found) => {
    const load = () => found as undefined; // JavaScript may return null
    expect(problemsIn(() => parseScenario("version: 1\nextends: mine.yaml\n", { load }))).toMatchObject([
      { code: "extends_not_found" },
    ]);
  });

  test.each([
    ["acme: { keys: {} }", "add type: bank or insurer"],
    ["acme: { keys: {} }\n  harvest-bank: { keys: { actve: { state: revoked } } }", "did you mean active?"],
  ])("a ref that a file between writes means itself: %s", (organizations, hint) => {
    const parents: Record<string, string> = {
      "m3.yaml": `version: 1\nextends: key-states\norganizations:\n  ${organizations}\n`,
    };
    const find = (name: string) => ({ text: parents[name] as string, file: name });
    const child = "version: 1\nextends: m3.yaml\n";
    expect(problemsIn(() => parseScenario(child, { load: find })).map((problem) => problem.hint)).toContain(
      hint,
    );
  });

  test("merges mappings name by name; scalars and lists of the child win", () => {
    const text = `version: 1
extends: base.yaml
seed: 7
organizations:
  bank:
    keys:
      main: { scopes: [consents:read], limits: { per_minute: 1 } }
      more: { environment: live }
`;
    const merged = base
      .replace("seed: 5", "seed: 7")
      .replace("attestations:read, ", "")
      .replace("per_minute: 6", "per_minute: 1");
    expect(parseScenario(text, { load })).toEqual(parse(`${merged}      more: { environment: live }\n`));
  });

  test("continues over several scenarios, and passes load the extending file", () => {
    const asked: unknown[] = [];
    const texts: Record<string, string> = { "b.yaml": "version: 1\nextends: base.yaml\nseed: 6\n", ...files };
    const scenario = parseScenario("version: 1\nextends: b.yaml\n", {
      file: "a.yaml",
      load(name, from) {
        asked.push({ name, from });
        return { text: texts[name] as string, file: name };
      },
    });
    expect(scenario).toEqual({ ...parseScenario(base), seed: 6 });
    expect(asked).toEqual([
      { name: "b.yaml", from: "a.yaml" },
      { name: "base.yaml", from: "b.yaml" },
    ]);
  });

  test("inherits no story, and keeps its own", () => {
    const told = { load: () => ({ text: `${base}story: [{ say: One. }]\n`, file: "told.yaml" }) };
    const text = "version: 1\nextends: told\n";
    expect(parseScenario(text, told)).toEqual(parseScenario(base));
    expect(parseScenario(`${text}story: [{ say: Two. }]\n`, told).story).toEqual([{ say: "Two." }]);
  });

  test("rejects a loop and names it", () => {
    const texts: Readonly<Record<string, string>> = {
      "a.yaml": "version: 1\nextends: b.yaml\n",
      "b.yaml": "version: 1\nextends: a.yaml\n",
    };
    const problems = problemsIn(() =>
      parseScenario(texts["a.yaml"] as string, {
        file: "a.yaml",
        load: (name) => ({ text: texts[name] as string, file: name }),
      }),
    );
    expect(problems).toMatchObject([
      {
        code: "extends_loop",
        file: "b.yaml",
        line: 2,
        column: 10,
        message: expect.stringContaining("a.yaml → b.yaml → a.yaml"),
      },
    ]);
  });

  test("takes two files of one name in two folders for two files", () => {
    const texts: Readonly<Record<string, string>> = {
      "a/base.yaml": "version: 1\nextends: ../base.yaml\nseed: 6\n",
      "base.yaml": base,
    };
    const scenario = parseScenario("version: 1\nextends: ../base.yaml\n", {
      file: "a/b/base.yaml",
      load(name, from = "") {
        const file = posix.join(posix.dirname(from), name);
        return { text: texts[file] as string, file };
      },
    });
    expect(scenario).toEqual({ ...parseScenario(base), seed: 6 });
  });

  test("takes a file with the name of a bundled scenario for another scenario", () => {
    const scenario = parseScenario("version: 1\nextends: key-states\n", { file: "key-states" });
    expect(scenario.organizations).toEqual(bundledScenarios["key-states"].organizations);
  });

  test("reports the problems of one file next to each other", () => {
    const problem = (name: string) => `${name}: 1\n`;
    const texts: Readonly<Record<string, string>> = {
      "b.yaml": `version: 1\nextends: c.yaml\n${"# ".repeat(50)}\nseed: one\nversion: 1\n`,
      "c.yaml": `version: 1\nseed: 1\nseed: 2\n${"# ".repeat(150)}\n${problem("name")}${problem("name")}`,
    };
    const problems = problemsIn(() =>
      parseScenario("version: 1\nextends: b.yaml\n", {
        load: (name) => ({ text: texts[name] as string, file: name }),
      }),
    );
    expect(problems.map(({ file }) => file)).toEqual(["b.yaml", "b.yaml", "c.yaml", "c.yaml", "c.yaml"]);
  });

  test("reports what is wrong in the other file there", () => {
    const problems = problemsIn(() =>
      parseScenario("version: 1\nextends: bad\n", {
        file: "mine.yaml",
        load: () => ({ text: base.replace("test", "tset"), file: "bad.yaml" }),
      }),
    );
    expect(problems).toMatchObject([{ code: "bad_choice", file: "bad.yaml", line: 8, column: 28 }]);
  });

  test("points at a line of the scenario itself when a contradiction arises with a bundled one", () => {
    const keys = ["a", "b", "c", "d", "e", "f"].map((ref) => `      extra-${ref}: { environment: live }\n`);
    const text = `version: 1\nextends: key-states\norganizations:\n  harvest-bank:\n    keys:\n${keys.join("")}`;
    const [problem] = problemsIn(() => parseScenario(text));
    expect(problem).toMatchObject({ code: "too_many_active_keys", column: 7 });
    expect(problem?.line).toBeGreaterThan(5);
  });

  test.each([
    ["faults: [{ when: { key: main } }]", "faults: [{ then: { status: 503 } }]", "faults[0].then"],
    ["timeline: [{ faults: [] }]", "timeline: [{ at: 1m, faults: [] }]", "timeline[0].at"],
    [
      "timeline: [{ at: 1m, revoke: {} }]",
      "timeline: [{ at: 1m, revoke: { key: main } }]",
      "timeline[0].revoke.key",
    ],
  ])("points at the scenario itself for what its own list lacks: %s", (own, inherited, field) => {
    const problems = problemsIn(() =>
      parseScenario(`version: 1\nextends: parent\n${own}\n`, {
        file: "child.yaml",
        load: () => ({ text: `${base}${inherited}\n`, file: "parent.yaml" }),
      }),
    );
    expect(problems).toMatchObject([{ code: "missing_field", field, file: "child.yaml", line: 3 }]);
  });

  test("points at the scenario itself if it has no version", () => {
    const problems = problemsIn(() => parseScenario("extends: base.yaml\n", { file: "child.yaml", load }));
    expect(problems).toMatchObject([
      { code: "missing_field", field: "version", file: "child.yaml", line: 1 },
    ]);
  });

  test.each([
    ["text", "root:x:0:0:root:/root:/bin/bash\n"],
    ["a text with a mistake", "root: [private\n&private: x\n"],
    ["a text with a field twice", "private: 1\nprivate: 2\n"],
    ["settings of another tool", 'version: "private"\nroot: 1\n'],
    ["settings with a mistake", "inside:\n  version: 1\nprivate: [\n"],
    ["a number of another format", "version: 2\nprivate: 1\nprivate: 2\n"],
  ])("shows nothing of a file that is no scenario: %s", (_what, content) => {
    const problems = problemsIn(() =>
      parseScenario("version: 1\nextends: other\n", {
        file: "mine.yaml",
        load: () => ({ text: content, file: "other" }),
      }),
    );
    expect(problems).toMatchObject([{ file: "mine.yaml", line: 2, source: "extends: other" }]);
    expect(JSON.stringify(problems)).not.toMatch(/private|root/);
  });

  test.each([
    ["a promise", async () => ({ text: base, file: "base.yaml" })],
    ["a text without a file", () => ({ text: base })],
    ["bytes", () => ({ text: new TextEncoder().encode(base), file: "base.yaml" })],
    ["a number", () => 7],
  ])("points at `extends` if `load` returns %s", (_what, wrongLoad) => {
    const load = wrongLoad as never; // of JavaScript
    const problems = problemsIn(() => parseScenario("version: 1\nextends: base\n", { load }));
    expect(problems).toMatchObject([
      { code: "extends_failed", line: 2, message: expect.stringContaining("load returned ") },
    ]);
  });

  test("reports a mistake in the YAML of another scenario there", () => {
    const problems = problemsIn(() =>
      parseScenario("version: 1\nextends: bad\n", {
        load: () => ({ text: '{\n "version": 1, "name": [\n}', file: "bad.yaml" }),
      }),
    );
    expect(problems).toMatchObject([{ code: "yaml_syntax", file: "bad.yaml" }]);
  });
});

const checked = (value: unknown) => interpretScenario(readValue(value), bundledOnly).scenario;

describe("a scenario given as an object", () => {
  test("is rejected with the path of each problem", () => {
    const error = problemsIn(() =>
      checked({ version: 1, organizations: { bank: { type: "banc", colour: 1 } } }),
    );
    expect(error).toMatchObject([
      { field: "organizations.bank.colour", code: "unknown_field" },
      { field: "organizations.bank.type", code: "bad_choice" },
    ]);
    expect(error[0]).not.toHaveProperty("line");
  });

  test("may extend a bundled scenario, and inherits everything but its story", () => {
    const { story, ...rest } = withStory("key-states");
    expect(story).not.toHaveLength(0);
    expect(checked({ version: 1, extends: "key-states" })).toEqual(rest);
  });

  test.each([[undefined], ["version: 1"], [[]]])("cannot be %j", (value) => {
    expect(problemsIn(() => checked(value)).length).toBe(1);
  });

  test("contains only plain data", () => {
    const inside: Record<string, unknown> = { version: 1 };
    inside.organizations = inside;
    expect(problemsIn(() => checked(inside)).map(({ code }) => code)).toContain("too_deep");
    const date = { version: 1, clock: { now: new Date() }, organizations: { bank: { type: "bank" } } };
    expect(problemsIn(() => checked(date))).toMatchObject([{ code: "not_plain_data", field: "clock.now" }]);
    const hole = { version: 1, organizations: { bank: { type: "bank" } }, faults: Array(1) };
    expect(problemsIn(() => checked(hole))).toMatchObject([{ code: "not_plain_data", field: "faults[0]" }]);
    const proto = JSON.parse(
      '{ "version": 1, "__proto__": { "seed": 1 }, "organizations": { "bank": { "type": "bank" } } }',
    );
    expect(problemsIn(() => checked(proto))).toMatchObject([{ code: "forbidden_field" }]);
  });
});

const active = { environment: "test" };

function codesOf(keys: Record<string, unknown>, rest: Record<string, unknown> = {}): string[] {
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } }, ...rest };
  return problemsOf(JSON.stringify(scenario)).map(({ code }) => code);
}

const five = Object.fromEntries(["a", "b", "c", "d", "e"].map((ref) => [ref, active]));
const clock = { now: "2026-03-02T09:00:00Z" };

test.each([
  ["a revoked one", { ...active, state: "revoked" }],
  ["one that expires at the very start", { ...active, expires: "0s" }],
  ["a retiring one", { ...active, state: "retiring", replaced_by: "a" }],
  ["one whose expiry hangs on the real time", { ...active, expires: "2026-03-03T00:00:00Z" }],
])("next to five active keys there may be %s (R32)", (_name, key) => {
  expect(codesOf({ ...five, other: key })).toEqual([]);
});

test.each([
  [{ state: "active", expires: "1s" }, []],
  [{ state: "expired", expires: "-1s" }, []],
  [{ state: "expired", expires: "2026-03-02T09:00:01Z" }, ["state_contradiction"]],
  [{ state: "rotated", overlap_ends: "-1d", expires: "-2d" }, ["state_contradiction"]],
  [{ state: "retiring", overlap_ends: "7d", replaced_by: "new" }, []],
  [{ state: "revoked", expires: "-2d" }, []],
])("%j: %j (R38, R39, R43)", (fields, codes) => {
  expect(codesOf({ main: { ...active, ...fields }, new: active }, { clock })).toEqual(codes);
});

test("a fault ends after it starts, a wait is an hour at most, and a body goes with a status and what fits it", () => {
  const codes = (fault: string) =>
    problemsOf(`version: 1\norganizations: { bank: { type: bank } }\nfaults: [{ ${fault} }]\n`).map(
      ({ code, field }) => `${field}: ${code}`,
    );
  expect(codes("when: { after: 1m, until: 2m }, then: { latency: 60m }")).toEqual([]);
  expect(codes("when: { after: 1m, until: 1m }, then: { latency: 60m }")).toEqual([
    "faults[0].when.until: fault_contradiction",
  ]);
  expect(codes("then: { latency: 61m }")).toEqual(["faults[0].then.latency: bad_time"]);
  expect(codes("then: { body: html, status: 503, latency: 1s }")).toEqual([]);
  // biome-ignore lint/suspicious/noThenProperty: a fault of the scenario format
  const later = { when: { after: "1m", until: "1m" }, then: { hang: true } } as const;
  expect(faultProblems([later], { refs: {} as never, successes: new Set(), now: 0 })).toMatchObject([
    { code: "fault_contradiction", field: ["faults", 0, "when", "until"] },
  ]);
});

describe("times contradict each other", () => {
  const start = "version: 1\norganizations: { bank: { type: bank } }\n";
  const fault = (after: string, until: string) =>
    `faults: [{ when: { after: ${after}, until: ${until} }, then: { hang: true } }]`;
  const step = (at: string) => `{ at: ${at}, faults: [] }`;
  const [nine, ten] = ["2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"];

  test.each([
    ["the end of a fault before its start", fault("2h", "1h"), ["fault_contradiction"]],
    ["the end of a fault after its start", fault("1h", "2h"), []],
    ["steps in the wrong order", `timeline: [${step("2h")}, ${step("1h")}]`, ["timeline_order"]],
    ["steps in order", `timeline: [${step("1h")}, ${step("2h")}]`, []],
    ["times in the wrong order", fault(ten, nine), ["fault_contradiction"]],
    ["a step of a story, which waits for its run", `story: [{ ${fault("2h", "1h")} }]`, []],
  ])("without a clock: %s", (_what, line, codes) => {
    expect(problemsOf(`${start}${line}\n`).map(({ code }) => code)).toEqual(codes);
  });

  test.each([
    ["a time after another", fault(ten, nine), ["fault_contradiction"]],
    ["a time before another", fault(nine, ten), []],
    ["a duration after a time", fault("1h", nine), ["fault_contradiction"]],
    ["a step before the start", `timeline: [${step("2026-03-02T07:00:00Z")}]`, ["timeline_order"]],
    ["a duration between times", `timeline: [${step(nine)}, ${step("1h")}, ${step(ten)}]`, []],
    ["a time between durations", `timeline: [${step("2h")}, ${step(nine)}]`, ["timeline_order"]],
  ])("at the start of the scenario: %s", (_what, line, codes) => {
    const clock = "clock: { now: 2026-03-02T08:00:00Z }\n";
    expect(problemsOf(start + clock + line).map(({ code }) => code)).toEqual(codes);
  });
});

describe("a hint for a ref", () => {
  test.each([
    ["default_key: organization-1-key-9", "did you mean organization-1-key-1?"],
    ["default_key: main", "keys of this scenario: organization-1-key-1, organization-2-key-1"],
    [
      "faults: [{ when: { organization: bank }, then: { hang: true } }]",
      "organizations of this scenario: organization-1, organization-2",
    ],
  ])("lists those of the population if there are no others: %s", (line, hint) => {
    const text = `version: 1\npopulation: { organizations: 2 }\n${line}\n`;
    expect(problemsOf(text)).toMatchObject([{ hint }]);
  });
});

test("a hint for a ref in a step proposes the key that a step creates", () => {
  const text = `version: 1
organizations: { bank: { type: bank, keys: { main: { environment: test } } } }
story:
  - create_key: { organization: bank, environment: test, name: Fresh, ref: fresh }
  - revoke: { key: frehs }
`;
  expect(problemsOf(text)).toMatchObject([{ hint: "did you mean fresh?" }]);
});

test("a list with lines is no block of text", () => {
  const text = 'version: 1\nname: ["a\\nb"]\norganizations: { bank: { type: bank } }\n';
  expect(problemsOf(text)).toMatchObject([{ hint: "write one line of 1 to 200 characters" }]);
});

test("a part of a status needs one, also next to an effect that fits a status", () => {
  const fields = (then: string) =>
    problemsOf(`version: 1\norganizations: { bank: { type: bank } }\nfaults: [{ then: { ${then} } }]\n`).map(
      ({ code, field }) => `${field}: ${code}`,
    );
  expect(fields("latency: 1s, retry_after: 30s")).toEqual([
    "faults[0].then.retry_after: fault_contradiction",
  ]);
  expect(fields("latency: 1s, body: html")).toEqual(["faults[0].then.body: fault_contradiction"]);
  expect(fields("malformed: true, body: html")).toEqual(["faults[0].then.body: fault_contradiction"]);
  expect(fields("latency: 1s, status: 503, retry_after: 30s")).toEqual([]);
});

test.each([
  ["limits: { per_minute: 10 }", "limits: { per_minute: 10, per_day: 1000 }", []],
  ["limits: { per_minute: 10 }", "limits: { per_minute: 10, per_day: 999 }", ["replacement_differs"]],
  ["scopes: [attestations:read, consents:read]", "scopes: [consents:read, attestations:read]", []],
  ["scopes: [attestations:read]", "scopes: [consents:read]", ["replacement_differs"]],
  ["name: One", "name: Two", ["replacement_differs"]],
])(
  "a replacement has the same settings, however they are written: %s and %s (R37)",
  (old, replacement, codes) => {
    const keys = `old: { environment: test, state: rotated, replaced_by: new, ${old} }, new: { environment: test, ${replacement} }`;
    const text = `version: 1\nassumptions: { scopes: [attestations:read, consents:read] }\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n`;
    expect(problemsOf(text).map(({ code }) => code)).toEqual(codes);
  },
);

test.each([
  ["scopes: [attestations:read]", "scopes: [consents:read]", ["replacement_differs"]],
  ["name: One", "name: Two", ["replacement_differs"]],
  ["limits: { per_day: 1 }", "limits: { per_day: 2 }", ["replacement_differs"]],
  ["limits: { per_day: 1 }", "limits: { per_day: 1 }", []],
])("a rotation of three keys has the same settings: first %s, last %s (R37)", (first, last, codes) => {
  const rotated = "environment: test, state: rotated";
  const keys = `a: { ${rotated}, replaced_by: b, ${first} }, b: { ${rotated}, replaced_by: c }, c: { environment: test, ${last} }`;
  const text = `version: 1\nassumptions: { scopes: [attestations:read, consents:read] }\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n`;
  expect(problemsOf(text).map(({ code }) => code)).toEqual(codes);
});

test("a circle behind a key with a setting is found once (R42)", () => {
  const rotated = "environment: test, state: rotated";
  const keys = `a: { ${rotated}, name: A, replaced_by: b }, b: { ${rotated}, replaced_by: c }, c: { ${rotated}, replaced_by: b }`;
  const text = `version: 1\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n`;
  expect(problemsOf(text).map(({ code }) => code)).toEqual(["replacement_cycle", "replacement_shared"]);
});

test("keys with one ref that replace each other are checked to the end", () => {
  const keys = "a: { environment: test, state: rotated, replaced_by: b }, b: { environment: test }";
  const others = "b: { environment: test, state: rotated, replaced_by: a }";
  const text = `version: 1\norganizations: { bank: { type: bank, keys: { ${keys} } }, mill: { type: bank, keys: { ${others} } } }\n`;
  expect(problemsOf(text).map(({ code }) => code)).toEqual(["duplicate_key_ref"]);
});

test("a scenario has its own name, or none", () => {
  const { name: _, ...unnamed } = parseScenario(base);
  const names = [unnamed, parseScenario(base)].map((one) => resolveSource(one).name);
  expect(names).toEqual(["unnamed", "Base"]);
});

test("the legacy kind of a pinned secret is taken from its prefix (R16)", () => {
  expect(codesOf({ main: { ...active, secret: "legacysvc_test_abc" } })).toEqual([]);
});

test("scopes can have other names, which then apply to keys and to the endpoint", () => {
  const assumptions = { scopes: ["farms:read"], me_scope: "farms:read" };
  expect(codesOf({ main: { ...active, scopes: ["farms:read"] } }, { assumptions })).toEqual([]);
  expect(codesOf({}, { assumptions: { scopes: ["farms:read"] } })).toEqual(["unknown_scope"]);
  expect(codesOf({}, { assumptions: { scopes: ["farms:read"], me_scope: null } })).toEqual([]);
});

test("a key without scopes has those of its rotation, also in warnings (R37)", () => {
  const assumptions = { scopes: ["farms:read"], me_scope: null };
  const old = { ...active, scopes: ["farms:read"], state: "rotated", replaced_by: "main-2" };
  expect(codesOf({ main: old, "main-2": active }, { assumptions })).toEqual([]);
  const alone = { ...active, state: "rotated", replaced_by: "main-2" };
  expect(codesOf({ main: alone, "main-2": active }, { assumptions })).toEqual(["unknown_scope"]);

  const endpoints = { list: { path: "/x", scope: "attestations:read" } };
  const keys = { main: { ...old, environment: "test" }, "main-2": { environment: "test" } };
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } }, endpoints } as never;
  expect(warningsOf(scenario).unheldScopes).toMatchObject([{ code: "scope_unheld" }]);
});

test("the keys of a population have a known scope, or the scenario does not start", () => {
  const assumptions = { scopes: ["farms:read"], me_scope: null };
  const population = { organizations: 1 };
  expect(codesOf({}, { assumptions, population })).toEqual(["unknown_scope"]);
  expect(codesOf({}, { assumptions, population: { organizations: 1, keys_per_organization: 0 } })).toEqual(
    [],
  );
});

test("a replaced key may have been revoked in its overlap, and names its replacement (R37, R42)", () => {
  const replaced = { ...active, state: "revoked", replaced_by: "new" };
  expect(codesOf({ old: { ...replaced, overlap_ends: "1h" }, new: active }, { clock })).toEqual([]);
  expect(codesOf({ old: { ...replaced, overlap_ends: "8d" }, new: active }, { clock })).toEqual([
    "overlap_out_of_range",
  ]);
});

test("a key that is said to be expired, but is in its overlap, has the wrong state (R43)", () => {
  const old = "{ environment: test, state: expired, replaced_by: new, expires: 1d, overlap_ends: 1h }";
  const keys = `old: ${old}, new: { environment: test }`;
  const text = `version: 1\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n`;
  expect(problemsOf(text).map(({ code, field }) => `${field}: ${code}`)).toEqual([
    "organizations.bank.keys.old.state: state_contradiction",
  ]);
});

test("a replaced key may have expired before its overlap was over, and names its replacement (R37, R43)", () => {
  const replaced = { ...active, state: "expired", expires: "-1m", replaced_by: "new" };
  expect(codesOf({ old: replaced, new: active }, { clock })).toEqual([]);
  expect(codesOf({ old: { ...replaced, overlap_ends: "1h" }, new: active }, { clock })).toEqual([]);
  expect(codesOf({ old: { ...replaced, overlap_ends: "-1h" }, new: active }, { clock })).toEqual([
    "state_contradiction",
  ]);
});

test("the requests of a minute are also requests of its day", () => {
  const usage = { this_minute: 3, today: 1 };
  expect(codesOf({ main: { ...active, usage } }, { clock })).toEqual(["usage_contradiction"]);
});

test("steps of a timeline may have the same time, but not an earlier one", () => {
  const step = (at: string) => ({ at, faults: [] });
  const codes = (...times: readonly string[]) =>
    codesOf({ main: active }, { clock, timeline: times.map(step) });
  expect(codes("1m", "1m")).toEqual([]);
  expect(codes("2m", "1m")).toHaveLength(1);
});
