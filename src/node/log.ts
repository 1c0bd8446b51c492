import pino from "pino";
import { requestLine } from "../api/snake-case.js";
import { redactKeys } from "../domain/redact.js";
import type { StepEvent } from "../sandbox/events.js";
import type { JournalEntry } from "../sandbox/journal.js";
import { stepData } from "./step-data.js";

/** A log of one JSON object per line. */
export interface JsonLog {
  readonly request: (entry: JournalEntry) => void;
  /** A step of the timeline or the story. */
  readonly step: (event: StepEvent) => void;
  readonly note: (message: string) => void;
  readonly problem: (message: string) => void;
}

// Nothing that is logged has these members. Should something one day, the log is not the place where it gets out.
const secretMembers = ["secret", "api_key", "control_token", "authorization", "x-api-key"];
const redact = secretMembers.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);

/** Makes a log that writes JSON lines; requests have the names of the journal. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): JsonLog {
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
    request: (entry) => log.info({ event: "request", ...requestLine(entry) }),
    step: (event) => log.info({ event: event.type, ...stepData(event) }),
    note: (message) => log.info({ event: "note" }, redactKeys(message)),
    problem: (message) => log.error({ event: "problem" }, redactKeys(message)),
  };
}
