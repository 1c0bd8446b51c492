import type { RefusalCode, SandboxErrorCode } from "../domain/errors.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import { type ActionName, type StepKind, stepKinds } from "../domain/steps.js";
import { parseWhen } from "../scenario/format/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { type Change, nextAssumed } from "./changes.js";
import { isoOf } from "./clock.js";
import type { ConsentView } from "./preview/consent-views.js";
import type { KeyView, OrganizationView } from "./views.js";

export type StoryStep = NonNullable<Scenario["story"]>[number];

export type TimelineStep = NonNullable<Scenario["timeline"]>[number];

export type Action = Pick<TimelineStep, ActionName>;

/** The result of an action: the new state of what it changed, or the refusal. */
export interface Performed {
  /** `null` when it was done. */
  readonly refusal: { readonly code: RefusalCode; readonly message: string } | null;
  /** The key that was created, replaced or revoked. */
  readonly key: KeyView | null;
  readonly replacement: KeyView | null;
  /** The full key of the new one: the only time that it is shown (R34). */
  readonly secret: string | null;
  readonly organization: OrganizationView | null;
  /** The consent request that a farmer has decided about. */
  readonly consent: ConsentView | null;
}

/** One thing that is not as the step expects it. */
export interface Difference {
  /** The part that differs, as in `status` or `body.data.usage.today`. */
  readonly at: string;
  /** As JSON; `nothing` stands for what must not be there. */
  readonly expected: string;
  readonly found: string;
}

/** The story of a world, and how far it has run. */
export interface Story {
  readonly steps: readonly StoryStep[];
  /** The index of the next step; the number of steps when the story is over. */
  next: number;
  /** Whether each step that ran was as expected, by its index; those before a restart are left out. */
  readonly verdicts: Map<number, boolean>;
  /** The result of the last step, without a secret; `undefined` when none ran since the start. */
  last: StepResult | undefined;
}

/** The story of these steps, of which `stepsRun` have run. */
export function createStory(steps: readonly StoryStep[], stepsRun = 0): Story {
  return { steps, next: Math.min(stepsRun, steps.length), verdicts: new Map(), last: undefined };
}

/** The steps of a world's timeline, and how far it has run. */
export interface Timeline {
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  next: number;
  /** When the next step happens, or an announced change sets assumptions (epoch milliseconds); `Infinity` when none is left. */
  dueAt: number;
}

/** The timeline of a scenario whose clock starts at `start` (epoch milliseconds). */
export function createTimeline(
  steps: readonly TimelineStep[],
  start: number,
  changes?: readonly Change[],
): Timeline {
  const timed = steps.map((step) => ({ step, at: parseWhen(step.at, start) ?? start }));
  const first = timed[0]?.at ?? Number.POSITIVE_INFINITY;
  return { steps: timed, next: 0, dueAt: Math.min(first, nextAssumed(changes, start)) };
}

/** The steps that are still to come, each with its instant, so that they mean the same to a later start. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoOf(at) }));
}

/** A request of a story, ready to be sent. */
export interface StoryRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface StoryAnswer {
  /** 0 when there was no answer. */
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly pathId: PathId;
  readonly fault: FaultPathId | null;
}

/** Sends a request to the API of the world and returns what came back. */
export type SendStoryRequest = (request: StoryRequest) => StoryAnswer;

/** A request as it is shown: of the key its ref, or `none`, `malformed` or `unknown`. */
export interface SentRequest extends Omit<StoryRequest, "headers" | "body"> {
  readonly body: string | null;
  readonly key: string;
  /** Without the key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly times: number;
}

/** The result of a step of the story: everything that the lines, the prose and the JSON about it are made from. */
export interface StepResult {
  /** Counted from 1. */
  readonly number: number;
  readonly of: number;
  readonly kind: StepKind;
  readonly step: StoryStep;
  readonly say: string | null;
  readonly request: SentRequest | null;
  /** The last one, of a request that was sent several times. */
  readonly answer: StoryAnswer | null;
  readonly performed: Performed | null;
  /** Why the step could not run at all. */
  readonly failure: { readonly code: SandboxErrorCode; readonly message: string } | null;
  /** The steps of the timeline that happened during this one. */
  readonly timeline: readonly TimelineResult[];
  /** The clock after the step; ISO 8601. */
  readonly now: string;
  /** Empty when all was as expected, the steps of the timeline included. */
  readonly differences: readonly Difference[];
}

/** The result of a step of the timeline. Never holds a secret. */
export interface TimelineResult {
  /** Counted from 0. */
  readonly index: number;
  /** When, on the sandbox's clock; ISO 8601. */
  readonly at: string;
  readonly step: TimelineStep;
  readonly performed: Performed;
  /** One when the step expects something else; a step that expects nothing may be refused. */
  readonly differences: readonly Difference[];
}

export function kindOf(step: StoryStep): StepKind {
  return stepKinds.find((kind) => step[kind] !== undefined) ?? "say";
}

/** Whether everything about a step was as the scenario says. */
export function isAsExpected({ failure, differences }: Pick<StepResult, "failure" | "differences">): boolean {
  return failure === null && differences.length === 0;
}

/** The refs of the keys that an action is about, also where it was refused. */
export function keysOf(
  action: Action,
  { key, replacement }: Pick<Performed, "key" | "replacement">,
): { readonly key: string | null; readonly replacement: string | null } {
  const given = action.rotate?.key ?? action.revoke?.key ?? action.create_key?.ref;
  return {
    key: key?.ref ?? given ?? null,
    replacement: replacement?.ref ?? action.rotate?.as ?? null,
  };
}
