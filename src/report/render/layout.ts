import { oneSafeLine } from "../../rules/terminal-text.js";

interface FormatRow {
  /** Its name for people. */
  readonly title: string;
  readonly mediaType: string;
  /** The extensions of file names that choose it. New files get the first one. */
  readonly extensions: readonly [string, ...string[]];
}

/** The formats of a report, a comparison and a certificate. `render.ts` has the renderer of each. */
const formatTable = {
  text: { title: "Text", mediaType: "text/plain", extensions: [".txt"] },
  json: { title: "JSON", mediaType: "application/json", extensions: [".json"] },
  markdown: { title: "Markdown", mediaType: "text/markdown", extensions: [".md", ".markdown"] },
  junit: { title: "JUnit", mediaType: "application/xml", extensions: [".xml"] },
} satisfies Readonly<Record<string, FormatRow>>;

export type ReportFormat = keyof typeof formatTable;

export const formats: Readonly<Record<ReportFormat, FormatRow>> = formatTable;

export const reportFormats = Object.keys(formatTable) as readonly ReportFormat[];

/** A report, a comparison or a certificate, for rendering in each format. Plain data without keys. */
export interface ReportLayout {
  readonly kind: "report" | "comparison" | "certificate";
  /** The scenario or the URL that it is about. */
  readonly subject: string;
  /** One line about the input. */
  readonly title: string;
  readonly sections: readonly Section[];
  readonly notes: readonly string[];
  readonly conclusion: ToneText;
  /** The unmet thresholds, a sentence each. */
  readonly failures: readonly string[];
  /** How long it took, in milliseconds; JUnit has it. Default: 0. */
  readonly durationMs?: number;
  /** The same as one JSON document. */
  readonly json: object;
}

/** A table. With `details`, the text format lists them below each row. In JUnit, each row with a tone is a test. */
export interface Section {
  readonly title: string;
  /** The names of the columns: those of the cells, then those of the details. */
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  readonly cells: readonly Cell[];
  /** The texts of the remaining columns, each of one line or several. */
  readonly details?: readonly (readonly string[])[];
  /** What JUnit shows first of a test that failed or was skipped. Default: its other cells; if these are empty, its first line of details. */
  readonly message?: string | undefined;
}

/** A text with an optional tone. */
export type Cell = string | ToneText;

/** A cell with its members; a text alone has no tone. */
export function normalizeCell(cell: Cell): ToneText {
  return typeof cell === "string" ? { text: cell } : cell;
}

export function plainCell(cell: Cell): string {
  return oneSafeLine(normalizeCell(cell).text);
}

interface ToneText {
  readonly text: string;
  /** Default: no color. */
  readonly tone?: Tone | undefined;
}

/** `broken`: it has no result, and is an error in JUnit. */
export type Tone = "good" | "warning" | "bad" | "broken" | "quiet";
