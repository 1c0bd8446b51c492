import { requestJson } from "../api/request-details.js";
import { isoOf } from "../sandbox/clock.js";
import type { StepEvent, WorldEvent } from "../sandbox/steps.js";
import { redactKeys } from "../spec/redact.js";
import { nodePlatform } from "./platform.js";
import { stepData } from "./step-data.js";

type LoggedEvent = StepEvent | Extract<WorldEvent, { readonly type: "request" }>;

export interface LoggedInstance {
  readonly id: string;
  readonly label: string | undefined;
}

export interface Logger {
  /** Logs an event of an instance, or of the server's own sandbox if `instance` is `undefined`. */
  readonly event: (event: LoggedEvent, instance?: LoggedInstance) => void;
  readonly note: (message: string) => void;
  /** Something to look at, although the server continues. */
  readonly warning: (message: string) => void;
  /** Who changed the list of instances, and requests that could not be stored. */
  readonly audit: (message: string) => void;
  readonly problem: (message: string) => void;
}

/** Makes a log that writes JSON lines; requests have the journal's member names. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): Logger {
  // `time` is real, as in other logs; the `at` of events is the time of the sandbox's clock.
  const line = (level: "info" | "warning" | "error", members: Readonly<Record<string, unknown>>) =>
    write(`${JSON.stringify({ level, time: isoOf(nodePlatform.time()), ...members })}\n`);
  return {
    event(event, instance) {
      const data = event.type === "request" ? requestJson(event.exchange) : stepData(event);
      const { id, label } = instance ?? {};
      line("info", { event: event.type, instance: id, label: label && redactKeys(label), ...data });
    },
    note: (message) => line("info", { event: "note", message: redactKeys(message) }),
    warning: (message) => line("warning", { event: "warning", message: redactKeys(message) }),
    audit: (message) => line("info", { event: "audit", message: redactKeys(message) }),
    problem: (message) => line("error", { event: "problem", message: redactKeys(message) }),
  };
}
