import type { PlayedStep } from "../../sandbox/step-results.js";
import { errorCodeOf } from "./expectation.js";
import { actionSentences, clockSentence } from "./step-text.js";

/** Contains the key that the step made. */
export function stepView(result: PlayedStep) {
  const { step: _, response, timeline, ...shown } = result;
  const meanwhile = timeline.map(({ index, at, step, performed }) => ({
    timelineStep: index + 1,
    at,
    text: actionSentences(step, performed),
    ...actionErrorOf(performed),
  }));
  const text = stepText(result);
  return {
    ...shown,
    text,
    response: response && { ...response, code: errorCodeOf(response) },
    meanwhile,
  };
}

export function actionErrorOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.error ?? {};
  return { error: code, message };
}

/** Describes a step in sentences; `null` for narration, a request, and a step that could not run. */
function stepText({ step, performed, failure, now }: PlayedStep): string | null {
  if (performed !== null) return actionSentences(step, performed);
  return step.advance === undefined || failure !== null ? null : clockSentence(step.advance, now);
}
