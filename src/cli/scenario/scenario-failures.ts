import { resolve } from "node:path";
import type { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { isScenarioName } from "../../scenario/bundled.js";
import { ScenarioError } from "../../scenario/scenario-error.js";

/** The problems of a scenario as JSON, or the one problem that keeps its file from being read. */
export function problemsJson(error: SandboxError, file: string): readonly object[] {
  if (error instanceof ScenarioError) return error.problems;
  return [
    { code: error.code, field: "", message: redactPlainKeys(error.message), file: redactPlainKeys(file) },
  ];
}

/** The files whose change may mend a scenario that cannot be loaded: its own, also if that is missing, and those with a problem. */
export function filesOfFailure(error: unknown, name: string, cwd: string): string[] {
  if (isScenarioName(name)) return [];
  const files = [resolve(cwd, name)];
  if (!(error instanceof ScenarioError)) return files;
  // A problem may be in a file that the scenario extends.
  for (const { file } of error.problems) files.push(resolve(cwd, file ?? name));
  return files;
}
