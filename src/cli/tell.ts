import { textWidth } from "../domain/printable.js";
import { redactKeys } from "../domain/redact.js";
import { narrowExcerpt } from "../scenario/problems/source.js";

type Done = (error?: Error | null) => void;

/** Somewhere to write text: a terminal, a pipe, or a test's string. Only `tell` and `writeData` write to it. */
export interface Output {
  /** `done` is called once the text is written or lost. */
  readonly write: (text: string, done?: Done) => unknown;
  /** Names the program as its user starts it, before lines are broken. */
  readonly worded?: (text: string) => string;
  /** Resolves once there is room for more, or the signal is aborted, to whether it is still read. Default: at once to true. */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The number of characters that fit into a line now; `undefined` if it is not known, as in a pipe. */
  readonly columns?: number | undefined;
}

interface Telling {
  /** Whether lines stay whole. */
  readonly wide?: boolean | undefined;
  /** What the further lines of a long one begin with. Default: the indent of the line. */
  readonly hang?: string;
  readonly done?: Done | undefined;
}

/** The columns that a line for people may have: those of the terminal, or 80 in a pipe or the log of a CI job. */
export function columnsOf({ columns = 80 }: Pick<Output, "columns">, wide = false): number {
  return wide ? Number.POSITIVE_INFINITY : columns;
}

/** Writes a text for people. Breaks long lines at spaces; a command to copy and JSON stay whole, on lines of their own. */
export function tell(output: Output, text: string, { wide, hang, done }: Telling = {}): void {
  const { worded = (same) => same } = output;
  output.write(wrapLines(worded(text), columnsOf(output, wide), hang), done);
}

/** Writes what other programs read (JSON, YAML, Markdown, lines for a shell), with its lines unchanged. */
export function writeData(output: Output, text: string, done?: Done): void {
  const { worded = (same) => same } = output;
  output.write(worded(text), done);
}

/** Writes a report without keys: for people as text, in any other format with its lines unchanged. */
export function tellAs(format: string, output: Output, report: string, how: Telling = {}): void {
  if (format === "text") tell(output, redactKeys(report), how);
  else writeData(output, redactKeys(report));
}

const program = "(?:npx (?:--no-install )?)?svc-sandbox|curl|node|eval";
const command = new RegExp(String.raw`^\s+(?:${program}) `);
// A command after the last colon of a line is there to be copied, too.
const endsWithCommand = new RegExp(`^(.*?:) ((?:${program}) .*)$`);
// Of a body, in a story: JSON in pieces is none.
const json = /^\s*(?:\p{Cc}\[\d+m)*(?:[[{] ?["[{]|"[^"]*"(?:\p{Cc}\[\d+m)*: )/u;
const caretLine = /^ *\^$/;

/** A text, which may be coloured, with its long lines broken; a line with a caret under it is shown around the caret. */
export function wrapLines(text: string, width: number, hang?: string): string {
  const lines = text.split("\n");
  return lines
    .flatMap((line, index) => {
      const [above = "", below = ""] = [lines[index - 1], lines[index + 1]];
      if (caretLine.test(line)) return narrowExcerpt({ text: above, caret: line }, width).caret;
      if (caretLine.test(below)) return narrowExcerpt({ text: line, caret: below }, width).text;
      return textWidth(line) <= width || command.test(line) || json.test(line)
        ? line
        : wrapLine(line, width, hang);
    })
    .join("\n");
}

function wrapLine(line: string, width: number, hang = /^\s*/.exec(line)?.[0] ?? ""): string[] {
  const [, before, copied] = endsWithCommand.exec(line) ?? [];
  if (before !== undefined) return [...wrapLine(before, width, hang), `${hang}  ${copied}`];
  const lines: string[] = [];
  let last = "";
  // What is between backquotes is one word.
  for (const [word] of line.matchAll(/\s*(?:[^\s`]*`[^`]*`\S*|\S+)/g)) {
    if (last === "" || textWidth(last + word) <= width) last += word;
    else {
      lines.push(last);
      last = hang + word.trimStart();
    }
  }
  return [...lines, last];
}
