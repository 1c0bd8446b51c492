import picocolors from "picocolors";
import { escapeControls } from "../domain/printable.js";
import type { Io, Output } from "./io.js";
import { columnsOf } from "./tell.js";

export type Palette = ReturnType<typeof picocolors.createColors>;

/** The colours for an output: none unless it is a terminal, and neither `NO_COLOR` nor `--no-color` forbids them. */
export function paletteFor(output: Output, env: Io["env"], { color = true } = {}): Palette {
  const isForbidden = !color || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return picocolors.createColors(output.isTTY === true && !isForbidden);
}

export interface Style {
  readonly palette: Palette;
  /** Whether signs stand for words. */
  readonly isTerminal: boolean;
  /** How many characters a line may have; `Infinity` with `--wide`. */
  readonly width: number;
}

/** The style for an output as it is now: windows are made wider. */
export function styleFor(
  output: Output,
  env: Io["env"],
  { color = true, wide = false }: { readonly color?: boolean; readonly wide?: boolean } = {},
): Style {
  const { isTTY = false } = output;
  return { palette: paletteFor(output, env, { color }), isTerminal: isTTY, width: columnsOf(output, wide) };
}

/** Green for answers, yellow for "later", red for refusals. */
export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}

/** Status and code of an answer: `401 unauthorized`. */
export function answerText({ status, code }: { status: number; code: string | null }): string {
  // After some faults there is no answer.
  if (status === 0) return "no answer";
  return code === null ? String(status) : `${status} ${code}`;
}

/** A time without the fraction that times of scenarios do not have: `2026-03-02T10:01:00Z`. */
export function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}

/** A text on one line, cut to a width. */
export function shortened(text: string, width: number): string {
  const line = escapeControls(text.trim().replace(/\s+/g, " "));
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
}
