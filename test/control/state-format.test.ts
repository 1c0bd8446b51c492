import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSandbox, SandboxError } from "../../src/index.js";
import { sandboxOn, stateOf } from "../../src/library/create-sandbox.js";
import { version } from "../../src/node/package-files.js";
import { nodePlatform } from "../../src/node/platform.js";
import { operations, runDue } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { describeSandbox, restoreSandbox } from "../../src/sandbox/start.js";
import { parseState, type SavedState, stateText } from "../../src/store/state-format.js";
import { anyScenario, command } from "../model/commands.js";
import { movedTo, played, roundOfRequests, transcript } from "../model/transcript.js";
import { runs } from "../support/property-seed.js";

// A Retry-After that is a date follows the clock, whose second must not turn between two responses.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

const commands = fc.array(command, { minLength: 1, maxLength: 25 });
const assumptions = fc.record(
  {
    minute_window: fc.constantFrom("fixed" as const, "sliding" as const),
    day_resets_at: fc.constantFrom("00:00", "06:30", "23:59"),
    retiring_counts_as_active: fc.boolean(),
    scopes: fc.constantFrom(["attestations:read"], ["attestations:read", "consents:read"]),
    profile: fc.constantFrom("minimal" as const, "typical" as const, "varied" as const),
  },
  { requiredKeys: [] },
);
const startedWith = { name: "model", sha256: "0".repeat(64) };

const savedStateOf = (sandbox: SandboxState): SavedState => ({
  ...{ startedWith, instances: [] },
  own: describeSandbox(sandbox),
});

/** Changes assumptions, unless they contradict the sandbox. */
function assume(sandbox: SandboxState, { profile, ...change }: Assumed): void {
  try {
    operations.assumptions(sandbox, { ...change, ...(profile !== undefined && { profile }) });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
  }
}

type Assumed = typeof assumptions extends fc.Arbitrary<infer Value> ? Value : never;

/** A sandbox that continues a state of a minute ago. */
const restored = ({ own }: Pick<SavedState, "own">) =>
  sandboxOn(restoreSandbox({ ...own, at: own.at - 60_000 }, nodePlatform, { given: {} }));

test("the state of any sandbox can be read again and continues exactly like the sandbox", async () => {
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, assumptions, commands, async (scenario, before, given, after) => {
      const game = played(createSandbox({ scenario }));
      await transcript(game, before);
      const sandbox = stateOf(game.sandbox);
      runDue(sandbox);
      assume(sandbox, given);
      await transcript(game, before.slice(0, 10));
      const state = savedStateOf(sandbox);
      const read = parseState(stateText(state), "state.json") as SavedState;
      expect(read).toEqual({ ...state, version });
      const continued = movedTo(restored(read), game);
      expect(continued.sandbox.snapshot()).toEqual(game.sandbox.snapshot());
      const following = [...after, ...roundOfRequests];
      expect(await transcript(continued, following)).toEqual(await transcript(game, following));
    }),
    runs(40),
  );
});
