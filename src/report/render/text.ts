import { alignColumns, escapeControls } from "../plain-text.js";
import type { Cell, ReportDocument, Section, Tone } from "./document.js";

type Paint = (text: string) => string;

/** Functions that colour a text, or leave it alone. */
export interface ReportPalette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly red: Paint;
}

const same: Paint = (text) => text;
const colourless: ReportPalette = { bold: same, dim: same, green: same, yellow: same, red: same };

/** The document for people: aligned tables and lists. */
export function renderText(document: ReportDocument, palette = colourless): string {
  const { title, sections, yaml, notes, conclusion, failures } = document;
  return [
    escapeControls(title),
    "",
    ...sections.flatMap((section) => [palette.bold(section.title), ...sectionLines(section, palette), ""]),
    ...(yaml === undefined ? [] : [palette.bold(yaml.title), "", yaml.text]),
    ...notes.flatMap((note) => [escapeControls(note), ""]),
    paint(conclusion.text, conclusion.tone, palette),
    ...failures.map((failure) => palette.red(failure)),
    "",
  ].join("\n");
}

function sectionLines({ columns, rows }: Section, palette: ReportPalette): string[] {
  const painted = (cell: Cell) => paint(textOf(cell), toneOf(cell), palette);
  if (rows.every(({ details }) => details === undefined)) {
    return alignColumns(rows.map(({ cells }) => cells.map(painted))).map((line) => `  ${line}`);
  }
  return rows.flatMap(({ cells, details = [] }) => {
    const head = cells.filter((cell) => textOf(cell) !== "");
    const labelled = details.flatMap((lines, index) =>
      lines.map((line, i) => [i === 0 ? (columns[cells.length + index] ?? "") : "", escapeControls(line)]),
    );
    return [`  ${head.map(painted).join("  ")}`, ...alignColumns(labelled).map((line) => `    ${line}`)];
  });
}

function textOf(cell: Cell): string {
  if (typeof cell === "string") return escapeControls(cell);
  return escapeControls("code" in cell ? `${cell.text} ${cell.code}` : cell.text);
}

function toneOf(cell: Cell): Tone | undefined {
  return typeof cell === "object" && "tone" in cell ? cell.tone : undefined;
}

function paint(text: string, tone: Tone | undefined, palette: ReportPalette): string {
  if (tone === undefined) return text;
  const { green: good, yellow: warning, red: bad, dim: quiet } = palette;
  return { good, warning, bad, quiet }[tone](text);
}
