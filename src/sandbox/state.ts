import type { Scenario } from "../scenario/scenario.generated.js";
import { lastClockInstant } from "./clock.js";
import type { Counters, Counts } from "./counters.js";
import { createWorld } from "./create-world.js";
import type { Exchange } from "./history/exchange.js";
import { createRuntime, type Runtime, type RuntimeOptions } from "./runtime.js";
import { snapshotWorld } from "./snapshot.js";
import { createStory, type StepResult, type Timeline } from "./steps.js";
import type { Platform, World } from "./world.js";

/** Everything of a `World` that a client or a person can see, as plain data. It omits what clients knew, and when. */
export interface WorldState {
  /** When it was described, on the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly name: string;
  readonly text: string | undefined;
  /** The scenario that `reset` starts again. */
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
}

/** A runtime as plain data, without its options. */
export interface RuntimeState extends WorldState {
  /** Without zeros. */
  readonly counts: Counts;
}

/** Describes a `World`; changes nothing. */
export function describeWorld(world: World): WorldState {
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
  };
}

/**
 * Starts a `World` that continues a described one. Its clock advances by the time in between, unless it is frozen.
 *
 * The snapshot must contain all keys of `scenario`.
 */
export function restoreWorld(state: WorldState, platform: Platform): World {
  const { at, name, text, scenario, snapshot, stepsRun, verdicts, lastStep } = state;
  const world = createWorld(snapshot, { platform, name, text });
  const { registry, clock, history } = world;
  for (const [ref, countedAt] of Object.entries(state.countedAt)) {
    registry.key(ref).usage.countedAt = countedAt;
  }
  Object.assign(world.timeline, state.timeline);
  const story = createStory(scenario.story ?? [], stepsRun);
  for (const [step, asExpected] of verdicts) story.verdicts.set(step, asExpected);
  story.last = lastStep;
  Object.assign(world, { scenario, story });
  const elapsed = Math.min(platform.time() - at, lastClockInstant - clock.now());
  if (!clock.isFrozen() && elapsed > 0) clock.advance(elapsed);
  history.restore(state.exchanges, state.recorded);
  return world;
}

/** Describes the current `World` of a runtime, and its counts. */
export function describeRuntime(runtime: Runtime): RuntimeState {
  return { ...describeWorld(runtime.world()), counts: describeCounts(runtime.counters) };
}

/** Describes counts, without zeros. */
export function describeCounts({ read }: Counters): Counts {
  const counts = read();
  const counted = <Rows extends object>(rows: Rows) =>
    Object.fromEntries(
      Object.entries(rows).filter(([, { count, previewCount = 0 }]) => count + previewCount > 0),
    ) as Rows;
  return { ...counts, paths: counted(counts.paths), advice: counted(counts.advice) };
}

/** Restores what `describeRuntime` returned, into the runtime `there` or a new one with the options. */
export function restoreRuntime(
  state: RuntimeState,
  platform: Platform,
  options: Pick<RuntimeOptions, "given" | "idGroup">,
  there?: Runtime,
): Runtime {
  const { name, text, scenario } = state;
  const start = () => restoreWorld(state, platform);
  const restart = () => createWorld(scenario, { platform, name, text });
  const runtime = there ?? createRuntime(start, { ...options, restart });
  there?.replace(start(), restart);
  runtime.counters.restore(state.counts);
  return runtime;
}
