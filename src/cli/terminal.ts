import { styleText } from "node:util";
import { textWidth } from "../rules/redact.js";
import type { Io, Printer } from "./io.js";

type Paint = (text: string) => string;

export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly magenta: Paint;
  readonly cyan: Paint;
}

function paletteFor(hasColors: boolean): Palette {
  // The stream that styleText would look at is not always the printer's.
  const painter =
    (color: keyof Palette): Paint =>
    (text) =>
      hasColors ? styleText(color, text, { validateStream: false }) : text;
  return {
    bold: painter("bold"),
    dim: painter("dim"),
    red: painter("red"),
    green: painter("green"),
    yellow: painter("yellow"),
    blue: painter("blue"),
    magenta: painter("magenta"),
    cyan: painter("cyan"),
  };
}

export interface Style {
  readonly palette: Palette;
  readonly wrap: Printer["wrap"];
  /** Whether signs replace words. */
  readonly isTerminal: boolean;
  /** The number of characters per line of a terminal; `Infinity` in a pipe. */
  readonly width: number;
}

/** Returns the current style of an output, with colors only on a terminal, and not with `NO_COLOR`: windows are resized. */
export function styleFor(
  { isTTY = false, columns = Number.POSITIVE_INFINITY, wrap }: Printer,
  env: Io["env"],
): Style {
  const isForbidden = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return { palette: paletteFor(isTTY && !isForbidden), isTerminal: isTTY, width: columns, wrap };
}

const widest = 100;
// A place in a text where no line may end.
const joint = "\uE000";

/** The last column of a table continues below itself. Commands stay whole, so that they can be pasted. */
export function wrapLines(text: string, columns: number): string {
  const width = Math.min(columns, widest);
  return text.replace(/.+/g, (line) => {
    if (textWidth(line) <= width) return line;
    const [, table = ""] = /^(.* {2})?/.exec(line) ?? [];
    const isNarrow = textWidth(table) <= width * 0.6;
    const head = isNarrow ? table : line.slice(0, line.search(/\S/));
    const indent = "\n".padEnd(textWidth(head) + (isNarrow ? 1 : 5));
    const rest = line.slice(head.length).replace(command, (words) => words.replaceAll(" ", joint));
    return (
      head +
      wordsPerLine(rest, width + 1 - indent.length)
        .join(indent)
        .replaceAll(joint, " ")
    );
  });
}

function wordsPerLine(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || textWidth(longer) <= columns) line = longer;
    else {
      lines.push(line.trimEnd());
      line = word;
    }
  }
  return [...lines, line];
}

const program = String.raw`(?<=: |\brun |mean |^)(?:npx --no-install )?\S*svc-sandbox\S*(?! failed| is )|(?<=: |^)curl`;
const command = new RegExp(`\`[^\`]+\`|(?:${program}) .+?(?=, |\\. |; |[.;?]?$)`, "g");

export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}

export function responseText({ status, code }: { status: number; code: string | null }): string {
  // Some faults leave no response.
  if (status === 0) return "no response";
  return code === null ? String(status) : `${status} ${code}`;
}

/** Returns a time without its fraction, which times in scenarios do not have: `2026-03-02T10:01:00Z`. */
export function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}
