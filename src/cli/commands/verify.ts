import { bundledScenarios, scenarioNames } from "../../scenario/bundled.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Call, Run } from "../command.js";
import { usageError } from "../usage-error.js";
import { verifyScenarios } from "../verify-scenarios.js";

/** `svc-sandbox verify` */
export const verify: Run = async (call) => {
  const names = namesIn(call);
  if (call.flags.verifyWatch !== true) return (await verifyScenarios(names, call)).exitCode;
  const { verifyOnChange } = await import("../verify-on-change.js");
  return verifyOnChange(names, call);
};

function namesIn({ words, flags }: Call): string[] {
  const names = new Set([...(flags.all === true ? bundledWithStory() : []), ...words]);
  if (names.size > 0) return [...names];
  throw usageError(
    flags.all === true
      ? "Failed to verify --all: no bundled scenario has a story."
      : "Failed to verify: no scenario was named. Name one or more, files or bundled names (`svc-sandbox list`), or give --all for every bundled one.",
  );
}

// Nobody named those that have none, so that they are no failure.
function bundledWithStory(): string[] {
  return scenarioNames.filter((name) => ((bundledScenarios[name] as Scenario).story ?? []).length > 0);
}
