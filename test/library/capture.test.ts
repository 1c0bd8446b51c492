import fc from "fast-check";
import { expect, test } from "vitest";
import { storySender } from "../../src/api/story-sender.js";
import { createSandbox, parseScenario, type Sandbox } from "../../src/index.js";
import { captureText } from "../../src/library/capture-text.js";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import { openWorld } from "../../src/node/platform.js";
import { stepProblems } from "../../src/sandbox/story/differences.js";
import { runStory } from "../../src/sandbox/story/run-step.js";
import { anyScenario, command } from "../model/commands.js";
import { played, transcript } from "../model/transcript.js";
import { propertySeed } from "../support/property-seed.js";

const commands = fc.array(command, { minLength: 1, maxLength: 40 });

/** Runs a captured file as `verify` does; returns what is not as expected. */
function verified(text: string): unknown[] {
  const world = openWorld(parseScenario(text), { frozen: true });
  const results = runStory(world, storySender(world));
  expect(results.length).toBeGreaterThan(0);
  return results.flatMap(stepProblems);
}

const textOf = (sandbox: Sandbox, options = {}) => captureText(runtimeOf(sandbox).world(), options);

test("what a sandbox has seen is a scenario that comes out the same", async () => {
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, async (scenario, session) => {
      const sandbox = createSandbox({ scenario });
      await transcript(played(sandbox), session);
      if (sandbox.requests.total() === 0) return;
      const text = textOf(sandbox);
      expect(verified(text)).toEqual([]);
    }),
    { numRuns: Number(process.env.CAPTURE_RUNS ?? 200), ...propertySeed },
  );
});
