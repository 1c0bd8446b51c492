import { styleText } from "node:util";
import { escapeCommands, printable, textWidth } from "../rules/terminal-text.js";

/** A destination of text: a terminal, a pipe, or a test's string. */
export interface Output {
  readonly write: (text: string, done?: (error?: Error | null) => void) => unknown;
  /** Whether someone still reads it, once there is room for more or the signal is aborted. Default: true immediately. */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The current number of characters per line; `undefined` if unknown, as in a pipe. */
  readonly columns?: number | undefined;
}

export interface Printer extends Output {
  readonly room: (until: AbortSignal) => Promise<boolean>;
  /** Writes a text for people: on a terminal in lines of its width, with commands as the user starts them. */
  readonly say: (text: string) => void;
  readonly wrap: (text: string) => string;
  /** The current style, with colors only on a terminal, and not with `NO_COLOR`: windows are resized. */
  readonly style: () => Style;
}

const paletteColors = ["bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan"] as const;
export type Palette = Readonly<Record<(typeof paletteColors)[number], (text: string) => string>>;

function paletteFor(hasColors: boolean): Palette {
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

/** How a text may look where it is printed. */
export interface Style {
  readonly palette: Palette;
  readonly wrap: Printer["wrap"];
  /** Whether signs replace words. */
  readonly isTerminal: boolean;
  /** The number of characters per line of a terminal; `Infinity` in a pipe. */
  readonly width: number;
}

/** The only way to a terminal: removes everything that would control it. */
export function createPrinter(output: Output, env: Readonly<Record<string, string | undefined>>): Printer {
  const write: Output["write"] = (text, done) => output.write(printable(text, output.isTTY), done);
  const wrap: Printer["wrap"] = (text) => {
    const { isTTY, columns } = output;
    return isTTY && columns ? wrapLines(text, columns) : text;
  };
  const hasNoColors = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return Object.assign(Object.create(output), {
    write,
    wrap,
    room: async (until: AbortSignal) => (await output.room?.(until)) ?? true,
    say: (text: string) => void write(wrap(escapeCommands(text))),
    style(): Style {
      const { isTTY = false, columns = Number.POSITIVE_INFINITY } = output;
      return { palette: paletteFor(isTTY && !hasNoColors), isTerminal: isTTY, width: columns, wrap };
    },
  });
}

const widest = 100;
// A place in a text where no line may end.
const joint = "\uE000";

/** The last column of a table continues below itself. Commands stay whole, so that they can be pasted. */
export function wrapLines(text: string, columns: number): string {
  const width = Math.min(columns, widest);
  return text.replace(/.+/g, (line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  // The columns of a table before its last one: two spaces separate them.
  const [, table = ""] = /^(.* {2})?/.exec(line) ?? [];
  const isNarrow = textWidth(table) <= width * 0.6;
  const head = isNarrow ? table : line.slice(0, line.search(/\S/));
  const indent = textWidth(head) + (isNarrow ? 0 : 4);

  const rest = line.slice(head.length).replace(command, (words) => words.replaceAll(" ", joint));
  const lines = wordsPerLine(rest, width - indent);
  return head + lines.join(`\n${" ".repeat(indent)}`).replaceAll(joint, " ");
}

function wordsPerLine(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || textWidth(longer) <= columns) {
      line = longer;
    } else {
      lines.push(line.trimEnd());
      line = word;
    }
  }
  lines.push(line);
  return lines;
}

const program = String.raw`(?<=: |\brun |mean |^)(?:npx --no-install )?\S*svc-sandbox\S*(?! failed| is )|(?<=: |^)curl`;
const command = new RegExp(`\`[^\`]+\`|(?:${program}) .+?(?=, |\\. |; |[.;?]?$)`, "g");

/** Green for a success, yellow for a limit, red for any other error. */
export function paintStatus(palette: Palette, status: number): (text: string) => string {
  if (status < 300) return palette.green;
  return status === 429 ? palette.yellow : palette.red;
}

/** A response in a table or a line of the log: `401 unauthorized`. */
export function responseText({ status, code }: { status: number; code: string | null }): string {
  // Some faults leave no response.
  if (status === 0) return "no response";
  return code === null ? String(status) : `${status} ${code}`;
}
