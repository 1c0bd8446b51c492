import type { JournalEntry } from "../sandbox/journal.js";
import { viewRequest } from "../sandbox/views.js";
import { snakeCase } from "./snake-case.js";

/** A journal entry as JSON outside this process spells it; its duration to the microsecond. */
export function requestLine(entry: JournalEntry): Record<string, unknown> {
  const durationMs = Math.round(entry.durationMs * 1000) / 1000;
  return snakeCase(viewRequest({ ...entry, durationMs })) as Record<string, unknown>;
}
