import { type KeyRecord, lastClockInstant } from "../rules/key-state.js";
import type { Organization } from "../rules/organization.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { ActiveFault } from "./faults.js";
import type { SavedHistory } from "./journal/client-history.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { SandboxState } from "./sandbox-state.js";
import type { StoryProgress, Timeline } from "./steps.js";
import type { Usage } from "./usage.js";

// A sandbox as JSON, without the options of its start: what a state file has. It has the records and the clock as they are, and is no
// scenario: what a sandbox has acknowledged can always be continued, whatever the rules for what people write say of it.

/** The number of this form. `test/control/state-format.test.ts` fails if the form changes, and this number does not. */
export const stateFormat = 20;

const maxSaved = 100;

/** All that a sandbox needs to continue, and what it keeps of requests. Instants are in epoch milliseconds. */
export interface SavedSandbox {
  readonly name: string;
  readonly text?: string | undefined;
  readonly scenario: Scenario;
  /** `startedAt`: when the scenario started, on this clock. */
  readonly clock: { readonly startedAt: number; readonly now: number; readonly frozen: boolean };
  readonly organizations: readonly Organization[];
  readonly faults: readonly ActiveFault[];
  /** Includes the steps that ran, so that the others keep their numbers. */
  readonly timeline: Timeline;
  readonly story: Omit<StoryProgress, "steps">;
  readonly isChangedByUser: boolean;
  readonly requestIds: { readonly series: number; readonly count: number };
  readonly exchanges: readonly Exchange[];
  readonly total: number;
  readonly counts: Counts;
  /** What advice depends on. */
  readonly history: SavedHistory;
  /** In the scenario's order, then in order of creation. */
  readonly keys: readonly (KeyRecord & { readonly usage: Usage })[];
}

/** The JSON of a sandbox as a `SavedSandbox`, in parts: with 100,000 keys, it would take as much memory as the sandbox. */
export function* saveSandbox(sandbox: SandboxState): Generator<string> {
  const withoutKeys = JSON.stringify(savedWithoutKeys(sandbox));
  yield `${withoutKeys.slice(0, -1)},"keys":[`; // the object goes on
  let separator = "";
  for (const { key, usage } of sandbox.registry.keys.values()) {
    const savedKey: SavedSandbox["keys"][number] = { ...key, usage };
    yield separator + JSON.stringify(savedKey);
    separator = ",";
  }
  yield "]}";
}

function savedWithoutKeys(sandbox: SandboxState): Omit<SavedSandbox, "keys"> {
  const { clock, requestIds, story, journal, registry } = sandbox;
  const { steps, ...progress } = story;
  return {
    name: sandbox.name,
    text: sandbox.text,
    scenario: sandbox.scenario,
    clock: { startedAt: sandbox.startedAt, now: clock.now(), frozen: clock.isFrozen() },
    organizations: Array.from(registry.organizations.values(), ({ organization }) => organization),
    faults: [...sandbox.faults],
    timeline: sandbox.timeline,
    story: progress,
    isChangedByUser: sandbox.isChangedByUser,
    requestIds: { series: requestIds.series, count: requestIds.count() },
    exchanges: journal.requests({ probes: true, limit: maxSaved }),
    total: journal.total(),
    counts: sandbox.counters.read(),
    history: sandbox.history.save(),
  };
}

/**
 * A saved sandbox as it continues in another process, `ms` milliseconds later: its clock has advanced, unless it is frozen, or the
 * wall clock was set back. Its latest requests may not be saved: no id of their series is given out again.
 */
export function afterPause(saved: SavedSandbox, ms: number): SavedSandbox {
  const { clock, requestIds } = saved;
  let { now } = clock;
  const hasAdvanced = !clock.frozen && ms >= 0;
  if (hasAdvanced) now = Math.min(now + ms, Math.max(now, lastClockInstant));
  return { ...saved, clock: { ...clock, now }, requestIds: { ...requestIds, series: requestIds.series + 1 } };
}
