import { redactValue } from "../rules/redact.js";
import { snakeCase } from "../rules/schema/json.js";
import { actionIn } from "../sandbox/operations/operations.js";
import {
  isAsExpected,
  keyRefsOf,
  type PlayedStep,
  type StepEvent,
  type TimelineResult,
} from "../sandbox/steps.js";
import { errorCodeOf } from "../sandbox/story/run-step.js";
import { actionSentences, stepText } from "../sandbox/story/step-text.js";

/** Contains no full key. */
export function stepData(event: StepEvent): Record<string, unknown> {
  const data = event.type === "timeline.step" ? timelineData(event.result) : storyData(event.result);
  // A client or a scenario may have written a key anywhere.
  return redactValue(snakeCase(data) as Record<string, unknown>);
}

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

function timelineData({ at, step, performed }: TimelineResult) {
  return {
    at,
    action: actionIn(step),
    expected: step.expect?.error ?? null,
    ...keyRefsOf(step, performed),
    ...rejectionOf(performed),
  };
}

function storyData(result: PlayedStep) {
  const { number, of, kind, say, step, request, response, performed, now, differences } = result;
  return {
    at: now,
    step: number,
    of,
    kind,
    say,
    pathId: response?.pathId ?? null,
    asExpected: isAsExpected(result),
    ...(performed === null ? { key: request?.key ?? null, replacement: null } : keyRefsOf(step, performed)),
    advance: step.advance ?? null,
    ...rejectionOf(performed),
    differences,
  };
}

function rejectionOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.rejection ?? {};
  return { rejection: code, message };
}
