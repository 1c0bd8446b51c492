import { handle } from "../../src/api/handle.js";
import type { Fault, Scenario } from "../../src/index.js";
import type { FailureStatus } from "../../src/rules/fault-effects.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { startFrozen } from "./doors.js";
import { asked, mePath } from "./send.js";

/** A bank with a key `main` and two others, and an insurer; with these faults. */
export function scenarioWith(faults: readonly Fault[]): Scenario {
  return {
    version: 1,
    clock: { now: "2026-03-02T09:00:00Z", frozen: true },
    organizations: {
      bank: {
        type: "bank",
        keys: {
          main: { environment: "test", limits: { per_minute: 1_000_000, per_day: 1_000_000 } },
          other: { environment: "test", limits: { per_minute: 1_000_000, per_day: 1_000_000 } },
          revoked: { environment: "test", state: "revoked" },
        },
      },
      insurer: { type: "insurer", keys: { third: { environment: "test" } } },
    },
    faults: [...faults],
  };
}

/** The scenario `key-states` with a clock that stands, and these members. */
export const frozenKeyStates = (members: Partial<Scenario>): Scenario => {
  const { clock, ...scenario } = bundledScenarios["key-states"];
  return { ...scenario, clock: { ...clock, frozen: true }, ...members };
};

export const sandboxWith = (...faults: Fault[]): SandboxState => startFrozen(scenarioWith(faults));

export const unavailable = { status: 503 } as const;

/** A fault of every request. */
export const failingWith = (status: FailureStatus): Fault => ({ then: { status } });

export interface FaultySent {
  readonly key?: string;
  readonly method?: string;
  readonly path?: string;
}

export function send(
  sandbox: SandboxState,
  { key = "main", method = "GET", path = mePath }: FaultySent = {},
) {
  return handle(sandbox, asked({ method, path, apiKey: secretToSend(sandbox, key) }));
}

/** Whether each of so many requests meets a fault. */
export function met(sandbox: SandboxState, times: number, sent?: FaultySent): boolean[] {
  return Array.from({ length: times }, () => send(sandbox, sent).fault !== null);
}

/** How many requests of a key were counted today. */
export const used = (sandbox: SandboxState, key = "main"): number => sandbox.registry.key(key).usage.dayCount;
