import type { ScenarioProblem } from "../../scenario/problems/scenario-problem.js";

/**
 * What is wrong with a scenario, field by field, as `details.fields` has it; with line and column where it came as text.
 *
 * `prefix` is the field of a body in which the scenario came.
 */
export function scenarioFields(problems: readonly ScenarioProblem[], prefix = ""): Record<string, string> {
  const fields = new Map<string, string>();
  for (const problem of problems) {
    const field = [prefix, problem.path].filter((part) => part !== "").join(".") || "scenario";
    const earlier = fields.get(field);
    fields.set(field, (earlier === undefined ? "" : `${earlier}; `) + described(problem));
  }
  return Object.fromEntries(fields);
}

function described({ line, column, message, hint }: ScenarioProblem): string {
  const place = line === undefined ? "" : `line ${line}, column ${column}: `;
  return place + message + (hint === undefined ? "" : `: ${hint}`);
}
