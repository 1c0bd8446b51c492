import { textWidth } from "../domain/printable.js";
import { redactKeys } from "../domain/redact.js";
import { narrowExcerpt } from "../scenario/problems/source.js";

type Done = (error?: Error | null) => void;

/** A destination of text: a terminal, a pipe, or a test's string. Only `tell` and `writeData` write to it. */
export interface Output {
  /** `done` is called once the text is written or lost. */
  readonly write: (text: string, done?: Done) => unknown;
  /** Replaces the program's name with the way its user starts it, before lines are wrapped. */
  readonly worded?: (text: string) => string;
  /**
   * Resolves once there is room for more, or the signal is aborted. The result is whether someone still reads it. Default:
   * true immediately.
   */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The current number of characters per line; `undefined` if unknown, as in a pipe. */
  readonly columns?: number | undefined;
}

interface Telling {
  /** Whether long lines stay whole. */
  readonly wide?: boolean | undefined;
  /** The start of a wrapped line's continuation. Default: the line's indent. */
  readonly hang?: string;
  readonly done?: Done | undefined;
}

/** The width for people: the terminal's, or 80 in a pipe or the log of a CI job. */
export function columnsOf({ columns = 80 }: Pick<Output, "columns">, wide = false): number {
  return wide ? Number.POSITIVE_INFINITY : columns;
}

/** Writes a text for people. Wraps long lines at spaces; commands to copy and JSON stay whole, on separate lines. */
export function tell(output: Output, text: string, { wide, hang, done }: Telling = {}): void {
  const { worded = (same) => same } = output;
  output.write(wrapLines(worded(text), columnsOf(output, wide), hang), done);
}

/** Writes data for other programs (JSON, YAML, Markdown, shell lines), with unchanged lines. */
export function writeData(output: Output, text: string, done?: Done): void {
  const { worded = (same) => same } = output;
  output.write(worded(text), done);
}

/** Writes a report without keys: wrapped as text for people, with unchanged lines in any other format. */
export function tellAs(format: string, output: Output, report: string, how: Telling = {}): void {
  if (format === "text") tell(output, redactKeys(report), how);
  else writeData(output, redactKeys(report));
}

const program = "(?:npx (?:--no-install )?)?svc-sandbox|curl|node|eval";
const command = new RegExp(String.raw`^\s+(?:${program}) `);
// A command after the last colon of a line is also there to copy.
const endsWithCommand = new RegExp(`^(.*?:) ((?:${program}) .*)$`);
// A body in a story: JSON must not be broken.
const json = /^\s*(?:\p{Cc}\[\d+m)*(?:[[{] ?["[{]|"[^"]*"(?:\p{Cc}\[\d+m)*: )/u;
const caretLine = /^ *\^$/;

/** Wraps a text's long lines; the text may be colored. A line with a caret under it is shortened around the caret. */
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
  // Text in backquotes counts as one word.
  for (const [word] of line.matchAll(/\s*(?:[^\s`]*`[^`]*`\S*|\S+)/g)) {
    if (last === "" || textWidth(last + word) <= width) last += word;
    else {
      lines.push(last);
      last = hang + word.trimStart();
    }
  }
  return [...lines, last];
}
