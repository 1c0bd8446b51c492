import { adviceTable } from "../domain/advice.js";
import { conclusion, counted } from "./conclusion.js";
import type { Report, ReportedAdvice, ReportedRequest } from "./report.js";
import { visible } from "./visible.js";
import { xmlAttribute, xmlText } from "./xml-text.js";

interface TestCase {
  readonly name: string;
  readonly verdict: "passed" | "skipped" | "failed";
  /** Why it was skipped or failed. */
  readonly message?: string | undefined;
  /** What a reader of the results may want to know. */
  readonly output?: string | undefined;
}

/**
 * The report as JUnit XML.
 *
 * A test case for the client, skipped when it never called; one for each promised path, skipped when it was missed; one for each advice, failed by an error, while
 * warnings and notes are its output; and one that failed for each reason for which the report did not pass.
 */
export function asJunit(report: Report, reasons: readonly string[]): string {
  const suites: readonly (readonly [string, readonly TestCase[]])[] = [
    ["client", clientCases(report)],
    ["paths", pathCases(report)],
    ["advice", adviceCases(report)],
    ...(reasons.length === 0 ? [] : [["gate", gateCases(reasons)] as const]),
  ];
  const all = suites.flatMap(([, cases]) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    // Without how many were skipped: the schema that Jenkins checks with has that for a suite alone.
    `<testsuites name=${xmlAttribute(`svc-sandbox report ${visible(report.scenario)}`)} ${countsOf(all)} time="0">`,
    ...suites.flatMap(([name, cases]) => suite(name, cases, name === "client" ? propertiesOf(report) : [])),
    "</testsuites>",
    "",
  ].join("\n");
}

function clientCases(report: Report): TestCase[] {
  const name = "has called the API";
  const said = conclusion(report);
  return [
    report.requests === 0
      ? { name, verdict: "skipped", message: said }
      : { name, verdict: "passed", output: `${counted(report.requests, "request")}. ${said}` },
  ];
}

function pathCases({ paths }: Report): TestCase[] {
  return paths
    .filter(({ promised }) => promised)
    .map(({ pathId, met, when, howToMeet }) =>
      met
        ? { name: pathId, verdict: "passed" }
        : { name: pathId, verdict: "skipped", message: `not met: ${when}`, output: howToMeet ?? undefined },
    );
}

function adviceCases({ advice }: Report): TestCase[] {
  return adviceTable.map(({ id }) => {
    const row = advice.find((one) => one.id === id);
    if (row === undefined) return { name: id, verdict: "passed" };
    const output = adviceText(row);
    return row.level === "error"
      ? { name: id, verdict: "failed", message: `${counted(row.count, "request")}: ${row.meaning}`, output }
      : { name: id, verdict: "passed", output };
  });
}

function gateCases(reasons: readonly string[]): TestCase[] {
  return reasons.map((message, index) => ({ name: `gate ${index + 1}`, verdict: "failed", message }));
}

function adviceText({ level, rule, count, meaning, whatToDo, examples }: ReportedAdvice): string {
  return [
    `${level} (${rule}), ${counted(count, "request")}: ${meaning}`,
    whatToDo,
    ...examples.map(requestText),
  ].join("\n");
}

function requestText({ id, at, method, path, key, fingerprint, didYouMean }: ReportedRequest): string {
  const meant = didYouMean === null ? "" : `, did you mean ${didYouMean}?`;
  return `${at} ${visible(method)} ${visible(path)}, ${key ?? fingerprint ?? "no key"}, ${id}${meant}`;
}

function suite(name: string, cases: readonly TestCase[], properties: readonly string[]): string[] {
  return [
    `  <testsuite name="${name}" ${countsOf(cases)} skipped="${numberOf(cases, "skipped")}" time="0">`,
    ...properties,
    ...cases.flatMap((one) => testCase(name, one)),
    "  </testsuite>",
  ];
}

function propertiesOf({ requests, coverage: { percent, met, promised } }: Report): string[] {
  const values = {
    requests,
    "coverage.percent": percent,
    "coverage.met": met,
    "coverage.promised": promised,
  };
  return [
    "    <properties>",
    ...Object.entries(values).map(([name, value]) => `      <property name="${name}" value="${value}"/>`),
    "    </properties>",
  ];
}

function testCase(group: string, { name, verdict, message = "", output }: TestCase): string[] {
  const open = `    <testcase classname="svc-sandbox.report.${group}" name=${xmlAttribute(name)} time="0"`;
  const inside = [
    ...(verdict === "skipped" ? [`      <skipped message=${xmlAttribute(message)}/>`] : []),
    ...(verdict === "failed" ? [`      <failure message=${xmlAttribute(message)} type="${group}"/>`] : []),
    ...(output === undefined ? [] : [`      <system-out>${xmlText(output)}</system-out>`]),
  ];
  return inside.length === 0 ? [`${open}/>`] : [`${open}>`, ...inside, "    </testcase>"];
}

function countsOf(cases: readonly TestCase[]): string {
  return `tests="${cases.length}" failures="${numberOf(cases, "failed")}" errors="0"`;
}

function numberOf(cases: readonly TestCase[], verdict: TestCase["verdict"]): number {
  return cases.filter((one) => one.verdict === verdict).length;
}
