import { escapeControls } from "../../rules/redact.js";
import { detailed, plainCell, type ReportDocument, type Section, type Tone } from "./document.js";

interface TestCase {
  readonly name: string;
  readonly tone: Tone;
  /** The first one is the message. */
  readonly lines: readonly string[];
}

/** Renders the document as test results: the conclusion, each row with a tone, and each failure. */
export function renderJunit(document: ReportDocument): string {
  const { kind, subject, title, sections, conclusion, failures } = document;
  const { text, tone = "good" } = conclusion;
  const failed = failures.map((one): TestCase => ({ name: one, tone: "bad", lines: [one] }));
  const suites = [
    { name: "verdict", cases: [{ name: "verdict", tone, lines: [text, title] }] },
    ...sections.map((one) => ({ name: one.title.toLowerCase(), cases: casesOf(one) })),
    { name: "failures", cases: failed },
  ].filter(({ cases }) => cases.length > 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    // Without the number of skipped cases: Jenkins' schema allows it only for a suite.
    `<testsuites name=${attribute(`svc-sandbox ${kind} ${subject}`)} ${counts(suites.flatMap(({ cases }) => cases))} time="0">`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite name="${name}" ${counts(cases)} skipped="${count(cases, "skipped")}" time="0">`,
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
    const more = texts.slice(end).filter((text) => !/^-?$/.test(text));
    const below = details.flatMap((lines, index) =>
      lines.map((line) => `${columns[cells.length + index]}: ${line}`),
    );
    const lines = [...(more.length === 0 ? [] : [more.join(", ")]), ...below];
    return [{ name: texts.slice(0, end).join(" "), tone, lines }];
  });
}

const verdicts = { good: "passed", warning: "skipped", quiet: "skipped", bad: "failed" } as const;

function caseLines({ name, tone, lines }: TestCase, className: string): string[] {
  const open = `    <testcase classname="${className}" name=${attribute(name)} time="0"`;
  const message = attribute(lines[0] ?? "");
  const text = lines.map(xmlText).join("\n");
  const output = `      <system-out>${text}</system-out>`;
  const inside = {
    passed: [output],
    skipped: [`      <skipped message=${message}/>`, output],
    failed: [`      <failure message=${message} type="${className}">${text}</failure>`],
  }[verdicts[tone]];
  return [`${open}>`, ...inside, "    </testcase>"];
}

function counts(cases: readonly TestCase[]): string {
  return `tests="${cases.length}" failures="${count(cases, "failed")}" errors="0"`;
}

function count(cases: readonly TestCase[], verdict: (typeof verdicts)[Tone]): number {
  return cases.filter(({ tone }) => verdicts[tone] === verdict).length;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for XML and HTML, for an element or double quotes. */
export function xmlText(text: string): string {
  return escapeControls(text).replace(/[&<>"]/g, (found) => entities[found] as string);
}

function attribute(text: string): string {
  return `"${xmlText(text)}"`;
}
