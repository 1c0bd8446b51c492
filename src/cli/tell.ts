import { textWidth } from "../domain/printable.js";
import { narrowExcerpt } from "../scenario/problems/source.js";

/** Somewhere to write text: a terminal, a pipe, or a test's string. */
export interface Output {
  /** `done` is called once the text is written or lost. */
  readonly write: (text: string, done?: (error?: Error | null) => void) => unknown;
  /** Resolves once there is room for more, or the signal is aborted, to whether it is still read. Default: at once to true. */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The number of characters that fit into a line now; `undefined` where lines have no end. */
  readonly columns?: number | undefined;
}

interface Telling {
  /** Whether lines stay whole. */
  readonly wide?: boolean | undefined;
  /** What the further lines of a long one begin with. Default: the indent of the line. */
  readonly hang?: string;
  readonly done?: (error?: Error | null) => void;
}

/** The columns that a line for people may have. In a pipe a line is whole: it may be searched. */
export function columnsOf({ isTTY, columns }: Pick<Output, "isTTY" | "columns">, wide = false): number {
  return wide ? Number.POSITIVE_INFINITY : (columns ?? (isTTY ? 80 : Number.POSITIVE_INFINITY));
}

/**
 * Writes a text for people; nothing else in the command line does. Long lines are broken at spaces, but for commands on
 * lines of their own.
 */
export function tell(output: Output, text: string, { wide, hang, done }: Telling = {}): void {
  output.write(wrapLines(text, columnsOf(output, wide), hang), done);
}

// An indented command is there to be copied.
const command = /^\s+(?:curl|svc-sandbox|npx|node) /;
const caretLine = /^ *\^$/;

/** A text, which may be coloured, with its long lines broken; a line with a caret under it is shown around the caret. */
export function wrapLines(text: string, width: number, hang?: string): string {
  const lines = text.split("\n");
  return lines
    .flatMap((line, index) => {
      const [above = "", below = ""] = [lines[index - 1], lines[index + 1]];
      if (caretLine.test(line)) return narrowExcerpt({ text: above, caret: line }, width).caret;
      if (caretLine.test(below)) return narrowExcerpt({ text: line, caret: below }, width).text;
      return textWidth(line) <= width || command.test(line) ? line : wrapLine(line, width, hang);
    })
    .join("\n");
}

// What is between backquotes is one word.
function wrapLine(line: string, width: number, hang = /^\s*/.exec(line)?.[0] ?? ""): string[] {
  const lines: string[] = [];
  let last = "";
  for (const [word] of line.matchAll(/\s*(?:[^\s`]*`[^`]*`\S*|\S+)/g)) {
    if (last === "" || textWidth(last + word) <= width) last += word;
    else {
      lines.push(last);
      last = hang + word.trimStart();
    }
  }
  return [...lines, last];
}
