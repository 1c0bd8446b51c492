import { describe, expect, test } from "vitest";
import { describeAt, type Schema, suggest } from "../../src/dashboard/views/scenario/completion.js";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { scenarioJsonSchema } from "../../src/scenario/format/json-schema.js";

const schema = scenarioJsonSchema(scenarioNames) as Schema;

/** What is suggested at the bar. */
function at(text: string): readonly string[] {
  const offset = text.indexOf("|");
  return suggest(schema, text.replace("|", ""), offset)?.options.map(({ label }) => label) ?? [];
}

describe("completion", () => {
  test.each([
    ["at the beginning", "|", ["version", "organizations", "timeline"], []],
    ["of a part of a key", "version: 1\nna|", ["name", "description"], ["version"]],
    ["below a key", "clock:\n  |", ["now", "frozen"], ["version"]],
    ["without the keys below it either", "clock:\n  |\n  now: 2026-03-02T09:00:00Z\n", ["frozen"], ["now"]],
    ["back at the left edge", "clock:\n  frozen: true\n|", ["organizations"], ["now", "clock"]],
    ["in an organization", "organizations:\n  bank-a:\n    type: bank\n    |", ["keys", "status"], ["type"]],
    [
      "in braces",
      "organizations:\n  bank-a:\n    keys:\n      main: { environment: test, |",
      ["scopes", "limits"],
      ["environment"],
    ],
    ["in braces over lines", "clock: {\n  now: 2026-03-02T09:00:00Z,\n  |", ["frozen"], ["now"]],
    ["in an item", "timeline:\n  - at: 10m\n    |", ["rotate", "revoke"], ["at"]],
    ["behind a dash", "timeline:\n  - |", ["at", "rotate"], ["version"]],
    ["in an item at the column of its list", "timeline:\n- at: 1m\n  |", ["rotate"], ["at", "version"]],
    ["in a later item", "story:\n  - say: One.\n  - |", ["say", "request"], []],
    ["of a fault", "faults:\n  - then: { |", ["latency", "status"], ["when"]],
  ])("suggests keys %s", (_, text, some, none) => {
    const found = at(text);
    expect(found).toEqual(expect.arrayContaining(some));
    for (const one of none) expect(found).not.toContain(one);
  });

  test.each([
    ["of a choice", "organizations:\n  bank-a:\n    type: |", ["bank", "insurer"]],
    ["of a choice in braces", "organizations: { bank-a: { type: |", ["bank", "insurer"]],
    ["yes or no", "clock: { frozen: |", ["true", "false"]],
    ["bundled names", "extends: |", [...scenarioNames]],
    ["numbers", "version: |", ["1"]],
  ])("suggests values: %s", (_, text, all) => expect(at(text)).toEqual(all));

  test("suggests the refs of the text, also those that a step makes", () => {
    const world =
      "organizations:\n  bank-a:\n    keys:\n      main: { environment: test }\n      other: {}\n";
    expect(at(`${world}default_key: |`)).toEqual(["main", "other"]);
    expect(
      at(
        `${world}timeline:\n  - { at: 1m, rotate: { key: main, as: third } }\n  - at: 2m\n    revoke: { key: |`,
      ),
    ).toEqual(["main", "other", "third"]);
    expect(at(`${world}story:\n  - request: { key: |`)).toEqual([
      "main",
      "other",
      "none",
      "malformed",
      "unknown",
    ]);
    expect(at(`${world}consents:\n  - organization: |`)).toEqual(["bank-a"]);
  });

  test.each([
    ["a comment", "# na|"],
    ["a text of several lines", "description: >-\n  Some na|"],
    ["a free text", "name: |"],
    ["a name that someone chooses", "organizations:\n  |"],
  ])("suggests nothing in %s", (_, text) => expect(at(text)).toEqual([]));

  test("a key is written with what its value begins with", () => {
    const text = (of: string, label: string) =>
      suggest(schema, of, of.length)?.options.find((one) => one.label === label)?.apply;
    expect(text("", "name")).toBe("name: ");
    expect(text("", "clock")).toBe("clock:\n  ");
    expect(text("", "timeline")).toBe("timeline:\n  - ");
    expect(text("timeline:\n  - ", "rotate")).toBe("rotate:\n      ");
    expect(text("timeline: [{ ", "rotate")).toBe("rotate: ");
  });

  test("a key is described", () => {
    const text = "clock:\n  frozen: true\n";
    expect(describeAt(schema, text, text.indexOf("ozen"))).toContain("only moves when you move it");
    expect(describeAt(schema, text, text.indexOf("true"))).toBeUndefined();
  });

  test("every offset of every bundled scenario has an answer", async () => {
    const { readFileSync } = await import("node:fs");
    for (const name of scenarioNames) {
      const text = readFileSync(`scenarios/${name}.yaml`, "utf8");
      for (let offset = 0; offset <= text.length; offset += 101)
        expect(() => suggest(schema, text, offset)).not.toThrow();
    }
  });
});
