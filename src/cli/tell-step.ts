import { coreSender } from "../api/core-sender.js";
import { SandboxError, type SandboxErrorCode } from "../domain/errors.js";
import type { Action } from "../sandbox/operations/perform-action.js";
import type { Runtime } from "../sandbox/runtime.js";
import type { Difference } from "../sandbox/story/difference.js";
import type { StoryStep, ToldStep } from "../sandbox/story/story.js";
import { tellNext, withoutOutcome } from "../sandbox/story/tell.js";
import type { World } from "../sandbox/world.js";

/** A step that was told, with what the telling has to say of it beside. */
export interface TellingStep extends ToldStep {
  /** As the scenario writes it. */
  readonly step: StoryStep;
  /** Why it could not be told; `null` when it was. */
  readonly failure: { readonly code: SandboxErrorCode; readonly message: string } | null;
  /** What the timeline did meanwhile. */
  readonly meanwhile: readonly Happened[];
}

/** A step of a timeline that was taken. */
export interface Happened {
  /** Its place in the timeline, counted from 0. */
  readonly index: number;
  /** ISO 8601. */
  readonly at: string;
  readonly action: Action;
  /** The code with which it was refused. */
  readonly refusal: string | null;
  /** Why it was refused, in a sentence. */
  readonly message: string | null;
}

/**
 * Tells the next step of the story of the world that runs, straight to its API; `undefined` when the story is over.
 *
 * What our tool refuses (a key that cannot be sent, a clock that goes no further) makes a step that failed. What the
 * timeline does may be refused, as it may be for an administrator, and is shown then; what one of its steps expects, and
 * what does not come, is a difference of the step it happened in.
 */
export async function tellStep(runtime: Runtime): Promise<TellingStep | undefined> {
  const taken: Taken[] = [];
  const unsubscribe = runtime.subscribe((event) => {
    if (event.type !== "timeline.step") return;
    const { step: action, performed } = event.details;
    taken.push({ ...event, action, message: performed.refusal?.message ?? null });
  });
  try {
    const world = runtime.world();
    const step = world.story.steps[world.story.next];
    if (step === undefined) return undefined;
    const told = await toldOrFailed(world, step);
    const first = world.timeline.next - taken.length;
    const meanwhile = taken.map(({ at, refusal, message, action }, index) => ({
      index: first + index,
      at,
      refusal,
      message,
      action,
    }));
    const late = taken.flatMap((one, index) =>
      one.expected === null || one.refusal === one.expected ? [] : [timelineDifference(first + index, one)],
    );
    return { ...told, step, meanwhile, differences: [...told.differences, ...late] };
  } finally {
    unsubscribe();
  }
}

/** Whether everything about the step was as the scenario says. */
export function isAsExpected({ failure, differences }: TellingStep): boolean {
  return failure === null && differences.length === 0;
}

interface Taken extends Omit<Happened, "index"> {
  readonly expected: string | null;
}

type Told = ToldStep & Pick<TellingStep, "failure">;

async function toldOrFailed(world: World, step: StoryStep): Promise<Told> {
  try {
    const told = await tellNext(world, coreSender(world));
    return { ...(told as ToldStep), failure: null };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const failure = { code: error.code, message: error.message };
    return { ...withoutOutcome(world, step, world.story.next), failure };
  }
}

function timelineDifference(index: number, { expected, refusal, message }: Taken): Difference {
  const found = refusal === null ? "nothing" : `${JSON.stringify(refusal)} (${message})`;
  return { at: `timeline[${index}].error`, expected: JSON.stringify(expected), found };
}
