import picocolors from "picocolors";
import type { Io, Output } from "./io.js";

export type Palette = ReturnType<typeof picocolors.createColors>;

export interface Style {
  readonly palette: Palette;
  /** Whether signs replace words. */
  readonly isTerminal: boolean;
  /** The number of characters per line of a terminal; `Infinity` in a pipe. */
  readonly width: number;
}

/** Returns the current style of an output, with colors only on a terminal, and not with `NO_COLOR`: windows are resized. */
export function styleFor(
  { isTTY = false, columns = Number.POSITIVE_INFINITY }: Output,
  env: Io["env"],
): Style {
  const isForbidden = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return { palette: picocolors.createColors(isTTY && !isForbidden), isTerminal: isTTY, width: columns };
}

/** Green for success, yellow for "later", red for a rejection. */
export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}

/** Returns the status and code of a response: `401 unauthorized`. */
export function answerText({ status, code }: { status: number; code: string | null }): string {
  // Some faults leave no response.
  if (status === 0) return "no response";
  return code === null ? String(status) : `${status} ${code}`;
}

/** Returns a time without its fraction, which times in scenarios do not have: `2026-03-02T10:01:00Z`. */
export function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}
