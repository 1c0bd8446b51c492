import { expect, test, vi } from "vitest";
import { createSandbox, type Scenario } from "../../src/index.js";
import { sandboxApi, stateOf } from "../../src/library/sandbox-api.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { deriveSecret } from "../../src/scenario/keys.js";
import { parseState, stateParts } from "../../src/server/state-file.js";
import { continuedSandbox } from "../support/continued.js";

// What a sandbox has acknowledged can always be continued from its file.

/** A sandbox that continues from the file of another one. */
function continued(sandbox: SandboxState): ReturnType<typeof sandboxApi> {
  const named = { name: sandbox.name, scenario: sandbox.scenario, text: undefined };
  const { sandbox: saved } = parseState([...stateParts(sandbox, named)].join(""), named, "state.json");
  const restored = continuedSandbox(saved);
  return sandboxApi(() => restored);
}

test("a sandbox continues whose timeline has a step that was due and had not run when it was saved", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const scenario: Scenario = {
    version: 1,
    clock: { now: "2026-03-02T09:00:00Z" },
    organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
    timeline: [{ at: "1s", revoke: { key: "main" } }],
  };
  const sandbox = stateOf(createSandbox({ scenario }));
  vi.advanceTimersByTime(2000);
  // Nobody has read the sandbox since.
  const key = continued(sandbox).keys.get("main");
  expect([key.state, key.revokedAt]).toEqual(["revoked", "2026-03-02T09:00:01.000Z"]);
  vi.useRealTimers();
});

/** A bank whose key `main` has pinned the secret that the seed generates for `main-2`. */
const pinned: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: {
          environment: "test",
          secret: deriveSecret(1, { ref: "main-2", environment: "test", legacy: false }),
        },
      },
    },
  },
};

test("a sandbox continues after a user has rotated a key whose pinned secret the replacement's ref would get", () => {
  const sandbox = createSandbox({ scenario: pinned });
  sandbox.keys.rotate("main");
  const keys = sandbox.keys.list();
  expect(continued(stateOf(sandbox)).keys.list()).toEqual(keys);
});

test.each<[string, NonNullable<Scenario["organizations"]>]>([
  ["a key without its default scope", { bank: { type: "bank", keys: { main: { environment: "test" } } } }],
  ["an organization without keys", { bank: { type: "bank" } }],
])(
  "a sandbox continues although the rules for what people write reject %s by now",
  (_what, organizations) => {
    const state = stateOf(createSandbox({ scenario: { version: 1, organizations } }));
    // As an earlier or a later version may leave a sandbox.
    state.scenario = { ...state.scenario, assumptions: { scopes: ["consents:write"] } };
    expect(continued(state).keys.list()).toEqual(sandboxApi(() => state).keys.list());
  },
);
