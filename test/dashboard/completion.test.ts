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
    ["below a key", "clock:\n  |", ["now", "frozen"], ["version"]],
    ["in an organization", "organizations:\n  bank-a:\n    type: bank\n    |", ["keys", "status"], ["type"]],
    [
      "in braces",
      "organizations:\n  bank-a:\n    keys:\n      main: { environment: test, |",
      ["scopes", "limits"],
      ["environment"],
    ],
    ["in an item", "timeline:\n  - at: 10m\n    |", ["rotate", "revoke"], ["at"]],
    ["behind a dash", "timeline:\n  - |", ["at", "rotate"], ["version"]],
  ])("suggests keys %s", (_, text, some, none) => {
    const found = at(text);
    expect(found).toEqual(expect.arrayContaining(some));
    for (const one of none) expect(found).not.toContain(one);
  });

  test.each([
    ["of a choice", "organizations:\n  bank-a:\n    type: |", ["bank", "insurer"]],
    ["yes or no", "clock: { frozen: |", ["true", "false"]],
    ["bundled names", "extends: |", [...scenarioNames]],
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
  });

  test.each([
    ["a comment", "# na|"],
    ["a text of several lines", "description: >-\n  Some na|"],
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

  test("every offset of every bundled scenario has a response", async () => {
    const { readFileSync } = await import("node:fs");
    for (const name of scenarioNames) {
      const text = readFileSync(`scenarios/${name}.yaml`, "utf8");
      for (let offset = 0; offset <= text.length; offset += 101)
        expect(() => suggest(schema, text, offset)).not.toThrow();
    }
  });
});
