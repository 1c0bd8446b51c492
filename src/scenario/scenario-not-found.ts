import { SandboxError } from "../domain/errors.js";
import { scenarioNames } from "./bundled.js";
import { nearest } from "./nearest.js";
import { quote } from "./quote.js";

/** The refusal of a name that leads to no scenario, with the nearest name that does. */
export function scenarioNotFound(given: string, why: string): SandboxError {
  const suggestion = nearest(given, scenarioNames);
  const guess = suggestion === undefined ? "" : ` Did you mean ${quote(suggestion)}?`;
  return new SandboxError(
    "scenario_not_found",
    `Failed to find the scenario ${quote(given)}: ${why}.${guess} \`svc-sandbox list\` shows the bundled ones.`,
    { given, known: scenarioNames },
  );
}
