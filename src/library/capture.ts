import { storySender } from "../api/story-sender.js";
import { SandboxError } from "../domain/errors.js";
import { redactValue } from "../domain/redact.js";
import type { Beginning } from "../history/history.js";
import { isReserved } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { requireFields } from "../schema/check.js";
import { isoOf } from "../world/clock.js";
import { createWorld } from "../world/create-world.js";
import { snapshotWorld } from "../world/snapshot.js";
import type { StoryStep, TimelineStep } from "../world/steps.js";
import { tryNextStep } from "../world/story/run-step.js";
import type { World } from "../world/world.js";
import {
  type CapturedStep,
  differenceBetween,
  operationStep,
  requestStep,
  storyOf,
} from "./captured-steps.js";

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
 * same response. It has the same results everywhere, and contains no key.
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
  const chosen = steps.slice(first, last + 1);
  const { start, timeline, differs } = repeat(world, beginning, steps.slice(0, last + 1), first);
  if (differs !== undefined) throw notTheSame(differs);
  const kept = withoutOthers(world, start, chosen, key);
  const base = { ...start, scenario: { ...start.scenario, ...(timeline.length > 0 && { timeline }) } };
  const facts = { number: firstNumber(kept, world), about: aboutOf(world, kept) };
  // A client or a scenario may have written a key anywhere (R46).
  return redactValue(withStory(base, storyOf(kept, start.at), facts));
}

function firstNumber(steps: readonly CapturedStep[], { requestIds }: World): number {
  return steps.find(({ exchange }) => exchange !== undefined)?.exchange?.number ?? requestIds.answered() + 1;
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

interface Repeated {
  /** The state before the step of index `first`. */
  readonly start: Beginning;
  /** The rest of the timeline, with the results of its steps. */
  readonly timeline: TimelineStep[];
  /** The first later step with a different result. */
  readonly differs: CapturedStep | undefined;
}

/** Repeats steps in a new sandbox that starts with an earlier state. */
function repeat(
  original: World,
  beginning: Beginning,
  steps: readonly CapturedStep[],
  first: number,
  { ignoresIds = false } = {},
): Repeated {
  const story = steps.map(({ at: then, step }, index) => {
    const before = steps[index - 1]?.at ?? beginning.at;
    return then > before ? { ...step, after: `${then - before}ms` as const } : step;
  });
  const scenario = withStory(beginning, story, { number: firstNumber(steps, original) });
  const world = createWorld(scenario, { platform: original.platform });
  const outcomes = new Map<number, TimelineStep>();
  world.history.subscribe((event) => {
    if (event.type !== "timeline.step") return;
    const { expect: _, ...step } = event.result.step;
    const { refusal } = event.result.performed;
    outcomes.set(event.result.index, refusal === null ? step : { ...step, expect: { error: refusal.code } });
  });
  const send = storySender(world);
  let start = beginning;
  let passed = 0;
  let differs: CapturedStep | undefined;
  for (const [index, one] of steps.entries()) {
    if (index === first && first > 0) {
      start = { scenario: snapshotWorld(world), at: world.clock.now() };
      passed = world.timeline.next;
    }
    const result = tryNextStep(world, send);
    if (index < first) continue;
    const { answer = null, performed = null, failure = null } = result ?? {};
    const isSame =
      one.exchange === undefined
        ? failure === null && performed?.refusal?.code === one.step.expect?.error
        : answer !== null && differenceBetween(one.exchange, answer, { ignoresIds }) === undefined;
    if (!isSame) {
      differs = one;
      break;
    }
  }
  const left = start.scenario.timeline ?? [];
  const timeline = left.map((step, index) => {
    const outcome = outcomes.get(passed + index);
    return outcome === undefined ? step : { ...outcome, at: step.at };
  });
  return { start, timeline, differs };
}

// Leaves out requests of probes and other keys if they change no result. Otherwise they stay, without expectations.
function withoutOthers(
  world: World,
  start: Beginning,
  chosen: readonly CapturedStep[],
  key: string | undefined,
): readonly CapturedStep[] {
  const isOthers = ({ exchange, step }: CapturedStep) =>
    exchange !== undefined && (exchange.isProbe || (key !== undefined && step.request?.key !== key));
  const own = chosen.filter((one) => !isOthers(one));
  if (own.length === chosen.length) return chosen;
  if (!own.some(({ exchange }) => exchange !== undefined))
    throw impossible(
      `the sandbox got no request ${key === undefined ? "of a client" : `with the key ${key}`} there`,
    );
  if (repeat(world, start, own, 0, { ignoresIds: true }).differs === undefined) return own;
  return chosen.map((one) =>
    isOthers(one) ? { ...one, step: { request: one.step.request } as StoryStep } : one,
  );
}

interface StoryFacts {
  /** The number of the first request. */
  readonly number: number;
  readonly about?: Pick<Scenario, "name" | "description">;
}

function withStory({ scenario, at }: Beginning, story: StoryStep[], { number, about }: StoryFacts): Scenario {
  const { version, name: _, description: __, requests_answered: ___, clock: ____, ...rest } = scenario;
  const { organizations } = rest;
  return {
    version,
    ...about,
    ...(number > 1 && { requests_answered: number - 1 }),
    clock: { now: isoOf(at), frozen: true },
    ...rest,
    ...(organizations !== undefined && { organizations: withoutSecrets(organizations) }),
    story,
  };
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

function aboutOf(world: World, steps: readonly CapturedStep[]): Pick<Scenario, "name" | "description"> {
  const ids = idsOf(steps);
  const requests =
    ids.length === 1 ? `the request ${ids[0]}` : `${ids.length} requests, ${ids[0]} to ${ids.at(-1)}`;
  const operations = steps.length - ids.length;
  const others =
    operations === 0 ? "" : `, and ${operations} ${operations === 1 ? "operation" : "operations"}`;
  return {
    name: `Captured: ${world.scenario.name ?? world.name}`.slice(0, 200),
    description: `Captured from a sandbox: ${requests}${others}. The story expects the same responses.`,
  };
}

function notTheSame({ exchange, step }: CapturedStep): SandboxError {
  const what =
    exchange === undefined ? `the operation ${Object.keys(step)[0]}` : `the request ${exchange.id}`;
  return impossible(`${what} has another result when repeated. Capture later requests with from`);
}

function impossible(why: string): SandboxError {
  return new SandboxError("capture_impossible", `Failed to capture the requests: ${why}.`);
}
