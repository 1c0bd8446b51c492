import type { PlayedStep } from "../../sandbox/step-results.js";
import { errorCodeOf } from "./expectation.js";
import { actionSentences, clockSentence } from "./step-text.js";

/** The result of a step as the control plane and `play --json` show it, with its sentences. Contains the secret of a key that the step made. */
export function stepView(result: PlayedStep) {
  const { step: _, response, timeline, ...shown } = result;
  const meanwhile = timeline.map(({ index, at, step, performed }) => {
    const text = actionSentences(step, performed);
    return { timelineStep: index + 1, at, text, ...actionErrorOf(performed) };
  });
  const text = stepText(result);
  const shownResponse = response && { ...response, code: errorCodeOf(response) };
  return { ...shown, text, response: shownResponse, meanwhile };
}

/** The error of an action that was rejected. */
export function actionErrorOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.error ?? {};
  return { error: code, message };
}

/** Describes a step in sentences; `null` for narration, a request, and a step that could not run. */
function stepText({ step, performed, failure, now }: PlayedStep): string | null {
  if (performed !== null) return actionSentences(step, performed);
  if (step.advance === undefined || failure !== null) return null;
  return clockSentence(step.advance, now);
}
