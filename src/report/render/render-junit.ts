import { oneSafeLine } from "../../rules/terminal-text.js";
import {
  normalizeCell,
  plainCell,
  type ReportLayout,
  type Section,
  type TableRow,
  type Tone,
} from "./layout.js";

/** What a row or the conclusion is as a test of JUnit, by its tone. */
const junitResults = {
  good: "passed",
  warning: "skipped",
  quiet: "skipped",
  bad: "failed",
  broken: "error",
} as const;

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
export function renderJunit(layout: ReportLayout): string {
  const program = `svc-sandbox ${layout.kind} ${layout.subject}`;
  const suites = suitesOf(layout).filter((suite) => suite.cases.length > 0);
  const allCases: TestCase[] = [];
  for (const suite of suites) allCases.push(...suite.cases);
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
    lines.push(
      `  <testsuite name=${attribute(name)} ${countAttributes(cases)} skipped="${skipped}" time="0">`,
    );
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

  const failures: TestCase[] = [];
  for (const failure of layout.failures) {
    failures.push({ name: failure, tone: "bad", message: failure, lines: [failure] });
  }
  suites.push({ name: "failures", cases: failures });
  return suites;
}

/** The rows with a tone as tests. */
function casesOf(section: Section): TestCase[] {
  const cases: TestCase[] = [];
  for (const row of section.rows) {
    for (const [index, cell] of row.cells.entries()) {
      const { tone } = normalizeCell(cell);
      if (tone === undefined) continue;
      cases.push(testCaseOf(row, section.columns, index, tone));
      break;
    }
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

/** Escapes a text for XML, for an element or double quotes. */
function xmlText(text: string): string {
  return oneSafeLine(text).replace(/[&<>"]/g, (sign) => entities[sign] as string);
}

function attribute(text: string): string {
  return `"${xmlText(text)}"`;
}
