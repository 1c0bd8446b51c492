import { xmlAttribute, xmlText } from "../report/xml-text.js";
import { conclusion } from "./conclusion.js";
import type { Difference } from "./observation.js";
import type { CheckReport, Verdict } from "./report.js";

interface TestCase {
  readonly group: "paths" | "rules";
  readonly name: string;
  readonly verdict: Verdict;
  /** Why it was not tried, or failed without a difference. */
  readonly reason: string;
  readonly differences: readonly Difference[];
}

/** The report as JUnit XML: a test case for each path and each rule; what was not tried is skipped. */
export function asJunit(report: CheckReport): string {
  const cases = casesOf(report);
  const suites = (["paths", "rules"] as const).map((group) => suite(group, cases));
  const counts = countsOf(cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${xmlAttribute(`svc-sandbox check ${report.url}`)} ${counts}>`,
    ...suites.flat(),
    "</testsuites>",
    "",
  ].join("\n");
}

function casesOf(report: CheckReport): TestCase[] {
  const { paths, rules, differences, stopped } = report;
  const stoppedAt = stopped === undefined ? undefined : paths[0]?.pathId;
  return [
    ...paths.map(({ pathId, verdict, reason = "" }) =>
      pathId === stoppedAt
        ? {
            group: "paths" as const,
            name: pathId,
            verdict: "differs" as const,
            reason: conclusion(report),
            differences: [],
          }
        : {
            group: "paths" as const,
            name: pathId,
            verdict,
            reason,
            differences: differences.filter((one) => one.pathId === pathId),
          },
    ),
    ...rules.map(({ rule, title, verdict, reason = "" }) => ({
      group: "rules" as const,
      name: `${rule} ${title}`,
      verdict,
      reason,
      differences: differences.filter((one) => one.rules.includes(rule)),
    })),
  ];
}

function suite(group: TestCase["group"], all: readonly TestCase[]): string[] {
  const cases = all.filter((one) => one.group === group);
  return [`  <testsuite name="${group}" ${countsOf(cases)}>`, ...cases.flatMap(testCase), "  </testsuite>"];
}

function testCase({ group, name, verdict, reason, differences }: TestCase): string[] {
  const open = `    <testcase classname="svc-sandbox.check.${group}" name=${xmlAttribute(name)} time="0"`;
  if (verdict === "agrees") return [`${open}/>`];
  if (verdict === "not_tried") {
    return [`${open}>`, `      <skipped message=${xmlAttribute(reason)}/>`, "    </testcase>"];
  }
  const lines = differences.map(
    ({ pathId, at, expected, found }) => `${pathId} ${at}: expected ${expected}, found ${found}`,
  );
  const message = lines[0] ?? reason;
  return [
    `${open}>`,
    `      <failure message=${xmlAttribute(message)} type="difference">${xmlText(lines.join("\n"))}</failure>`,
    "    </testcase>",
  ];
}

function countsOf(cases: readonly TestCase[]): string {
  const count = (verdict: Verdict) => cases.filter((one) => one.verdict === verdict).length;
  return `tests="${cases.length}" failures="${count("differs")}" errors="0" skipped="${count("not_tried")}" time="0"`;
}
