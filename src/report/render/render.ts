import { oneSafeLine } from "../../rules/terminal-text.js";
import { alignColumns } from "../plain-text.js";
import {
  type Cell,
  normalizeCell,
  plainCell,
  type ReportFormat,
  type ReportLayout,
  type Section,
  type TableRow,
  type Tone,
} from "./layout.js";
import { renderJunit } from "./render-junit.js";

/** What colors a text for a terminal. */
type ReportPalette = Readonly<Record<"bold" | "dim" | "green" | "yellow" | "red", (text: string) => string>>;

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
}

/** The layout in a format. It leaves out sections without rows. */
export function render(layout: ReportLayout, format: ReportFormat, style: TextStyle = {}): string {
  const filledSections = layout.sections.filter((section) => section.rows.length > 0);
  const filledLayout: ReportLayout = { ...layout, sections: filledSections };

  switch (format) {
    case "text":
      return renderText(filledLayout, style);
    case "json":
      return `${JSON.stringify(filledLayout.json, null, 2)}\n`;
    case "markdown":
      return renderMarkdown(filledLayout);
    case "junit":
      return renderJunit(filledLayout);
  }
}

/** Renders the layout as text, for a terminal. */
function renderText(layout: ReportLayout, style: TextStyle): string {
  const { palette = colorless } = style;
  const lines = [oneSafeLine(layout.title), ""];

  for (const section of layout.sections) {
    lines.push(palette.bold(section.title));
    lines.push(...sectionLines(section, palette));
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

  return lines.join("\n");
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

/** Renders the layout as GitHub Markdown, for the summary of a CI job or a pull request: a table for each section. */
function renderMarkdown(layout: ReportLayout): string {
  const lines = [`# ${markdownText(layout.conclusion.text)}`, "", `${markdownText(layout.title)}.`, ""];
  for (const failure of layout.failures) {
    lines.push(`**${markdownText(failure)}**`, "");
  }
  for (const section of layout.sections) {
    lines.push(...markdownTable(section));
  }
  for (const note of layout.notes) {
    lines.push(markdownText(note), "");
  }
  return lines.join("\n");
}

function markdownTable(section: Section): string[] {
  const { columns, rows } = section;
  const markdownRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const lines = [markdownRow(columns), `|${"---|".repeat(columns.length)}`];

  for (const row of rows) {
    const cells = row.cells.map((cell) => markdownText(normalizeCell(cell).text));
    for (const detail of row.details ?? []) cells.push(detail.map(markdownText).join("<br>"));
    lines.push(markdownRow(cells));
  }
  lines.push("");

  return lines;
}

// Sent texts must not end a cell, start a tag or a formula, or mention a user. An underscore inside a word is harmless.
const markdownSigns = /[\\|`*<[\]~&@$]|(?<![a-z0-9])_|_(?![a-z0-9])/gi;

function markdownText(text: string): string {
  return oneSafeLine(text).replace(markdownSigns, (sign) => `&#${sign.charCodeAt(0)};`);
}
