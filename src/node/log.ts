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

/** Makes a log that writes JSON lines; requests have the names of the journal. Never writes a full key (R46). */
export function createJsonLog(write: (line: string) => void): Log {
  // Without a time: requests carry that of the sandbox's clock, and what the wall clock shows says nothing about them.
  const line = (level: "info" | "error", members: Readonly<Record<string, unknown>>) =>
    write(`${redactKeys(JSON.stringify({ level, ...members }))}\n`);
  return {
    event(event) {
      const data = event.type === "request" ? requestLine(event.request) : stepData(event);
      line("info", { event: event.type, ...data });
    },
    note: (message) => line("info", { event: "note", message }),
    problem: (message) => line("error", { event: "problem", message }),
  };
}
