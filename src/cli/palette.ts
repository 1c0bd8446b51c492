import picocolors from "picocolors";
import type { Io, Output } from "./io.js";

/** Functions that colour a text, or leave it alone. */
export type Palette = ReturnType<typeof picocolors.createColors>;

/** The colours for an output: none unless it is a terminal and `NO_COLOR` is not set. */
export function paletteFor(output: Output, env: Io["env"]): Palette {
  return picocolors.createColors(output.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb");
}

/** Green for answers, yellow for "later", red for refusals. */
export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}
