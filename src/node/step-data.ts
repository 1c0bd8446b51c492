import { snakeCase } from "../api/snake-case.js";
import { redactKeys } from "../domain/redact.js";
import type { StepEvent } from "../sandbox/events.js";
import { keysOf } from "../sandbox/story/step-details.js";

/** What machines are told of a step of the timeline or the story. Holds no key in full. */
export function stepData(event: StepEvent): Record<string, unknown> {
  const { type: _, details, ...data } = event;
  if (details.kind === "timeline") {
    const { step, performed } = details;
    const message = performed.refusal?.message ?? null;
    return plain({ ...data, ...keysOf(step, performed), message });
  }
  const { step, told } = details;
  const { request, performed, differences } = told;
  const keys =
    performed === null ? { key: request?.key ?? null, replacement: null } : keysOf(step, performed);
  return plain({
    at: told.now,
    ...data,
    ...keys,
    advance: step.advance ?? null,
    refusal: performed?.refusal?.code ?? null,
    message: performed?.refusal?.message ?? null,
    differences,
  });
}

// What a client or a scenario wrote may hold a key.
function plain(data: object): Record<string, unknown> {
  return JSON.parse(redactKeys(JSON.stringify(snakeCase(data))));
}
