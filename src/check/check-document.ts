import { snakeCase } from "../api/snake-case.js";
import { pluralize } from "../report/plain-text.js";
import type { ReportDocument, ReportFormat, Section, TestCase, Tone } from "../report/render/document.js";
import { render } from "../report/render/render.js";
import type { ReportPalette } from "../report/render/text.js";
import type { Difference } from "./observation.js";
import type { CheckReport, Verdict } from "./report.js";

/** Renders the outcome of a check in one of the formats, with a line end; `palette` colours the text. */
export function renderCheck(report: CheckReport, format: ReportFormat, palette?: ReportPalette): string {
  return render(checkDocument(report), format, palette);
}

const verdicts: Readonly<Record<Verdict, { text: string; tone: Tone; inJunit: TestCase["verdict"] }>> = {
  agrees: { text: "agrees", tone: "good", inJunit: "passed" },
  differs: { text: "differs", tone: "bad", inJunit: "failed" },
  not_tried: { text: "not tried", tone: "quiet", inJunit: "skipped" },
};

function checkDocument(report: CheckReport): ReportDocument {
  const { url, requests, maxRequests, verdict, assumptions, notes, stopped } = report;
  return {
    kind: "check",
    subject: url,
    title: `Checked ${url} with ${requests} of at most ${maxRequests} requests`,
    ...(stopped === undefined && { yaml: { title: "What was learned, for a scenario", text: assumptions } }),
    sections: stopped === undefined ? sectionsOf(report) : [],
    notes: stopped === undefined ? notes : [],
    conclusion: { text: conclusion(report), tone: verdict === "agrees" ? "good" : "bad" },
    failures: [],
    suites: [
      { name: "paths", cases: pathCases(report) },
      { name: "rules", cases: ruleCases(report) },
    ],
    json: jsonOf(report),
  };
}

/** Returns what a check comes to, in a sentence. */
function conclusion({ stopped, differences, paths }: CheckReport): string {
  if (stopped !== undefined) return stopped;
  const count = (verdict: Verdict) => paths.filter((row) => row.verdict === verdict).length;
  const counts = `${count("agrees")} of ${paths.length} paths agree, ${count("not_tried")} were not tried`;
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${pluralize(differences.length, "difference")} from the contract: ${counts}.`;
}

function sectionsOf({ paths, rules, differences }: CheckReport): Section[] {
  const sections: Section[] = [
    {
      title: "Paths",
      columns: ["path", "verdict", "what came, key, reason"],
      rows: paths.map(({ pathId, verdict, got, variable, reason }) => ({
        cells: [pathId, verdicts[verdict], [got, variable, reason].filter((text) => text).join(", ")],
      })),
    },
    {
      title: "Rules",
      columns: ["rule", "verdict", "in a few words"],
      rows: rules.map(({ rule, verdict, title, reason }) => ({
        cells: [rule, verdicts[verdict], reason === undefined ? title : `${title} (${reason})`],
      })),
    },
    {
      title: "Differences",
      columns: ["path", "where", "rules", "request", "expected", "found"],
      rows: differences.map(({ pathId, at, rules: broken, expected, found, requestId }) => ({
        cells: [
          { text: pathId, tone: "bad" },
          at,
          broken.join(", "),
          { text: requestId === undefined ? "" : `request ${requestId}`, tone: "quiet" },
        ],
        details: [[expected], [found]],
      })),
    },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

function pathCases({ paths, differences, stopped }: CheckReport): TestCase[] {
  return paths.map(({ pathId, verdict, reason }, index) =>
    stopped !== undefined && index === 0
      ? { name: pathId, verdict: "failed", message: stopped }
      : testCase(
          pathId,
          verdict,
          reason,
          differences.filter((one) => one.pathId === pathId),
        ),
  );
}

function ruleCases({ rules, differences }: CheckReport): TestCase[] {
  return rules.map(({ rule, title, verdict, reason }) =>
    testCase(
      `${rule} ${title}`,
      verdict,
      reason,
      differences.filter((one) => one.rules.includes(rule)),
    ),
  );
}

function testCase(
  name: string,
  verdict: Verdict,
  reason: string | undefined,
  differences: readonly Difference[],
): TestCase {
  const lines = differences.map(
    ({ pathId, at, expected, found }) => `${pathId} ${at}: expected ${expected}, found ${found}`,
  );
  const isPassed = verdict === "agrees";
  return {
    name,
    verdict: verdicts[verdict].inJunit,
    message: isPassed ? undefined : (lines[0] ?? reason),
    output: lines.length > 0 ? lines.join("\n") : undefined,
  };
}

function jsonOf({ lessons, assumptions, stopped, ...rest }: CheckReport): object {
  const learned = lessons.filter(({ value }) => value !== undefined);
  const open = lessons.filter(({ value }) => value === undefined);
  return {
    ...(snakeCase({ ...rest, stopped: stopped ?? null }) as object),
    learned: Object.fromEntries(learned.map(({ name, value }) => [name, value])),
    not_learned: Object.fromEntries(open.map(({ name, because }) => [name, because])),
    assumptions_yaml: assumptions,
  };
}
