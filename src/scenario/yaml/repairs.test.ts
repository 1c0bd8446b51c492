import { expect, test, vi } from "vitest";
import { parseScenario, ScenarioError } from "../../index.js";
import { parseYaml } from "./parse-yaml.js";

vi.mock("./parse-yaml.js", { spy: true });

/** How many characters are parsed to explain a text that is not YAML. */
function charactersParsed(text: string): number {
  vi.mocked(parseYaml).mockClear();
  expect(() => parseScenario(text)).toThrow(ScenarioError);
  let characters = 0;
  for (const [parsed] of vi.mocked(parseYaml).mock.calls) characters += parsed.length;
  return characters;
}

test.each([400, 1600, 3200, 12_000])("the repairs of %i lines that are no YAML are bounded", (lines) => {
  const text = `x:\n${"  - a: b: c\n".repeat(lines)}`;
  expect(charactersParsed(text)).toBeLessThanOrEqual(text.length + 150_000);
});

test("each repair of a text of usual length is tried", () => {
  const text = `version: 1\nx-a:\n${"  - a: b: c\n".repeat(40)}`;
  expect(charactersParsed(text)).toBeGreaterThan(30 * text.length);
});
