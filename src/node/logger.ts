import { actionErrorOf } from "../api/story/step-view.js";
import { actionIn } from "../rules/actions.js";
import { redactKeys, redactValue } from "../rules/redact.js";
import { snakeCase } from "../rules/schema/json.js";
import { isoOf } from "../rules/time.js";
import type { SandboxEvent, StepEvent } from "../sandbox/journal/events.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { isAsExpected, keyRefsOf, type PlayedStep, type TimelineResult } from "../sandbox/step-results.js";
import { viewRequest } from "../sandbox/views.js";
import { nodePlatform } from "./platform.js";

type LoggedEvent = StepEvent | Extract<SandboxEvent, { readonly type: "request" }>;

export interface Logger {
  readonly event: (event: LoggedEvent) => void;
  readonly note: (message: string) => void;
  /** Something to look at, although the server continues. */
  readonly warning: (message: string) => void;
  /** A change through the control plane, or a rejected token: `POST /__sandbox/keys/main/revoke` with `409 name_taken`. */
  readonly controlCall: (entry: { readonly call: string; readonly result: string }) => void;
  readonly problem: (message: string) => void;
}

/** Requests have the journal's member names. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): Logger {
  // `time` is real, as in other logs; the `at` of events is the time of the sandbox's clock.
  const line = (level: "info" | "warning" | "error", members: Readonly<Record<string, unknown>>) =>
    write(`${JSON.stringify({ level, time: isoOf(nodePlatform.time()), ...members })}\n`);
  return {
    event(event) {
      const data = event.type === "request" ? requestJson(event.exchange) : stepData(event);
      line("info", { event: event.type, ...data });
    },
    note: (message) => line("info", { event: "note", message: redactKeys(message) }),
    warning: (message) => line("warning", { event: "warning", message: redactKeys(message) }),
    controlCall: ({ call, result }) => line("info", { event: "control", call: redactKeys(call), result }),
    problem: (message) => line("error", { event: "problem", message: redactKeys(message) }),
  };
}

/** Contains no full key. */
function stepData(event: StepEvent): Record<string, unknown> {
  const data = event.type === "timeline.step" ? timelineData(event.result) : storyData(event.result);
  // A client or a scenario may have written a key anywhere.
  return redactValue(snakeCase(data) as Record<string, unknown>);
}

function timelineData({ at, step, performed }: TimelineResult) {
  return {
    at,
    action: actionIn(step),
    expected: step.expect?.error ?? null,
    ...keyRefsOf(step, performed),
    ...actionErrorOf(performed),
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
    outcome: response?.outcome ?? null,
    asExpected: isAsExpected(result),
    ...(performed === null ? { key: request?.key ?? null, replacement: null } : keyRefsOf(step, performed)),
    advance: step.advance ?? null,
    ...actionErrorOf(performed),
    differences,
  };
}

function requestJson(exchange: Exchange): Record<string, unknown> {
  return snakeCase(viewRequest(exchange)) as Record<string, unknown>;
}
