import { type AdviceId, adviceOf } from "../domain/advice.js";
import { outcomes } from "../domain/outcomes.js";
import { escapeControls } from "../report/plain-text.js";
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
 * stands behind it, and what advice the request earned. Verbose adds the request id.
 */
export function requestText(entry: JournalEntry, palette: Palette, verbose = false): string {
  const { at, method, path, status, pathId, fault, key, fingerprint, advice, durationMs } = entry;
  // Without fractions of a second: the order of the lines says what they would.
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return [
    palette.dim(time),
    escapeControls(method).padEnd(4),
    escapeControls(path).padEnd(pathWidth),
    paintStatus(palette, status)(answerOf(entry).padEnd(answerWidth)),
    pathId.padEnd(pathIdWidth),
    palette.dim(`${durationMs.toFixed(1)} ms`.padStart(7)),
    key ?? fingerprint ?? "-",
    // Where the fault only let the answer wait; any other is the path itself.
    ...(fault === null || fault === pathId ? [] : [palette.dim(fault)]),
    ...advice.map((id) => paintAdvice(palette, id)),
    ...(verbose ? [palette.dim(entry.id)] : []),
  ].join("  ");
}

function paintAdvice({ red, yellow, dim }: Palette, id: AdviceId): string {
  return { error: red, warning: yellow, note: dim }[adviceOf(id).level](id);
}
