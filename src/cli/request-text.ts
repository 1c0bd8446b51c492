import { outcomes } from "../domain/outcomes.js";
import type { JournalEntry } from "../sandbox/journal.js";
import { answerOf } from "./key-rows.js";
import { type Palette, paintStatus } from "./palette.js";

const answerWidth = Math.max(...outcomes.map((row) => answerOf(row).length));
const pathIdWidth = Math.max(...outcomes.map(({ path }) => path.length));
const pathWidth = "/v1/relying-party/me".length;

/**
 * A request as one line: time on the sandbox's clock, method, path, answer, path id, milliseconds, key.
 *
 * The key is its ref, the fingerprint of one that the scenario does not have, or `-`. A fault that let the answer wait
 * stands behind it. Verbose adds the request id.
 */
export function requestText(entry: JournalEntry, palette: Palette, verbose = false): string {
  const { at, method, path, status, pathId, fault, key, fingerprint, durationMs } = entry;
  // Without fractions of a second: the order of the lines says what they would.
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return [
    palette.dim(time),
    visible(method).padEnd(4),
    visible(path).padEnd(pathWidth),
    paintStatus(palette, status)(answerOf(entry).padEnd(answerWidth)),
    pathId.padEnd(pathIdWidth),
    palette.dim(`${durationMs.toFixed(1)} ms`.padStart(7)),
    key ?? fingerprint ?? "-",
    // Where the fault only let the answer wait; any other is the path itself.
    ...(fault === null || fault === pathId ? [] : [palette.dim(fault)]),
    ...(verbose ? [palette.dim(entry.id)] : []),
  ].join("  ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

// What a client sent must not move the cursor or recolour the terminal of whoever reads the log.
function visible(text: string): string {
  return text.replace(control, "\uFFFD");
}
