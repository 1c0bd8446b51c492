import pino from "pino";
import { requestLine } from "../api/snake-case.js";
import { redactKeys } from "../domain/redact.js";
import type { StepEvent, WorldEvent } from "../sandbox/events.js";
import { stepData } from "./step-data.js";

/** A request, or a step of the timeline or the story. */
export type LoggedEvent = StepEvent | Extract<WorldEvent, { readonly type: "request" }>;

/** The messages of a running sandbox. */
export interface Log {
  readonly event: (event: LoggedEvent) => void;
  /** Something good to know. */
  readonly note: (message: string) => void;
  /** Something that went wrong. */
  readonly problem: (message: string) => void;
}

// Nothing that is logged has these members. Should something one day, the log is not the place where it gets out.
const secretMembers = ["secret", "api_key", "control_token", "authorization", "x-api-key"];
const redact = secretMembers.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);

/** Makes a log that writes JSON lines; requests have the names of the journal. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): Log {
  const log = pino(
    {
      base: null,
      // Requests carry the time of the sandbox's clock; what the wall clock shows says nothing about them.
      timestamp: false,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redact, censor: "[redacted]" },
    },
    { write },
  );
  return {
    event(event) {
      const data = event.type === "request" ? requestLine(event.request) : stepData(event);
      log.info({ event: event.type, ...data });
    },
    note: (message) => log.info({ event: "note" }, redactKeys(message)),
    problem: (message) => log.error({ event: "problem" }, redactKeys(message)),
  };
}
