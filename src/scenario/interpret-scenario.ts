import { checkShape, maximumShapeFindings } from "./check-shape.js";
import { findContradictions } from "./contradictions.js";
import { type Finding, problemsOf } from "./finding.js";
import { type LocatedMapping, plainOf } from "./located.js";
import { type ExtendsOptions, resolveExtends } from "./resolve-extends.js";
import type { Scenario } from "./scenario.generated.js";
import { ScenarioError } from "./scenario-error.js";

/**
 * Makes a scenario of what `read` reads: resolves what it extends, checks its shape, then what its fields say of
 * each other. Throws a {@link ScenarioError} with everything that is wrong.
 */
export function interpretScenario(
  read: (findings: Finding[]) => LocatedMapping | undefined,
  file: string | undefined,
  options: ExtendsOptions,
): Scenario {
  const findings: Finding[] = [];
  const root = read(findings);
  if (root === undefined) throw new ScenarioError(problemsOf(findings, root, file));

  const resolved = resolveExtends(root, file, options, findings);
  const whole = resolved ?? root;
  const value = plainOf(whole);
  const shape = checkShape(value);
  if ("scenario" in shape) {
    if (resolved !== undefined) findings.push(...findContradictions(value, findings));
    if (findings.length === 0) return shape.scenario;
  } else if (resolved !== undefined) {
    findings.push(...shape.findings);
    // Beyond that, not all that is wrong is known, and what is not known would be taken for sound.
    if (shape.findings.length < maximumShapeFindings) findings.push(...findContradictions(value, findings));
  } else {
    // What seems to be missing may well be in the scenario that could not be had.
    findings.push(...shape.findings.filter(({ code }) => code !== "missing_field"));
  }
  throw new ScenarioError(problemsOf(findings, whole, file));
}
