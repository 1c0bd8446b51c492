import { allDifferences, type PlayedStep, viewDifference } from "../../sandbox/steps.js";
import { errorCodeOf } from "./run-story.js";
import { stepText, summarizeAction } from "./summarize.js";

/**
 * The result of a step with its texts for people, as the control plane, `play --json` and `verify --json` show it. Contains the
 * secret of a key that the step made.
 */
export function stepView(result: PlayedStep) {
  const { step: _, response, timeline, ...shown } = result;
  // The steps of the timeline that ran during the step, counted from 1.
  const meanwhile = timeline.map(({ index, at, step, performed }) => {
    const text = summarizeAction(step, performed);
    return { timelineStep: index + 1, at, text, ...actionErrorOf(performed) };
  });
  const text = stepText(result);
  const shownResponse = response && { ...response, code: errorCodeOf(response) };
  const differences = allDifferences(result).map(viewDifference);
  return { ...shown, text, response: shownResponse, meanwhile, differences };
}

/** The error of an action that was rejected; `null` without one. */
export function actionErrorOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.error ?? {};
  return { error: code, message };
}
