import { parseScenario, ScenarioError, type ScenarioProblem } from "../../src/index.js";

export const problemsOf = (text: string, file?: string) => problemsIn(() => parseScenario(text, { file }));

/** The problems of the scenario that something reads; none if it is valid. */
export function problemsIn(read: () => unknown): readonly ScenarioProblem[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
  return [];
}
