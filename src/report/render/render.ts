import { oneSafeLine } from "../../rules/terminal-text.js";
import { alignColumns } from "../plain-text.js";
import {
  type Cell,
  normalizeCell,
  type ReportFormat,
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

/** What a row or the conclusion is as a test of JUnit, by its tone. */
const junitResults = {
  good: "passed",
  warning: "skipped",
  quiet: "skipped",
  bad: "failed",
  broken: "error",
} as const;

/** The style of the text format. Default: no colors. */
export interface TextStyle {
  readonly palette?: ReportPalette;
  /** Breaks long lines. */
  readonly wrap?: (text: string) => string;
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

function renderText(layout: ReportLayout, style: TextStyle): string {
  const { palette = colorless, wrap = unchanged } = style;
  const lines = [oneSafeLine(layout.title), ""];

  for (const section of layout.sections) {
    lines.push(palette.bold(section.title));
    lines.push(...sectionLines(section, palette));
    if (section.note !== undefined) lines.push(`  ${plainCell(section.note)}`);
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
  const { columns, rows, note } = section;
  const lines = [markdownRow(columns), `|${"---|".repeat(columns.length)}`];

  for (const row of rows) {
    const cells = row.cells.map(markdownCell);
    for (const detail of row.details ?? []) cells.push(detail.map(markdownText).join("<br>"));
    lines.push(markdownRow(cells));
  }
  lines.push("");

  if (note) lines.push(markdownCell(note), "");
  return lines;
}

function markdownRow(cells: readonly string[]): string {
  // Here, a bar of a command would end its cell. Texts have none: theirs are entities.
  const escapedCells = cells.map((cell) => cell.replaceAll("|", "\\|"));
  return `| ${escapedCells.join(" | ")} |`;
}

function markdownCell(cell: Cell): string {
  const { text, code } = normalizeCell(cell);
  if (code === undefined) return markdownText(text);

  // One tick more than the most in a row inside the command.
  let mostTicks = 0;
  for (const ticks of code.match(/`+/g) ?? []) mostTicks = Math.max(mostTicks, ticks.length);
  const fence = "`".repeat(mostTicks + 1);

  const line = oneSafeLine(code);
  const command = mostTicks === 0 ? line : ` ${line} `;
  return `${markdownText(text)} ${fence}${command}${fence}`;
}

// Sent texts must not end a cell, start a tag, or mention a user. An underscore inside a word is harmless.
const markdownSigns = /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi;

function markdownText(text: string): string {
  return oneSafeLine(text).replace(markdownSigns, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A group of tests in JUnit: a section, the conclusion or the failures. */
interface TestSuite {
  readonly name: string;
  readonly cases: readonly TestCase[];
}

interface TestCase {
  readonly name: string;
  readonly tone: Tone;
  /** What is shown first of a test that failed or was skipped. */
  readonly message: string;
  /** Its whole output. */
  readonly lines: readonly string[];
}

/** Renders the layout as test results: the conclusion, each row with a tone, and each failure. */
function renderJunit(layout: ReportLayout): string {
  const program = `svc-sandbox ${layout.kind} ${layout.subject}`;
  const suites = suitesOf(layout).filter((suite) => suite.cases.length > 0);
  const allCases = suites.flatMap((suite) => suite.cases);
  const { durationMs = 0 } = layout;
  const seconds = durationMs / 1000;

  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    // Without the number of skipped cases: Jenkins' schema allows it only for a suite.
    `<testsuites name=${attribute(program)} ${countAttributes(allCases)} time="${seconds}">`,
  ];
  for (const { name, cases } of suites) {
    const className = `svc-sandbox.${layout.kind}.${name.replaceAll(" ", "-")}`;
    const skipped = countOf(cases, "skipped");
    lines.push(`  <testsuite name="${name}" ${countAttributes(cases)} skipped="${skipped}" time="0">`);
    for (const testCase of cases) lines.push(...caseLines(testCase, className));
    lines.push("  </testsuite>");
  }
  lines.push("</testsuites>", "");
  return lines.join("\n");
}

function suitesOf(layout: ReportLayout): TestSuite[] {
  const { text, tone = "good" } = layout.conclusion;
  const conclusion: TestCase = { name: "conclusion", tone, message: text, lines: [text, layout.title] };
  const suites: TestSuite[] = [{ name: "conclusion", cases: [conclusion] }];

  for (const section of layout.sections) {
    suites.push({ name: section.title.toLowerCase(), cases: casesOf(section) });
  }

  const failures = layout.failures.map((failure): TestCase => {
    return { name: failure, tone: "bad", message: failure, lines: [failure] };
  });
  suites.push({ name: "failures", cases: failures });
  return suites;
}

/** The rows with a tone as tests. */
function casesOf(section: Section): TestCase[] {
  const cases: TestCase[] = [];
  for (const row of section.rows) {
    const toneIndex = row.cells.findIndex((cell) => normalizeCell(cell).tone !== undefined);
    const { tone } = normalizeCell(row.cells[toneIndex] ?? "");
    if (tone !== undefined) cases.push(testCaseOf(row, section.columns, toneIndex, tone));
  }
  return cases;
}

/** A row as a test: its first cells are the name, all others its output. */
function testCaseOf(row: TableRow, columns: readonly string[], toneIndex: number, tone: Tone): TestCase {
  const texts = row.cells.map(plainCell);

  // The name is before the cell with the tone. If that is the first one, these are the first two cells.
  const nameLength = toneIndex === 0 ? 2 : toneIndex;
  const name = texts.slice(0, nameLength).join(" ");

  // Of the rest, the cells that say something are the message.
  const facts: string[] = [];
  const lines: string[] = [];
  for (const [index, text] of texts.entries()) {
    if (index < nameLength || text === "" || text === "-") continue;
    facts.push(text);
    lines.push(`${columns[index]}: ${text}`);
  }

  for (const [index, detail] of (row.details ?? []).entries()) {
    const column = columns[texts.length + index];
    for (const line of detail) lines.push(`${column}: ${line}`);
  }

  // If the details say all, the first of them is the message.
  const shownFirst = facts.join(", ") || (lines[0] ?? "");
  return { name, tone, message: row.message ?? shownFirst, lines };
}

/** A test as an element of JUnit. */
function caseLines(testCase: TestCase, className: string): string[] {
  const open = `    <testcase classname="${className}" name=${attribute(testCase.name)} time="0">`;
  const close = "    </testcase>";
  const message = attribute(testCase.message);
  const text = testCase.lines.map(xmlText).join("\n");
  const output = `      <system-out>${text}</system-out>`;

  switch (junitResults[testCase.tone]) {
    case "passed":
      return [open, output, close];
    case "skipped":
      return [open, `      <skipped message=${message}/>`, output, close];
    case "failed":
      return [open, `      <failure message=${message} type="${className}">${text}</failure>`, close];
    case "error":
      return [open, `      <error message=${message} type="${className}">${text}</error>`, close];
  }
}

function countAttributes(cases: readonly TestCase[]): string {
  return `tests="${cases.length}" failures="${countOf(cases, "failed")}" errors="${countOf(cases, "error")}"`;
}

function countOf(cases: readonly TestCase[], result: (typeof junitResults)[Tone]): number {
  return cases.filter((testCase) => junitResults[testCase.tone] === result).length;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for XML and HTML, for an element or double quotes. */
function xmlText(text: string): string {
  return oneSafeLine(text).replace(/[&<>"]/g, (sign) => entities[sign] as string);
}

function attribute(text: string): string {
  return `"${xmlText(text)}"`;
}

/** A cell as text: its command is behind its words. */
function plainCell(cell: Cell): string {
  const { text, code } = normalizeCell(cell);
  return oneSafeLine(code === undefined ? text : `${text} ${code}`);
}
