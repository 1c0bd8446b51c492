import { escapeControls } from "../../rules/terminal-text.js";
import { alignColumns } from "../plain-text.js";
import {
  type Cell,
  detailed,
  type ReportFormat,
  type ReportLayout,
  type Section,
  type Tone,
} from "./layout.js";

type Paint = (text: string) => string;

type ReportPalette = Readonly<Record<"bold" | "dim" | "green" | "yellow" | "red", Paint>>;

const same: Paint = (text) => text;
const colorless: ReportPalette = { bold: same, dim: same, green: same, yellow: same, red: same };

/** The style of the text format. Default: no colors. */
export interface TextStyle {
  readonly palette?: ReportPalette;
  /** Breaks long lines. */
  readonly wrap?: (text: string) => string;
}

export function render(
  layout: ReportLayout,
  format: ReportFormat,
  { palette = colorless, wrap = same }: TextStyle = {},
): string {
  const sections = layout.sections.filter(({ rows }) => rows.length > 0);
  return renderers[format]({ ...layout, sections }, palette, wrap);
}

const renderers: Readonly<
  Record<ReportFormat, (layout: ReportLayout, palette: ReportPalette, wrap: Paint) => string>
> = {
  text: renderText,
  json: ({ json }) => `${JSON.stringify(json, null, 2)}\n`,
  markdown: renderMarkdown,
  junit: renderJunit,
};

function renderText(layout: ReportLayout, palette: ReportPalette, wrap: Paint): string {
  const { title, sections, notes, conclusion, failures } = layout;
  const before = [
    escapeControls(title),
    "",
    ...sections.flatMap((one) => {
      const below = one.note === undefined ? [] : [`  ${plainCell(one.note)}`];
      return [palette.bold(one.title), ...sectionLines(one, palette), ...below, ""];
    }),
  ];
  const after = [
    ...notes.flatMap((note) => [escapeControls(note), ""]),
    paint(escapeControls(conclusion.text), conclusion.tone, palette),
    ...failures.map((failure) => palette.red(escapeControls(failure))),
    "",
  ];
  return [wrap(before.join("\n")), wrap(after.join("\n"))].join("\n");
}

function sectionLines({ columns, rows }: Section, palette: ReportPalette): string[] {
  const painted = (cell: Cell) => paint(plainCell(cell), detailed(cell).tone, palette);
  if (rows.every(({ details }) => details === undefined)) {
    return alignColumns(rows.map(({ cells }) => cells.map(painted))).map((line) => `  ${line}`);
  }
  return rows.flatMap(({ cells, details = [] }) => {
    const head = cells.filter((cell) => plainCell(cell) !== "");
    const labeled = details.flatMap((lines, index) =>
      lines.map((line, i) => [i === 0 ? (columns[cells.length + index] ?? "") : "", escapeControls(line)]),
    );
    const below = alignColumns(labeled).map((line) => `    ${line}`);
    return [`  ${head.map(painted).join("  ")}`, ...below];
  });
}

function paint(text: string, tone: Tone | undefined, palette: ReportPalette): string {
  if (tone === undefined) return text;
  const { green: good, yellow: warning, red: bad, dim: quiet } = palette;
  return { good, warning, bad, broken: bad, quiet }[tone](text);
}

/** Renders the layout as GitHub Markdown, for the summary of a CI job or a pull request: a table for each section. */
function renderMarkdown(layout: ReportLayout): string {
  const { title, sections, notes, conclusion, failures } = layout;
  return [
    `# ${markdownText(conclusion.text)}`,
    "",
    `${markdownText(title)}.`,
    "",
    ...failures.flatMap((failure) => [`**${markdownText(failure)}**`, ""]),
    ...sections.flatMap(table),
    ...notes.flatMap((note) => [markdownText(note), ""]),
  ].join("\n");
}

function table({ columns, rows, note = "" }: Section): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    `|${"---|".repeat(columns.length)}`,
    ...rows.map(({ cells, details = [] }) =>
      line([...cells.map(cellText), ...details.map((lines) => lines.map(markdownText).join("<br>"))]),
    ),
    "",
    ...(note === "" ? [] : [cellText(note), ""]),
  ];
}

function cellText(cell: Cell): string {
  const { text, code } = detailed(cell);
  if (code === undefined) return markdownText(text);
  // Longer than any in the command. In tables, bars must be escaped.
  const ticks = "`".repeat(1 + Math.max(0, ...(code.match(/`+/g) ?? []).map(({ length }) => length)));
  const inside = escapeControls(code).replaceAll("|", "\\|");
  return `${markdownText(text)} ${ticks}${ticks.length > 1 ? ` ${inside} ` : inside}${ticks}`;
}

// Sent texts must not end a cell, start a tag, or mention a user. An underscore inside a word is harmless.
function markdownText(text: string): string {
  return escapeControls(text).replace(
    /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi,
    (found) => `&#${found.charCodeAt(0)};`,
  );
}

interface TestCase {
  readonly name: string;
  readonly tone: Tone;
  readonly message: string;
  readonly lines: readonly string[];
}

/** Renders the layout as test results: the conclusion, each row with a tone, and each failure. */
function renderJunit(layout: ReportLayout): string {
  const { kind, subject, title, sections, conclusion, failures } = layout;
  const { text, tone = "good" } = conclusion;
  const failed = failures.map((one): TestCase => ({ name: one, tone: "bad", message: one, lines: [one] }));
  const suites = [
    { name: "conclusion", cases: [{ name: "conclusion", tone, message: text, lines: [text, title] }] },
    ...sections.map((one) => ({ name: one.title.toLowerCase(), cases: casesOf(one) })),
    { name: "failures", cases: failed },
  ].filter(({ cases }) => cases.length > 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    // Without the number of skipped cases: Jenkins' schema allows it only for a suite.
    `<testsuites name=${attribute(`svc-sandbox ${kind} ${subject}`)} ${countAttributes(suites.flatMap(({ cases }) => cases))} time="0">`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite name="${name}" ${countAttributes(cases)} skipped="${countOf(cases, "skipped")}" time="0">`,
      ...cases.flatMap((one) => caseLines(one, `svc-sandbox.${kind}.${name.replaceAll(" ", "-")}`)),
      "  </testsuite>",
    ]),
    "</testsuites>",
    "",
  ].join("\n");
}

/** The name is before the cell with the tone; if that is the first one, it is the name, with the next one. */
function casesOf({ columns, rows }: Section): TestCase[] {
  return rows.flatMap(({ cells, details = [] }) => {
    const at = cells.findIndex((cell) => detailed(cell).tone !== undefined);
    const tone = detailed(cells[at] ?? "").tone;
    if (tone === undefined) return [];
    const texts = cells.map(plainCell);
    const end = at || 2;
    const values = [...texts.map((text) => (/^-?$/.test(text) ? [] : [text])), ...details];
    const lines = values.flatMap((ofColumn, index) =>
      index < end ? [] : ofColumn.map((value) => `${columns[index]}: ${value}`),
    );
    const message = values.slice(end, texts.length).flat().join(", ") || (lines[0] ?? "");
    return [{ name: texts.slice(0, end).join(" "), tone, message, lines }];
  });
}

const junitResults = {
  good: "passed",
  warning: "skipped",
  quiet: "skipped",
  bad: "failed",
  broken: "error",
} as const;

function caseLines({ name, tone, message: plain, lines }: TestCase, className: string): string[] {
  const open = `    <testcase classname="${className}" name=${attribute(name)} time="0"`;
  const message = attribute(plain);
  const text = lines.map(xmlText).join("\n");
  const output = `      <system-out>${text}</system-out>`;
  const inside = {
    passed: [output],
    skipped: [`      <skipped message=${message}/>`, output],
    failed: [`      <failure message=${message} type="${className}">${text}</failure>`],
    error: [`      <error message=${message} type="${className}">${text}</error>`],
  }[junitResults[tone]];
  return [`${open}>`, ...inside, "    </testcase>"];
}

function countAttributes(cases: readonly TestCase[]): string {
  return `tests="${cases.length}" failures="${countOf(cases, "failed")}" errors="${countOf(cases, "error")}"`;
}

function countOf(cases: readonly TestCase[], result: (typeof junitResults)[Tone]): number {
  return cases.filter(({ tone }) => junitResults[tone] === result).length;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for XML and HTML, for an element or double quotes. */
function xmlText(text: string): string {
  return escapeControls(text).replace(/[&<>"]/g, (found) => entities[found] as string);
}

function attribute(text: string): string {
  return `"${xmlText(text)}"`;
}

function plainCell(cell: Cell): string {
  const { text, code } = detailed(cell);
  return escapeControls(code === undefined ? text : `${text} ${code}`);
}
