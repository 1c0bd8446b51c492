import { requestJson } from "../api/request-details.js";
import { redactKeys } from "../rules/redact.js";
import { isoOf } from "../sandbox/clock.js";
import type { HistoryEvent, StepEvent } from "../sandbox/steps.js";
import { nodePlatform } from "./platform.js";
import { stepData } from "./step-data.js";

type LoggedEvent = StepEvent | Extract<HistoryEvent, { readonly type: "request" }>;

export interface LoggedInstance {
  readonly id: string;
  readonly label: string | undefined;
}

/** A change through the control plane, a rejected token, or a request that could not be stored. */
export interface AuditEntry {
  /** Method and path: `POST /keys/main/revoke`. */
  readonly action: string;
  readonly actor: AuditActor;
  /** The status of the response, and its code if it is an error: `409 name_taken`. */
  readonly result: string;
  readonly detail?: string;
}

/** Whose token a call had; `anyone` if the server requires none, `link` for a claim, `client` for a request of the API. */
export type AuditActor =
  | "control_token"
  | "instance_token"
  | "anyone"
  | "link"
  | "unknown"
  | "client"
  | "sandbox";

export interface Logger {
  readonly event: (event: LoggedEvent, instance?: LoggedInstance) => void;
  readonly note: (message: string) => void;
  /** Something to look at, although the server continues. */
  readonly warning: (message: string) => void;
  readonly audit: (entry: AuditEntry, instance?: LoggedInstance) => void;
  readonly problem: (message: string) => void;
}

/** Requests have the journal's member names. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): Logger {
  // `time` is real, as in other logs; the `at` of events is the time of the sandbox's clock.
  const line = (level: "info" | "warning" | "error", members: Readonly<Record<string, unknown>>) =>
    write(`${JSON.stringify({ level, time: isoOf(nodePlatform.time()), ...members })}\n`);
  return {
    event(event, instance) {
      const data = event.type === "request" ? requestJson(event.exchange) : stepData(event);
      line("info", { event: event.type, ...placeOf(instance), ...data });
    },
    note: (message) => line("info", { event: "note", message: redactKeys(message) }),
    warning: (message) => line("warning", { event: "warning", message: redactKeys(message) }),
    audit({ action, detail, ...entry }, instance) {
      const message = detail && redactKeys(detail);
      line("info", { event: "audit", ...placeOf(instance), ...entry, action: redactKeys(action), message });
    },
    problem: (message) => line("error", { event: "problem", message: redactKeys(message) }),
  };
}

function placeOf({ id, label }: Partial<LoggedInstance> = {}) {
  return { instance: id, label: label && redactKeys(label) };
}
