import type { Counts } from "../../sandbox/counters.js";
import { createWorld } from "../../sandbox/create-world.js";
import type { PlainNote } from "../../sandbox/journal.js";
import { type RemainingWorld, remainingWorld, restoreWorld } from "../../sandbox/remaining-world.js";
import type { GivenOptions, Runtime } from "../../sandbox/runtime.js";
import type { StepResult, Timeline } from "../../sandbox/story/story.js";
import type { Platform, World } from "../../sandbox/world.js";
import type { DescribedInstance, Instances } from "../control/instances.js";

/** A sandbox as plain data: all that a client or a person can see of it. */
interface DescribedRuntime extends RemainingWorld {
  readonly name: string;
  readonly text: string | undefined;
  /** When the keys were last counted (epoch milliseconds), by ref. */
  readonly countedAt: Readonly<Record<string, number>>;
  /** With the steps that ran, so that the others keep their numbers. */
  readonly timeline: Pick<Timeline, "steps" | "next">;
  readonly verdicts: readonly (readonly [step: number, asExpected: boolean])[];
  readonly last: StepResult | undefined;
  readonly notes: readonly PlainNote[];
  readonly recorded: number;
  readonly counts: Counts;
}

/** Everything that a replica holds, as plain data. What clients knew when (for advice on bursts) is left out. */
export interface ReplicaState {
  /** Of the entry behind which it was described (epoch milliseconds). */
  readonly at: number;
  readonly idSeries: number;
  readonly own: DescribedRuntime;
  readonly instances: readonly (DescribedInstance & {
    readonly given: GivenOptions;
    readonly runtime: DescribedRuntime;
  })[];
}

/** Describes a server's own sandbox and its instances. */
export function describeReplica(runtime: Runtime, instances: Instances, at: number): ReplicaState {
  return {
    at,
    idSeries: runtime.idSeries.last,
    own: describeRuntime(runtime),
    instances: instances.list().map(({ id, label, createdAt, usedAt, runtime: inside }) => ({
      ...{ id, label, createdAt, usedAt, given: inside.given },
      runtime: describeRuntime(inside),
    })),
  };
}

function describeRuntime(runtime: Runtime): DescribedRuntime {
  const world = runtime.world();
  const { story, journal, registry, timeline } = world;
  const counted = [...registry.keys.values()].flatMap(({ key: { ref }, usage: { countedAt } }) =>
    countedAt === undefined ? [] : [[ref, countedAt] as const],
  );
  return {
    ...remainingWorld(world),
    name: world.name,
    text: world.text,
    countedAt: Object.fromEntries(counted),
    timeline: { steps: timeline.steps, next: timeline.next },
    verdicts: [...story.verdicts],
    last: story.last,
    notes: journal.describe(),
    recorded: journal.total(),
    counts: runtime.counters.read(),
  };
}

/** The world of a described sandbox, and how `reset` starts it again; counters and instances are for the caller. */
export function startersOf(described: DescribedRuntime, platform: Platform) {
  const { name, text, scenario } = described;
  return {
    start: (): World => startDescribed(described, platform),
    restart: (): World => createWorld(scenario, { platform, name, text }),
  };
}

function startDescribed(described: DescribedRuntime, platform: Platform): World {
  const { name, text, countedAt, timeline, verdicts, last, notes, recorded } = described;
  const world = restoreWorld(described, 0, { platform, name, text });
  const { registry, story, journal } = world;
  Object.assign(world.timeline, timeline);
  for (const [ref, at] of Object.entries(countedAt)) registry.key(ref).usage.countedAt = at;
  for (const [step, asExpected] of verdicts) story.verdicts.set(step, asExpected);
  story.last = last;
  journal.restore(notes, recorded, (ref) => registry.keys.get(ref)?.key);
  world.recording.restart();
  return world;
}
