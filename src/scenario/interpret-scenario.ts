import { checkShape, maximumShapeFindings } from "./check-shape.js";
import { findContradictions } from "./contradictions.js";
import { type Finding, pathText, problemsOf } from "./finding.js";
import { hasField, type LocatedMapping, plainOf } from "./located.js";
import { type ExtendsOptions, resolveExtends } from "./resolve-extends.js";
import type { Scenario } from "./scenario.generated.js";
import { ScenarioError } from "./scenario-error.js";
import type { Extended } from "./world-facts.js";

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
  if (!("scenario" in shape)) {
    const explained = absencesExplainedBy(findings, resolved === undefined);
    findings.push(...shape.findings.filter((finding) => !explained(finding)));
  }
  // Where not all that is wrong is known, what is not known would be taken for sound.
  const allIsKnown = resolved !== undefined && findings.length < maximumShapeFindings;
  if (allIsKnown) findings.push(...findContradictions(value, findings, extendedBy(root)));
  if (findings.length === 0 && "scenario" in shape) return shape.scenario;
  throw new ScenarioError(problemsOf(findings, whole, file));
}

function extendedBy(root: LocatedMapping): Extended | undefined {
  const field = root.members.get("extends");
  if (field?.kind !== "scalar" || typeof field.value !== "string") return undefined;
  return { name: field.value, isOwn: (path) => hasField(root, path) };
}

// A field that seems to be missing may stand in the scenario that could not be had, or was itself left out because
// of something already said.
function absencesExplainedBy(findings: readonly Finding[], parentIsMissing: boolean) {
  const leftOut = new Set(findings.map(({ path }) => pathText(path)));
  const merged = findings.filter(({ code }) => code === "merge_key");
  const mergedInto = new Set(merged.map(({ path }) => pathText(path.slice(0, -1))));
  return ({ code, path }: Finding) =>
    code === "missing_field" &&
    (parentIsMissing || leftOut.has(pathText(path)) || mergedInto.has(pathText(path.slice(0, -1))));
}
