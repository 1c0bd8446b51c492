import picocolors from "picocolors";
import { escapeControls, redactKeys, textWidth } from "../spec/redact.js";

type Environment = Readonly<Record<string, string | undefined>>;

export type Palette = ReturnType<typeof picocolors.createColors>;

/** Returns the colors for an output: only for a terminal, and not with `NO_COLOR` or `--no-color`. */
export function paletteFor(output: Output, env: Environment, { color = true } = {}): Palette {
  const isForbidden = !color || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return picocolors.createColors(output.isTTY === true && !isForbidden);
}

export interface Style {
  readonly palette: Palette;
  /** Whether signs replace words. */
  readonly isTerminal: boolean;
  /** The number of characters per line of a terminal; `Infinity` in a pipe. */
  readonly width: number;
}

/** Returns the current style of an output: windows are resized. */
export function styleFor(
  output: Output,
  env: Environment,
  { color = true }: { readonly color?: boolean } = {},
): Style {
  const { isTTY = false, columns = Number.POSITIVE_INFINITY } = output;
  return { palette: paletteFor(output, env, { color }), isTerminal: isTTY, width: columns };
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

/** Returns a text on one line, shortened to a width. */
export function onOneLine(text: string, width: number): string {
  const line = escapeControls(text.trim().replace(/\s+/g, " "));
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
}

type Done = (error?: Error | null) => void;

/** A destination of text: a terminal, a pipe, or a test's string. Only `tell` and `writeData` write to it. */
export interface Output {
  /** `done` is called once the text is written or lost. */
  readonly write: (text: string, done?: Done) => unknown;
  /**
   * Resolves once there is room for more, or the signal is aborted. The result is whether someone still reads it. Default:
   * true immediately.
   */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The current number of characters per line; `undefined` if unknown, as in a pipe. */
  readonly columns?: number | undefined;
}

/** Writes a text for people. A terminal gets lines that fit: long ones wrap at spaces, except commands, JSON and YAML to copy. */
export function tell(output: Output, text: string, done?: Done): void {
  const { columns } = output;
  output.write(columns === undefined ? text : wrapLines(text, columns), done);
}

/** Writes data for other programs (JSON, YAML, Markdown, shell lines), with unchanged lines. */
export function writeData(output: Output, text: string, done?: Done): void {
  output.write(text, done);
}

/** Writes a report without keys: wrapped as text for people, with unchanged lines in any other format. */
export function tellAs(format: string, output: Output, report: string): void {
  if (format === "text") tell(output, redactKeys(report));
  else writeData(output, redactKeys(report));
}

// What is there to copy must not be broken: a command, alone or after a colon, a body in a story, a comment of YAML.
const program = "(?:npx (?:--no-install )?)?svc-sandbox|curl|node|eval";
const json = String.raw`^\s*(?:\p{Cc}\[\d+m)*(?:[[{] ?["[{]|"[^"]*"(?:\p{Cc}\[\d+m)*: )`;
const copied = new RegExp(String.raw`(?:^\s+|: | {2})(?:${program}) |${json}| # `, "u");
const caretLine = /^ *\^$/;

/** Wraps a text's long lines; the text may be colored. A line with a caret under it stays. */
function wrapLines(text: string, width: number): string {
  const lines = text.split("\n");
  return lines
    .flatMap((line, index) => {
      const isExcerpt = caretLine.test(lines[index + 1] ?? "");
      return isExcerpt || textWidth(line) <= width || copied.test(line) ? line : wrapLine(line, width);
    })
    .join("\n");
}

function wrapLine(line: string, width: number): string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  const lines: string[] = [];
  let last = "";
  // Text in backquotes counts as one word.
  for (const [word] of line.matchAll(/\s*(?:[^\s`]*`[^`]*`\S*|\S+)/g)) {
    if (last === "" || textWidth(last + word) <= width) last += word;
    else {
      lines.push(last);
      last = indent + word.trimStart();
    }
  }
  return [...lines, last];
}
