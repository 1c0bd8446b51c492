import { styleText } from "node:util";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { safeOutput, withoutLogCommands } from "../rules/terminal-text.js";

/** A destination of text: a terminal, a pipe, or a test's string. */
export interface Output {
  readonly write: (text: string, done?: (error?: Error | null) => void) => unknown;
  /** Waits until there is room for more, or the signal is aborted; resolves to whether someone still reads. Default: true immediately. */
  readonly waitForReader?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** The current number of characters per line; `undefined` if unknown, as in a pipe. */
  readonly columns?: number | undefined;
}

/** An output that cannot be misused to control the terminal, and that shows no full key (R46). Every command writes through it. */
export interface Printer extends Output {
  readonly waitForReader: (until: AbortSignal) => Promise<boolean>;
  /** Writes a text for people, of which no line is a command of a CI log. */
  readonly say: Output["write"];
  /** Writes a text with the keys in it, which the user has asked for. */
  readonly printSecret: (text: string) => void;
  /** The current style, with colors only on a terminal, and not with `NO_COLOR`: windows are resized. */
  readonly style: () => Style;
}

/** How a text may look where it is printed. */
export interface Style {
  readonly palette: Palette;
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

export function createPrinter(output: Output, env: Readonly<Record<string, string | undefined>>): Printer {
  const printSecret: Output["write"] = (text, done) => output.write(safeOutput(text, output.isTTY), done);
  const write: Output["write"] = (text, done) => printSecret(redactPlainKeys(text), done);
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
    printSecret,
    waitForReader: async (until: AbortSignal) => (await output.waitForReader?.(until)) ?? true,
    say: (text, done) => write(withoutLogCommands(text), done),
    style(): Style {
      const { isTTY = false, columns = Number.POSITIVE_INFINITY } = output;
      return { palette: createPalette(isTTY && !hasNoColors), isTerminal: isTTY, width: columns };
    },
  };
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
