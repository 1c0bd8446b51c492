import type { ActionErrorCode } from "../../rules/errors.js";
import { allDifferences, type PlayedStep, type StoryResponse, viewDifference } from "../../sandbox/steps.js";
import { errorCodeOf } from "./run-story.js";
import { stepText, summarizeAction } from "./summarize.js";

/** The error of an action that was rejected; `null` without one. */
interface ActionErrorView {
  readonly error: ActionErrorCode | null;
  readonly message: string | null;
}

/** A step of the timeline that ran during a step of the story. */
interface MeanwhileView extends ActionErrorView {
  /** Counted from 1. */
  readonly timelineStep: number;
  readonly at: string;
  readonly text: string;
}

/** The result of a step with its texts, for people. */
interface StepView extends Omit<PlayedStep, "step" | "response" | "timeline" | "differences"> {
  /** See `stepText`. */
  readonly text: string | null;
  readonly response: (StoryResponse & { readonly code: string | null }) | null;
  readonly meanwhile: readonly MeanwhileView[];
  /** Those of the step and of the steps of the timeline. */
  readonly differences: readonly ReturnType<typeof viewDifference>[];
}

/** The result of a step as the control plane, `play --json` and `verify --json` show it. Contains the secret of a key that the step made. */
export function stepView(result: PlayedStep): StepView {
  const { step: _, response, timeline, ...shown } = result;
  const meanwhile = timeline.map(({ index, at, step, performed }) => {
    const text = summarizeAction(step, performed);
    return { timelineStep: index + 1, at, text, ...actionErrorOf(performed) };
  });
  const text = stepText(result);
  const shownResponse = response && { ...response, code: errorCodeOf(response) };
  const differences = allDifferences(result).map(viewDifference);
  return { ...shown, text, response: shownResponse, meanwhile, differences };
}

export function actionErrorOf(performed: PlayedStep["performed"]): ActionErrorView {
  const { code = null, message = null } = performed?.error ?? {};
  return { error: code, message };
}
