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
