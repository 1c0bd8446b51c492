import type { ActionErrorCode, SandboxError } from "../rules/errors.js";
import type { FaultOutcomeId } from "../rules/fault-effects.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { type ActionName, actionRefs, type StepKind } from "../scenario/actions.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { type FieldPath, pathText } from "../schema/shape.js";
import { quote } from "../schema/words.js";
import type { KeyView, OrganizationView } from "./views.js";

export type StoryStep = NonNullable<Scenario["story"]>[number];

export type TimelineStep = NonNullable<Scenario["timeline"]>[number];

/** What a step does to its sandbox: one of its members, or none. */
export type StepAction = Pick<TimelineStep, ActionName>;

export interface StoryProgress {
  readonly steps: readonly StoryStep[];
  /** The index of the next step; the number of steps at the end of the story. */
  next: number;
  readonly results: boolean[];
  /** The result of the last step, without a secret; `undefined` before the first one. */
  last: PlayedStep | undefined;
  /** Whether a presenter's first step has frozen a running clock, which goes on after the last step. */
  resumesAtEnd: boolean;
}

/** The timeline of a sandbox, and how far it is. `runDue` runs its steps. */
export interface Timeline {
  /** Each step with the time when it is due (epoch milliseconds). */
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  next: number;
}

const nothing = "nothing";

const longestShown = 300;

/** The result of an action: the new state of the changed key or organization, or the error. */
export interface ActionResult {
  readonly error: { readonly code: ActionErrorCode; readonly message: string } | null;
  readonly key: KeyView | null;
  readonly replacement: KeyView | null;
  /** The full new key, shown only this once (R34). */
  readonly secret: string | null;
  readonly organization: OrganizationView | null;
}

export interface StepDifference {
  /** In the scenario: `["story", 0, "expect", "body", "data", "usage", "today"]`. */
  readonly field: FieldPath;
  /** The value as JSON; `nothing` if there must be none. */
  readonly expected: string;
  readonly found: string;
}

export interface StoryResponse {
  /** 0 without a response. */
  readonly status: number;
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly outcome: OutcomeId;
  readonly fault: FaultOutcomeId | null;
}

/** A request for display: `key` is a ref, `none`, `malformed` or `unknown`. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly times: number;
}

/** The result of a story step: the source of its lines, prose and JSON. */
export interface PlayedStep {
  /** Counted from 1. */
  readonly number: number;
  readonly of: number;
  readonly kind: StepKind;
  readonly step: StoryStep;
  readonly say: string | null;
  readonly request: SentRequest | null;
  readonly response: StoryResponse | null;
  readonly performed: ActionResult | null;
  readonly failure: { readonly code: SandboxError["code"]; readonly message: string } | null;
  readonly timeline: readonly TimelineResult[];
  readonly now: string;
  /** The differences of the step itself. `timeline` has the differences of the timeline steps. */
  readonly differences: readonly StepDifference[];
}

/** The result of a timeline step. Never contains a secret. */
export interface TimelineResult {
  readonly index: number;
  readonly at: string;
  readonly step: TimelineStep;
  readonly performed: ActionResult;
  /** At most one; none if the step has no `expect`, even if it was rejected. */
  readonly differences: readonly StepDifference[];
}

/** Compares the result of an action with the expectation of its step. Without an `error`, the action is to succeed. `step`: `["story", 0]`. */
export function actionDifferences(
  step: FieldPath,
  expected: { readonly error?: ActionErrorCode },
  { error }: ActionResult,
): StepDifference[] {
  const wanted = expected.error;
  if (wanted === error?.code) return [];
  const found = error === null ? nothing : `${quote(error.code)} (${error.message})`;
  return [{ field: [...step, "expect", "error"], expected: shownValue(wanted), found }];
}

/** A value as a difference shows it: JSON, cut if it is long. */
export function shownValue(value: unknown): string {
  if (value === undefined) return nothing;
  const text = JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

/** A difference as results show it, at `status` or `body.data.usage.today`, or at `timeline[3].error` of a step of the timeline. */
export function viewDifference({ field, expected, found }: StepDifference) {
  const [list, index] = field;
  // What follows on `expect`.
  const path = field.slice(3);
  const at = pathText(list === "timeline" ? [list, index as number, ...path] : path); // both have an index
  return { at, expected, found };
}

export function differenceText(difference: StepDifference): string {
  const { at, expected, found } = viewDifference(difference);
  return `${at}: expected ${expected}, found ${found}`;
}

/** The differences of a step, then those of the timeline steps that ran during it. */
export function allDifferences({ differences, timeline }: PlayedStep): StepDifference[] {
  const ofAllSteps = [...differences];
  for (const result of timeline) ofAllSteps.push(...result.differences);
  return ofAllSteps;
}

export function isAsExpected(step: PlayedStep): boolean {
  return step.failure === null && allDifferences(step).length === 0;
}

/**
 * The ref of the key of an action, and the ref of the key that replaces it; `null` where there is none. A ref that the result does
 * not have is as the step writes it. Default of `result`: none yet.
 */
export function keyRefsOf(
  action: StepAction,
  result: Partial<ActionResult> = {},
): { readonly key: string | null; readonly replacement: string | null } {
  const written = actionRefs(action);
  // `create_key` has only a new key, which replaces none.
  if (written.key === undefined) return { key: result.key?.ref ?? written.newKey ?? null, replacement: null };
  const replacement = result.replacement?.ref ?? written.newKey ?? null;
  return { key: result.key?.ref ?? written.key, replacement };
}
