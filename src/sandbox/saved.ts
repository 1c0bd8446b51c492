import type { Scenario } from "../scenario/scenario.generated.js";
import { lastClockInstant } from "./clock.js";
import type { Counts } from "./counters.js";
import type { Exchange } from "./history/exchange.js";
import type { Platform, SandboxState } from "./sandbox.js";
import { snapshotWorld } from "./snapshot.js";
import { createStory, prepareScenario, type SandboxSettings, startSandbox } from "./start.js";
import type { StepResult } from "./steps.js";
import type { Timeline } from "./timeline.js";

/**
 * A sandbox as plain data, without its options: everything that a client or a person can see. It omits what clients knew,
 * and when.
 */
export interface SavedSandbox {
  /** When it was described, on the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly name: string;
  readonly text: string | undefined;
  /** The scenario that a reset starts again. */
  readonly scenario: Scenario;
  /** The state as a scenario; `requests_answered` includes the series, so that no request id repeats. */
  readonly snapshot: Scenario;
  /** When each key was last counted (epoch milliseconds), by ref. */
  readonly countedAt: Readonly<Record<string, number>>;
  /** Includes the steps that ran, so that the others keep their numbers. */
  readonly timeline: Pick<Timeline, "steps" | "next">;
  readonly stepsRun: number;
  readonly verdicts: readonly (readonly [step: number, asExpected: boolean])[];
  readonly lastStep: StepResult | undefined;
  readonly exchanges: readonly Exchange[];
  readonly recorded: number;
  /** Without zeros. */
  readonly counts: Counts;
}

/** Describes a sandbox; changes nothing. */
export function describeSandbox(world: SandboxState): SavedSandbox {
  const { name, text, scenario, registry, timeline, story, history } = world;
  // Read before the clock, so that a restored clock is never late.
  const at = world.platform.time();
  const counted = [...registry.keys.values()].flatMap(({ key: { ref }, usage: { countedAt } }) =>
    countedAt === undefined ? [] : [[ref, countedAt] as const],
  );
  return {
    ...{ at, name, text, scenario },
    snapshot: { ...snapshotWorld(world), requests_answered: world.requestIds.answered() },
    countedAt: Object.fromEntries(counted),
    timeline: { steps: timeline.steps, next: timeline.next },
    stepsRun: story.next,
    verdicts: [...story.verdicts],
    lastStep: story.last,
    exchanges: history.requests({ probes: true }),
    recorded: history.total(),
    counts: countsOf(world.counters.read()),
  };
}

function countsOf(counts: Counts): Counts {
  const counted = <Rows extends object>(rows: Rows) =>
    Object.fromEntries(
      Object.entries(rows).filter(([, { count, previewCount = 0 }]) => count + previewCount > 0),
    ) as Rows;
  return { ...counts, paths: counted(counts.paths), advice: counted(counts.advice) };
}

/**
 * Continues what `describeRuntime` returned, in the sandbox `there` or a new one with the options. Its clock advances by the
 * time in between, unless it is frozen.
 *
 * The snapshot must contain all keys of `scenario`.
 */
export function restoreSandbox(
  state: SavedSandbox,
  platform: Platform,
  options: Omit<SandboxSettings, "platform">,
  there?: SandboxState,
): SandboxState {
  const { at, name, text, scenario, snapshot, stepsRun, verdicts } = state;
  const world = there ?? startSandbox(snapshot, { platform, name, text, ...options });
  if (there !== undefined) Object.assign(there, prepareScenario(there, snapshot, { name, text }));
  for (const [ref, countedAt] of Object.entries(state.countedAt)) {
    world.registry.key(ref).usage.countedAt = countedAt;
  }
  Object.assign(world.timeline, state.timeline);
  const story = createStory(scenario.story ?? [], stepsRun);
  for (const [step, asExpected] of verdicts) story.verdicts.set(step, asExpected);
  story.last = state.lastStep;
  Object.assign(world, { scenario, story });
  const { clock } = world;
  const elapsed = Math.min(platform.time() - at, lastClockInstant - clock.now());
  if (!clock.isFrozen() && elapsed > 0) clock.advance(elapsed);
  world.history.enter(undefined, state.exchanges, state.recorded);
  world.counters.restore(state.counts);
  return world;
}
