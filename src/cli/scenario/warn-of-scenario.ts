import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import { runDue } from "../../sandbox/operations/run-due.js";
import type { SandboxState, StartOptions } from "../../sandbox/sandbox-state.js";
import { problemsAt } from "../../scenario/problems.js";
import { ScenarioError } from "../../scenario/scenario-error.js";
import { isBundled } from "./open-scenario.js";
import { warnOfDates, warnOfOverriddenProfile } from "./sandbox-warnings.js";

/** Warns of what is valid in a scenario, but usually a mistake: after the start of its sandbox, and after each reload. */
export async function warnOfScenario(
  { loaded, places }: OpenedScenario,
  sandbox: SandboxState,
  startOptions: StartOptions,
  logger: Logger,
): Promise<void> {
  runDue(sandbox);
  warnOfOverriddenProfile(sandbox, startOptions, logger);
  warnOfDates(sandbox, logger);

  // Bundled scenarios are tested.
  if (isBundled(loaded)) return;

  const { scenarioWarnings } = await import("../../node/dry-run.js");
  const { name } = loaded;
  const { placeOf, spelling } = await places();
  const warnings = scenarioWarnings(loaded, { spelling }, startOptions);
  // The kinds are shown in this order.
  const titles: Readonly<Record<keyof typeof warnings, string>> = {
    failingSteps: `Steps of ${name} that may fail`,
    unmarkedSecrets: `Secrets of ${name} that may be real keys`,
    unheldScopes: `Scopes of ${name} that no key has`,
    shortenedDecimals: `Numbers of ${name} that JSON shortens`,
  };
  for (const kind of Object.keys(titles) as (keyof typeof titles)[]) {
    if (warnings[kind].length === 0) continue;
    const error = new ScenarioError(problemsAt(warnings[kind], placeOf, name));
    logger.note(`${titles[kind]}:\n\n${error.message}\n`);
  }
}
