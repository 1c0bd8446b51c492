import { actionErrorOf } from "../api/story/summarize.js";
import { isoTime } from "../rules/time.js";
import { viewRequest } from "../sandbox/journal/exchange.js";
import type { SandboxEvent, StepEvent } from "../sandbox/journal/journal.js";
import {
  allDifferences,
  isAsExpected,
  keyRefsOf,
  type PlayedStep,
  type TimelineResult,
  viewDifference,
} from "../sandbox/steps.js";
import { actionName } from "../scenario/actions.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { nodePlatform } from "./platform.js";

/** What a server writes while it runs, for people or for machines. */
export interface Logger {
  readonly event: (event: StepEvent | Extract<SandboxEvent, { readonly type: "request" }>) => void;
  /** Something good to know. */
  readonly note: (message: string) => void;
  /** A change through the control plane, or a rejected token: `POST /__sandbox/keys/main/revoke` with `409 key_not_active`. */
  readonly controlCall: (entry: { readonly call: string; readonly result: string }) => void;
  /** Something that failed. */
  readonly problem: (message: string) => void;
}

/** A log with a line of JSON for each entry. Requests have the journal's member names. `write` hides keys, which a client or a scenario may have written anywhere. */
export function createJsonLog(write: (line: string) => void): Logger {
  const log = (level: "info" | "error", members: Readonly<Record<string, unknown>>) => {
    // The real time, as in other logs; the `at` of events is the time of the sandbox's clock.
    const time = isoTime(nodePlatform.time());
    write(`${JSON.stringify({ level, time, ...members })}\n`);
  };

  return {
    event(event) {
      let data: object;
      if (event.type === "request") data = viewRequest(event.exchange);
      else if (event.type === "timeline.step") data = timelineData(event.result);
      else data = storyData(event.result);
      log("info", { event: event.type, ...(membersToSnakeCase(data) as object) });
    },
    note: (message) => log("info", { event: "note", message }),
    controlCall: ({ call, result }) => log("info", { event: "control", call, result }),
    problem: (message) => log("error", { event: "problem", message }),
  };
}

/** A step of the timeline. */
function timelineData({ at, step, performed }: TimelineResult) {
  return {
    at,
    action: actionName(step),
    expected: step.expect?.error ?? null,
    ...keyRefsOf(step, performed),
    ...actionErrorOf(performed),
  };
}

/** A step of the story. */
function storyData(result: PlayedStep) {
  const { step, request, response, performed } = result;
  const keysOfRequest = { key: request?.key ?? null, replacement: null };
  const keys = performed === null ? keysOfRequest : keyRefsOf(step, performed);

  return {
    at: result.now,
    step: result.number,
    of: result.of,
    kind: result.kind,
    say: result.say,
    outcome: response?.outcome ?? null,
    asExpected: isAsExpected(result),
    ...keys,
    advance: step.advance ?? null,
    ...actionErrorOf(performed),
    differences: allDifferences(result).map(viewDifference),
  };
}
