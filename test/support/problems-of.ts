import { parseScenario, ScenarioError, type ScenarioProblem } from "../../src/index.js";

export function problemsOf(text: string, file?: string): readonly ScenarioProblem[] {
  try {
    parseScenario(text, { file });
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
  return [];
}

/** A scenario of one bank, with these lines for its keys. */
export const inKeys = (lines: string) =>
  `version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n${lines}`;
