import { oneSafeLine } from "../../rules/terminal-text.js";
import { alignColumns } from "../plain-text.js";
import {
  type Cell,
  normalizeCell,
  plainCell,
  type ReportLayout,
  type Section,
  type TableRow,
  type Tone,
} from "./layout.js";

/** Colors a text for a terminal. */
type Paint = (text: string) => string;

type ReportPalette = Readonly<Record<"bold" | "dim" | "green" | "yellow" | "red", Paint>>;

const unchanged = (text: string) => text;
const colorless: ReportPalette = {
  bold: unchanged,
  dim: unchanged,
  green: unchanged,
  yellow: unchanged,
  red: unchanged,
};

const colorOfTone: Readonly<Record<Tone, keyof ReportPalette>> = {
  good: "green",
  warning: "yellow",
  bad: "red",
  broken: "red",
  quiet: "dim",
};

/** The style of the text format. Default: no colors. */
export interface TextStyle {
  readonly palette?: ReportPalette;
  /** Breaks long lines. */
  readonly wrap?: (text: string) => string;
}

/** Renders the layout as text, for a terminal. */
export function renderText(layout: ReportLayout, style: TextStyle): string {
  const { palette = colorless, wrap = unchanged } = style;
  const lines = [oneSafeLine(layout.title), ""];

  for (const section of layout.sections) {
    lines.push(palette.bold(section.title));
    lines.push(...sectionLines(section, palette));
    const { command } = section;
    if (command !== undefined) lines.push(`  ${oneSafeLine(`${command.purpose} ${command.line}`)}`);
    lines.push("");
  }

  for (const note of layout.notes) {
    lines.push(oneSafeLine(note), "");
  }

  const conclusion = oneSafeLine(layout.conclusion.text);
  lines.push(paint(conclusion, layout.conclusion.tone, palette));
  for (const failure of layout.failures) {
    lines.push(palette.red(oneSafeLine(failure)));
  }
  lines.push("");

  return wrap(lines.join("\n"));
}

/** A section with details lists each row above its details; any other one is an aligned table. */
function sectionLines(section: Section, palette: ReportPalette): string[] {
  const painted = (cell: Cell) => paint(plainCell(cell), normalizeCell(cell).tone, palette);

  const hasDetails = section.rows.some((row) => row.details !== undefined);
  if (!hasDetails) {
    const table = alignColumns(section.rows.map((row) => row.cells.map(painted)));
    return table.map((line) => `  ${line}`);
  }

  const lines: string[] = [];
  for (const row of section.rows) {
    const filledCells = row.cells.filter((cell) => plainCell(cell) !== "");
    lines.push(`  ${filledCells.map(painted).join("  ")}`);
    for (const line of alignColumns(labeledDetails(row, section.columns))) lines.push(`    ${line}`);
  }
  return lines;
}

/** The lines of a row's details. The first line of each has the name of its column, the others are below it. */
function labeledDetails(row: TableRow, columns: readonly string[]): string[][] {
  const labeled: string[][] = [];
  for (const [index, lines] of (row.details ?? []).entries()) {
    let label = columns[row.cells.length + index] ?? "";
    for (const line of lines) {
      labeled.push([label, oneSafeLine(line)]);
      label = "";
    }
  }
  return labeled;
}

function paint(text: string, tone: Tone | undefined, palette: ReportPalette): string {
  if (tone === undefined) return text;
  return palette[colorOfTone[tone]](text);
}
