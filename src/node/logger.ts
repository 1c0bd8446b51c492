import { actionErrorOf } from "../api/story/step-view.js";
import { mapTexts, redactPlainKeys } from "../rules/keys/redact.js";
import { isoTime } from "../rules/time.js";
import { viewRequest } from "../sandbox/journal/exchange.js";
import type { SandboxEvent, StepEvent } from "../sandbox/journal/journal.js";
import {
  allDifferences,
  isAsExpected,
  keyRefsOf,
  type PlayedStep,
  type TimelineResult,
} from "../sandbox/steps.js";
import { actionName } from "../scenario/actions.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { nodePlatform } from "./platform.js";

type LoggedEvent = StepEvent | Extract<SandboxEvent, { readonly type: "request" }>;

/** What a server writes while it runs, for people or for machines. */
export interface Logger {
  readonly event: (event: LoggedEvent) => void;
  /** Something good to know. */
  readonly note: (message: string) => void;
  /** A change through the control plane, or a rejected token: `POST /__sandbox/keys/main/revoke` with `409 name_taken`. */
  readonly controlCall: (entry: { readonly call: string; readonly result: string }) => void;
  /** Something that failed. */
  readonly problem: (message: string) => void;
}

/** A log with a line of JSON for each entry. Requests have the journal's member names. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): Logger {
  const log = (level: "info" | "error", members: Readonly<Record<string, unknown>>) => {
    // The real time, as in other logs; the `at` of events is the time of the sandbox's clock.
    const time = isoTime(nodePlatform.time());
    write(`${JSON.stringify({ level, time, ...members })}\n`);
  };

  return {
    event(event) {
      if (event.type === "request") {
        log("info", { event: event.type, ...(membersToSnakeCase(viewRequest(event.exchange)) as object) });
        return;
      }
      const data = event.type === "timeline.step" ? timelineData(event.result) : storyData(event.result);
      // A client or a scenario may have written a key anywhere.
      log("info", { event: event.type, ...mapTexts(membersToSnakeCase(data) as object, redactPlainKeys) });
    },
    note: (message) => log("info", { event: "note", message: redactPlainKeys(message) }),
    controlCall: ({ call, result }) => log("info", { event: "control", call: redactPlainKeys(call), result }),
    problem: (message) => log("error", { event: "problem", message: redactPlainKeys(message) }),
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
    differences: allDifferences(result),
  };
}
