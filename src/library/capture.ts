import { isoOf } from "../sandbox/clock.js";
import type { Beginning } from "../sandbox/history/history.js";
import type { StoryStep, TimelineStep } from "../sandbox/steps.js";
import type { World } from "../sandbox/world.js";
import { isReserved } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { SandboxError } from "../spec/errors.js";
import { redactValue } from "../spec/redact.js";
import { requireFields } from "../spec/schema/check.js";
import { type CapturedStep, operationStep, requestStep, storyOf } from "./captured-steps.js";

/** The requests to capture. */
export interface CaptureOptions {
  /** The id of the first request. Default: the oldest one that is kept. */
  readonly from?: string | undefined;
  /** The id of the last request. Default: captures everything up to now. */
  readonly to?: string | undefined;
  /** Only requests with the key of this ref, or with `none`, `malformed` or `unknown`. Default: all. */
  readonly key?: string | undefined;
}

/**
 * Captures requests and operations as a scenario: the state before them, and a story that repeats each one and expects the
 * same response. Other requests stay without expectations, because responses may depend on them. It contains no key.
 *
 * Throws `capture_impossible` if a story cannot repeat them, `not_found` for a request that is not kept, `unknown_ref`, and
 * `validation_failed` for a range that ends before it starts.
 */
export function captureWorld(world: World, { from, to, key }: CaptureOptions = {}): Scenario {
  const { beginning, steps } = recordedSteps(world);
  const first = from === undefined ? 0 : indexOf(from, steps);
  const last = to === undefined ? steps.length - 1 : indexOf(to, steps);
  requireFields("capture the requests", {
    from: first > last ? `is ${from}, which came after ${to}: exchange the two` : undefined,
  });
  if (key !== undefined && !isReserved(key)) world.registry.key(key);
  const isChosen = ({ exchange, step }: CapturedStep, index: number) =>
    exchange !== undefined &&
    index >= first &&
    !exchange.isProbe &&
    (key === undefined || step.request?.key === key);
  const all = steps.slice(0, last + 1);
  const start = all.findIndex(isChosen);
  if (start === -1)
    throw impossible(
      `the sandbox got no request ${key === undefined ? "of a client" : `with the key ${key}`} there`,
    );
  const story = storyOf(
    all.map((one, index) =>
      one.exchange === undefined || isChosen(one, index)
        ? one
        : { ...one, step: { request: one.step.request } as StoryStep },
    ),
    { since: beginning.at, start },
  );
  // A client or a scenario may have written a key anywhere (R46).
  return redactValue(scenarioOf(world, beginning, { story, all, chosen: all.filter(isChosen) }));
}

/** Everything that a story can repeat, in order. */
function recordedSteps({ history }: World): { beginning: Beginning; steps: readonly CapturedStep[] } {
  const { beginning, entries } = history.recorded();
  if (beginning === undefined) {
    throw impossible(
      "the sandbox no longer keeps the state before its last requests, as it has too many keys to copy. Reset it, and capture within a thousand requests",
    );
  }
  const steps = entries.flatMap((one) => ("pathId" in one ? requestStep(one) : (operationStep(one) ?? [])));
  if (steps.some(({ exchange }) => exchange !== undefined)) return { beginning, steps };
  const why =
    history.total() === 0
      ? "the sandbox got no request yet, or none since its reset"
      : "the sandbox got no request since the last one that a story cannot repeat: your handler responded to it, or it has a key in its body";
  throw impossible(why);
}

function indexOf(id: string, steps: readonly CapturedStep[]): number {
  const index = steps.findIndex(({ exchange }) => exchange?.id === id);
  if (index !== -1) return index;
  const ids = idsOf(steps);
  const message = `The request ${JSON.stringify(id)} cannot be captured; the first one is ${ids[0]}, the last one ${ids.at(-1)}.`;
  throw new SandboxError("not_found", message);
}

function idsOf(steps: readonly CapturedStep[]): string[] {
  return steps.flatMap(({ exchange }) => exchange?.id ?? []);
}

interface Captured {
  readonly story: StoryStep[];
  /** Everything that it repeats. */
  readonly all: readonly CapturedStep[];
  /** The requests whose responses it expects. */
  readonly chosen: readonly CapturedStep[];
}

function scenarioOf(world: World, { scenario, at }: Beginning, { story, all, chosen }: Captured): Scenario {
  const { version, name: _, description: __, requests_answered: ___, clock: ____, ...rest } = scenario;
  const { timeline, organizations } = rest;
  const earlier = (all.find(({ exchange }) => exchange !== undefined)?.exchange?.number ?? 1) - 1;
  const ids = idsOf(chosen);
  const requests =
    ids.length === 1 ? `the request ${ids[0]}` : `${ids.length} requests, ${ids[0]} to ${ids.at(-1)}`;
  const start = earlier === 0 ? "" : ` It starts after request ${earlier}.`;
  return {
    version,
    name: `Captured: ${world.scenario.name ?? world.name}`.slice(0, 200),
    description: `Captured from a sandbox: ${requests}. The story expects the same responses.${start}`,
    ...(earlier > 0 && { requests_answered: earlier }),
    clock: { now: isoOf(at), frozen: true },
    ...rest,
    ...(timeline !== undefined && { timeline: withOutcomes(timeline, world) }),
    ...(organizations !== undefined && { organizations: withoutSecrets(organizations) }),
    story,
  };
}

// Operations may have changed whether a step of the timeline was rejected.
function withOutcomes(left: readonly TimelineStep[], { timeline }: World): TimelineStep[] {
  const passed = timeline.steps.length - left.length;
  return left.map((given, index) => {
    if (passed + index >= timeline.next) return given;
    const { expect: _, ...step } = given;
    const error = timeline.refusals.get(passed + index);
    return error === undefined ? step : { ...step, expect: { error } };
  });
}

type Organizations = NonNullable<Scenario["organizations"]>;

// The seed makes other secrets. No response depends on them, so a story can send each key by its ref.
function withoutSecrets(organizations: Organizations): Organizations {
  const secret = ["secret", "sha256"] as const;
  const isPinned = ({ keys = {} }: Organizations[string]) =>
    Object.values(keys).some((key) => secret.some((name) => key[name] !== undefined));
  if (!Object.values(organizations).some(isPinned)) return organizations;
  const entries = Object.entries(organizations).map(([ref, organization]) => {
    const keys = Object.entries(organization.keys ?? {}).map(
      ([keyRef, { secret: _, sha256: __, ...key }]) => [keyRef, key],
    );
    return [ref, { ...organization, keys: Object.fromEntries(keys) }];
  });
  return Object.fromEntries(entries);
}

function impossible(why: string): SandboxError {
  return new SandboxError("capture_impossible", `Failed to capture the requests: ${why}.`);
}
