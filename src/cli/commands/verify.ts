import type { Call, Run } from "../command.js";
import { usageError } from "../usage-error.js";
import { verifyScenarios } from "../verify-scenarios.js";
import { bundledWithStory } from "../with-story.js";

/** `svc-sandbox verify` */
export const verify: Run = async (call) => {
  const names = namesIn(call);
  if (call.flags.verifyWatch !== true) return (await verifyScenarios(names, call)).exitCode;
  const { verifyOnChange } = await import("../verify-on-change.js");
  return verifyOnChange(names, call);
};

function namesIn({ words, flags }: Call): string[] {
  // Nobody named those that have none, so that they are no failure.
  const names = new Set([...(flags.all === true ? bundledWithStory() : []), ...words]);
  if (names.size > 0) return [...names];
  throw usageError(
    flags.all === true
      ? "Failed to verify --all: no bundled scenario has a story."
      : "Failed to verify: no scenario was named. Name one or more, files or bundled names (`svc-sandbox list`), or give --all for every bundled one.",
  );
}
