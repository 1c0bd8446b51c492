import { snakeCase } from "../../rules/schema/json.js";
import type { PlayedStep } from "../steps.js";
import { errorCodeOf } from "./run-step.js";
import { actionSentences, stepText } from "./step-text.js";

/** Contains the key that the step made. */
export function stepJson(result: PlayedStep) {
  return snakeCase(stepView(result)) as Record<string, unknown>;
}

export function stepView(result: PlayedStep) {
  const { step: _, response, timeline, ...shown } = result;
  const meanwhile = timeline.map(({ index, at, step, performed }) => ({
    timelineStep: index + 1,
    at,
    text: actionSentences(step, performed),
    ...rejectionOf(performed),
  }));
  const text = stepText(result);
  return {
    ...shown,
    text,
    response: response && { ...response, code: errorCodeOf(response) },
    meanwhile,
  };
}

export function rejectionOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.rejection ?? {};
  return { rejection: code, message };
}
