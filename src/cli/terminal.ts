import { styleText } from "node:util";
import { charactersOf, safeOutput, textWidth, withoutLogCommands } from "../rules/terminal-text.js";

/** A destination of text: a terminal, a pipe, or a test's string. */
export interface Output {
  readonly write: (text: string, done?: (error?: Error | null) => void) => unknown;
  /** Waits until there is room for more, or the signal is aborted; resolves to whether someone still reads. Default: true immediately. */
  readonly waitForReader?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The current number of characters per line; `undefined` if unknown, as in a pipe. */
  readonly columns?: number | undefined;
}

/** An output that cannot be misused to control the terminal. */
export interface Printer extends Output {
  readonly waitForReader: (until: AbortSignal) => Promise<boolean>;
  /** Writes a text for people: on a terminal in lines of its width, in which a command stays on one line. */
  readonly say: (text: string) => void;
  /** Breaks a text into lines of the terminal's width; a text for a pipe is unchanged. */
  readonly wrap: (text: string) => string;
  /** The current style, with colors only on a terminal, and not with `NO_COLOR`: windows are resized. */
  readonly style: () => Style;
}

/** How a text may look where it is printed. */
export interface Style {
  readonly palette: Palette;
  readonly wrap: Printer["wrap"];
  /** Whether signs replace words. */
  readonly isTerminal: boolean;
  /** The number of characters per line of a terminal; `Infinity` in a pipe. */
  readonly width: number;
}

const paletteColors = ["bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan"] as const;

/** Functions that color a text, or return it unchanged. */
export type Palette = Readonly<Record<(typeof paletteColors)[number], (text: string) => string>>;

function createPalette(hasColors: boolean): Palette {
  const palette: Record<string, (text: string) => string> = {};
  for (const color of paletteColors) {
    palette[color] = (text) => {
      if (!hasColors) return text;
      // The stream that styleText would look at is not always the printer's.
      return styleText(color, text, { validateStream: false });
    };
  }
  return palette as Palette;
}

/** Makes an output that removes everything that would control a terminal. Every command writes through it. */
export function createPrinter(output: Output, env: Readonly<Record<string, string | undefined>>): Printer {
  const write: Output["write"] = (text, done) => output.write(safeOutput(text, output.isTTY), done);
  const wrap: Printer["wrap"] = (text) => {
    const { isTTY, columns } = output;
    return isTTY && columns ? wrapLines(text, columns) : text;
  };
  const hasNoColors = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return {
    // A window may be resized, so both are read each time.
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return output.columns;
    },
    write,
    wrap,
    waitForReader: async (until: AbortSignal) => (await output.waitForReader?.(until)) ?? true,
    say: (text: string) => void write(wrap(withoutLogCommands(text))),
    style(): Style {
      const { isTTY = false, columns = Number.POSITIVE_INFINITY } = output;
      return { palette: createPalette(isTTY && !hasNoColors), isTerminal: isTTY, width: columns, wrap };
    },
  };
}

/** Longer lines are hard to read, also in a wide window. */
const maxWidth = 100;

/** A line of a file, and below it the line whose caret points at a place in it. */
const lineWithCaret = /^(.+)\n([ \t]*)\^(?![ -~])/gm;

/** Breaks the lines of a text that are too long. The last column of a table continues below itself. Commands stay whole, so that they can be pasted. */
function wrapLines(text: string, columns: number): string {
  const width = Math.min(columns, maxWidth);
  const withCarets = text.replace(lineWithCaret, (both, line: string, beforeCaret: string) => {
    return textWidth(line) <= width ? both : cutAroundCaret(line, beforeCaret, width);
  });
  return withCarets.replace(/.+/g, (line) => {
    if (textWidth(line) <= width) return line;

    // In a line of a table, two spaces end what stands before the last column. Any other line has nothing before its text.
    let head = /^.* {2}/.exec(line)?.[0] ?? "";
    let indent = textWidth(head);
    if (indent > width * 0.6) {
      // Beside wide columns, there would be no room: the line continues below its start, a bit to the right.
      head = line.slice(0, line.search(/\S/));
      indent = textWidth(head) + 4;
    }

    // The spaces of commands break no line.
    const text = line.slice(head.length).replace(command, (found) => found.replaceAll(" ", unbreakableSpace));
    const headWidth = textWidth(head);
    const lines = breakAtSpaces(text, width - indent, [columns - headWidth, columns - indent]);
    return head + lines.join(`\n${" ".repeat(indent)}`).replaceAll(unbreakableSpace, " ");
  });
}

/** A line of a file with a caret below it. Of a wide one, only the part around the caret, which a broken line would not point at. */
function cutAroundCaret(line: string, beforeCaret: string, width: number): string {
  // Both lines are indented. A tab has as many columns as the terminal likes, but the same in both.
  const indent = "  ";
  const characters = charactersOf(line.slice(indent.length).replaceAll("\t", " "));
  const caretColumn = textWidth(beforeCaret.slice(indent.length).replaceAll("\t", " "));
  const room = width - indent.length;
  // More of what is before the caret than behind it, and an ellipsis for what is cut.
  const firstColumn = Math.max(0, caretColumn - Math.floor(room * 0.6));

  let shown = firstColumn > 0 ? "…" : "";
  let shownBeforeCaret = 0;
  let column = 0;
  for (const character of characters) {
    const characterWidth = textWidth(character);
    const isBefore = column < firstColumn + 1 && firstColumn > 0;
    if (column === caretColumn) shownBeforeCaret = textWidth(shown);
    if (!isBefore && textWidth(shown) + characterWidth >= room) {
      shown += "…";
      break;
    }
    if (!isBefore) shown += character;
    column += characterWidth;
  }
  if (column === caretColumn) shownBeforeCaret = textWidth(shown);
  return `${indent}${shown}\n${indent}${" ".repeat(shownBeforeCaret)}^`;
}

/**
 * Puts as many words into each line as fit, and at least one. A word is broken if it is wider than the terminal has room for in
 * the first line, or in another one; a command is never.
 */
function breakAtSpaces(
  text: string,
  width: number,
  [firstRoom, room]: readonly [first: number, other: number],
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (textWidth(longer) <= width) {
      line = longer;
      continue;
    }

    const isFirst = lines.length === 0 && line === "";
    const staysWhole = textWidth(word) <= (isFirst ? firstRoom : room) || word.includes(unbreakableSpace);
    if (staysWhole) {
      if (line !== "") lines.push(line.trimEnd());
      line = word;
      continue;
    }
    // Languages such as Chinese and Thai have few spaces, and a URL has none.
    const pieces = breakAnywhere(longer, width);
    line = pieces.pop() as string; // there is at least one
    lines.push(...pieces);
  }
  lines.push(line);
  return lines;
}

/** Breaks a text between any two characters. */
function breakAnywhere(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const character of charactersOf(text)) {
    if (textWidth(line + character) > width && line !== "") {
      lines.push(line.trimEnd());
      line = "";
    }
    line += character;
  }
  lines.push(line);
  return lines;
}

/** The start of a line that has more than so many columns. */
export function startOfLine(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  let start = "";
  // A character may have two columns, or consist of several.
  for (const character of charactersOf(line)) {
    if (textWidth(start + character) >= width) break;
    start += character;
  }
  return `${start.trimEnd()}…`;
}

/** Green for a success, yellow for a limit, red for any other error, and for the status 0 of a missing response. */
export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status === 0) return palette.red;
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}

/** A response in a table or a line of the log: `401 unauthorized`. */
export function responseText({ status, code }: { status: number; code: string | null }): string {
  // Some faults leave no response.
  if (status === 0) return "no response";
  return code === null ? String(status) : `${status} ${code}`;
}

// A command in a text stays on one line, so that it can be pasted. Our own sentences write it in one of these ways:
//
//   in backticks:      Run `svc-sandbox list` for the bundled scenarios.
//   after a colon:     Start it with: npx --no-install svc-sandbox my.yaml --watch
//   after run or mean: Did you mean svc-sandbox start --port 4747?
//   first in a line:   svc-sandbox exec -- npm test
//   for curl:          Try it: curl -i http://127.0.0.1:4747/v1/relying-party/me
//
// Except in backticks, it ends with its part of the sentence.

/** In backticks: `` `svc-sandbox list` ``. */
const quotedCommand = /`[^`]+`/;
/** After a colon, after run or mean, or first in a line: `npx --no-install svc-sandbox`. Not in a sentence about this program, such as "svc-sandbox failed". */
const thisProgram = /(?<=: |\brun |mean |^)(?:npx --no-install )?\S*svc-sandbox\S*(?! failed| is )/;
/** For curl: `curl`, after a colon or first in a line. */
const curl = /(?<=: |^)curl/;
/** The rest of its part of the sentence: `` start --port 4747``, up to a comma, a semicolon or a period, or to the end of the line. */
const wordsAfterProgram = / .+?(?=, |\. |; |[.;?]?$)/;

const unquotedCommand = `(?:${thisProgram.source}|${curl.source})${wordsAfterProgram.source}`;
const command = new RegExp(`${quotedCommand.source}|${unquotedCommand}`, "g");

/** Stands for a space of a command: no line may end there. */
const unbreakableSpace = "\uE000";
