import fc from "fast-check";
import { test } from "vitest";
import { parseScenario, ScenarioError } from "../../src/index.js";
import { starterScenario } from "../../src/scenario/starter.generated.js";
import { runs } from "../support/property-seed.js";

/** Whether every problem of the text points into the text. Throws what is no ScenarioError. */
function pointsIntoTheText(text: string): boolean {
  try {
    parseScenario(text);
    return true;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const lines = text.split("\n");
    return (
      error.problems.length > 0 &&
      error.problems.every(({ line = 0, column = 0 }) => {
        const length = lines[line - 1]?.length ?? -1;
        return line >= 1 && column >= 1 && column <= length + 1;
      })
    );
  }
}

test("a text with characters put in or cut out parses, or every problem has its place in the file", () => {
  const pieces = fc.oneof(
    fc.constantFrom("\t", "{", "]", '"', "'", "*a", "&a ", "!!x ", "---\n", "\n", ": ", "- "),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.nat(starterScenario.length), fc.nat(40), pieces, (at, cut, piece) =>
      pointsIntoTheText(starterScenario.slice(0, at) + piece + starterScenario.slice(at + cut)),
    ),
    runs(100),
  );
});
