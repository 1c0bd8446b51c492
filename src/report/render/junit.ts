import { escapeControls } from "../../spec/redact.js";
import type { ReportDocument, Suite, TestCase } from "./document.js";

export function renderJunit({
  kind,
  subject,
  suites,
}: Pick<ReportDocument, "kind" | "subject" | "suites">): string {
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    // Without the number of skipped cases: Jenkins' schema allows it only for a suite.
    `<testsuites name=${attribute(`svc-sandbox ${kind} ${subject}`)} ${counts(all)} time="0">`,
    ...suites.flatMap((suite) => suiteLines(suite, kind)),
    "</testsuites>",
    "",
  ].join("\n");
}

function suiteLines({ name, properties = {}, cases }: Suite, kind: string): string[] {
  const values = Object.entries(properties);
  return [
    `  <testsuite name="${name}" ${counts(cases)} skipped="${count(cases, "skipped")}" time="0">`,
    ...(values.length === 0 ? [] : ["    <properties>"]),
    ...values.map(([property, value]) => `      <property name="${property}" value="${value}"/>`),
    ...(values.length === 0 ? [] : ["    </properties>"]),
    ...cases.flatMap((one) => caseLines(one, `svc-sandbox.${kind}.${name}`)),
    "  </testsuite>",
  ];
}

function caseLines({ name, verdict, message = "", output }: TestCase, className: string): string[] {
  const open = `    <testcase classname="${className}" name=${attribute(name)} time="0"`;
  const body = output === undefined ? "" : xmlText(output);
  const inside = [
    ...(verdict === "skipped" ? [`      <skipped message=${attribute(message)}/>`] : []),
    ...(verdict === "failed"
      ? [`      <failure message=${attribute(message)} type="${className}">${body}</failure>`]
      : []),
    ...(verdict !== "failed" && body !== "" ? [`      <system-out>${body}</system-out>`] : []),
  ];
  return inside.length === 0 ? [`${open}/>`] : [`${open}>`, ...inside, "    </testcase>"];
}

function counts(cases: readonly TestCase[]): string {
  return `tests="${cases.length}" failures="${count(cases, "failed")}" errors="0"`;
}

function count(cases: readonly TestCase[], verdict: TestCase["verdict"]): number {
  return cases.filter((one) => one.verdict === verdict).length;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text of one or more lines for XML and HTML, for an element or double quotes. */
export function xmlText(text: string): string {
  const lines = text.split("\n").map(escapeControls).join("\n");
  return lines.replace(/[&<>"]/g, (found) => entities[found] as string);
}

function attribute(text: string): string {
  return `"${xmlText(escapeControls(text))}"`;
}
