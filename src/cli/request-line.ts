import type { JournalEntry } from "../sandbox/journal.js";
import { answerOf } from "./key-rows.js";
import { type Palette, paintStatus } from "./palette.js";

/** A request as one line: sandbox time, method, path, answer, path id, key, duration; aligned for the usual request. */
export function requestLine(entry: JournalEntry, palette: Palette): string {
  const { at, method, path, status, pathId, key, fingerprint, durationMs } = entry;
  // Without fractions of a second: the order of the lines says what they would.
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return [
    palette.dim(time),
    visible(method).padEnd(4),
    visible(path).padEnd(21),
    paintStatus(palette, status)(answerOf(entry).padEnd(16)),
    pathId.padEnd(15),
    key ?? fingerprint ?? "-",
    palette.dim(`${durationMs.toFixed(1)} ms`),
  ].join("  ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

// What a client sent must not move the cursor or recolour the terminal of whoever reads the log.
function visible(text: string): string {
  return text.replace(control, "\uFFFD");
}
