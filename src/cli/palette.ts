import picocolors from "picocolors";
import type { Flags } from "./flags.js";
import type { Io, Output } from "./io.js";

/** Functions that colour a text, or leave it alone. */
export type Palette = ReturnType<typeof picocolors.createColors>;

/** The colours for an output: none unless it is a terminal, and neither `NO_COLOR` nor `--no-color` forbids them. */
export function paletteFor(
  output: Output,
  env: Io["env"],
  { noColor = false }: Pick<Flags, "noColor"> = {},
): Palette {
  const isForbidden = noColor || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return picocolors.createColors(output.isTTY === true && !isForbidden);
}

/** Green for answers, yellow for "later", red for refusals. */
export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}
