import { snakeCase } from "../api/snake-case.js";
import { type AdviceLevel, adviceTable } from "../domain/advice.js";
import { pluralize } from "./plain-text.js";
import type { ReportDocument, ReportFormat, Row, Section, Suite, TestCase, Tone } from "./render/document.js";
import { type ReportPalette, render } from "./render/render.js";
import type { Report, ReportedAdvice, ReportedPath, ReportedRequest } from "./report.js";
import { splitInstruction } from "./reproduce.js";

interface RenderOptions {
  /** The colours of a terminal, for text. Default: none. */
  readonly palette?: ReportPalette;
  /** The thresholds that are not met (`unmetThresholds`). Default: none. */
  readonly failures?: readonly string[];
}

/** Renders a report in one of the formats, with a line end. */
export function renderReport(
  report: Report,
  format: ReportFormat,
  { palette, failures = [] }: RenderOptions = {},
): string {
  return render(reportDocument(report, failures), format, palette);
}

/** Returns what a report comes to, in a sentence or two. */
export function conclusion({ requests, coverage: { percent, met, promised }, advice }: Report): string {
  if (requests === 0)
    return `The client never called the API. Coverage 0 %: 0 of ${promised} promised paths met.`;
  const counts = (["error", "warning", "note"] as const).flatMap((level) => {
    const count = advice.filter((row) => row.level === level).length;
    return count === 0 ? [] : [pluralize(count, level)];
  });
  const summary = counts.length === 0 ? "No advice" : `Advice: ${counts.join(", ")}`;
  return `Coverage ${percent} %: ${met} of ${promised} promised paths met. ${summary}.`;
}

function reportDocument(report: Report, failures: readonly string[]): ReportDocument {
  const { scenario, seed, profile, requests, paths, advice, coverage } = report;
  const isGood = coverage.met === coverage.promised && advice.every(({ level }) => level === "note");
  const shown = paths.filter(({ promised, met }) => promised || met);
  const uncovered = shown.filter(({ met }) => !met);
  const sections: Section[] = [
    { title: "Paths", columns: ["path", "requests", "verdict", "when"], rows: shown.map(pathRow) },
    {
      title: "How to meet the others",
      columns: ["path", "how to meet it"],
      rows: uncovered.map(({ pathId, howToMeet }) => ({
        cells: [pathId, splitInstruction(howToMeet ?? "")],
      })),
    },
    {
      title: "Advice",
      columns: ["level", "advice", "how often", "rule", "what happened", "what to do", "requests"],
      rows: advice.map(adviceRow),
    },
  ];
  return {
    kind: "report",
    subject: scenario,
    title: `${pluralize(requests, "request")} to ${scenario} (seed ${seed}, profile ${profile})`,
    // A client that never called needs no table of what it could have met.
    sections: requests === 0 ? [] : sections.filter(({ rows }) => rows.length > 0),
    notes: [],
    conclusion: { text: conclusion(report), tone: isGood ? "good" : undefined },
    failures,
    suites: suitesOf(report, failures),
    json: { ...(snakeCase(report) as object), failures },
  };
}

function pathRow({ pathId, promised, met, count, when }: ReportedPath): Row {
  const verdict = met ? (promised ? "met" : "not promised") : "missed";
  const tone = met ? (promised ? "good" : "quiet") : "warning";
  return { cells: [pathId, count > 0 ? String(count) : "-", { text: verdict, tone }, when] };
}

const toneOfLevel: Readonly<Record<AdviceLevel, Tone>> = { error: "bad", warning: "warning", note: "quiet" };

function adviceRow({ id, level, rule, count, meaning, whatToDo, examples }: ReportedAdvice): Row {
  const more = count - examples.length;
  return {
    cells: [{ text: level, tone: toneOfLevel[level] }, id, pluralize(count, "request"), rule],
    details: [
      [meaning],
      [whatToDo],
      [...examples.map(requestLine), ...(more > 0 ? [`and ${more} more`] : [])],
    ],
  };
}

function requestLine({ id, at, method, path, key, fingerprint, didYouMean }: ReportedRequest): string {
  const suggestion = didYouMean === null ? "" : `, did you mean ${didYouMean}?`;
  return `${at} ${method} ${path}, ${key ?? fingerprint ?? "no key"}, ${id}${suggestion}`;
}

/**
 * A case for the client, skipped when it never called; one for each promised path, skipped when it is uncovered; one for each
 * advice, failed by an error, with warnings and notes as output; and a failed one for each threshold that is not met.
 */
function suitesOf(report: Report, failures: readonly string[]): Suite[] {
  const { requests, coverage, paths, advice } = report;
  const name = "has called the API";
  const summary = conclusion(report);
  const { percent, met, promised } = coverage;
  return [
    {
      name: "client",
      properties: {
        requests,
        "coverage.percent": percent,
        "coverage.met": met,
        "coverage.promised": promised,
      },
      cases: [
        requests === 0
          ? { name, verdict: "skipped", message: summary }
          : { name, verdict: "passed", output: `${pluralize(requests, "request")}. ${summary}` },
      ],
    },
    { name: "paths", cases: paths.filter((path) => path.promised).map(pathCase) },
    { name: "advice", cases: adviceTable.map(({ id }) => adviceCase(id, advice)) },
    ...(failures.length === 0 ? [] : [{ name: "thresholds", cases: failures.map(thresholdCase) }]),
  ];
}

function pathCase({ pathId, met, when, howToMeet }: ReportedPath): TestCase {
  if (met) return { name: pathId, verdict: "passed" };
  return {
    name: pathId,
    verdict: "skipped",
    message: `not met: ${when}`,
    output: howToMeet ?? undefined,
  };
}

function adviceCase(name: string, all: readonly ReportedAdvice[]): TestCase {
  const earned = all.find(({ id }) => id === name);
  if (earned === undefined) return { name, verdict: "passed" };
  const { level, rule, count, meaning, whatToDo, examples } = earned;
  const message = `${pluralize(count, "request")}: ${meaning}`;
  const lines = [`${level} (${rule}), ${message}`, whatToDo, ...examples.map(requestLine)];
  return { name, verdict: level === "error" ? "failed" : "passed", message, output: lines.join("\n") };
}

function thresholdCase(message: string, index: number): TestCase {
  return { name: `threshold ${index + 1}`, verdict: "failed", message };
}

/** The least that a report must reach for a run to pass. */
export interface Thresholds {
  /** In percent. Default: none. */
  readonly minCoverage?: number | undefined;
  /** Whether advice of the level error fails the run. Default: false. */
  readonly strict?: boolean | undefined;
}

/** Returns a sentence for each threshold that the report does not reach. */
export function unmetThresholds(
  { coverage, advice }: Report,
  { minCoverage = 0, strict = false }: Thresholds,
): string[] {
  const { percent, met, promised } = coverage;
  const errors = advice.filter(({ level }) => level === "error").map(({ id }) => id);
  const low = `The coverage is ${percent} %, and ${minCoverage} % is asked for: ${promised - met} of ${promised} promised paths were not met.`;
  const found = `There is advice of the level error, and none is asked for: ${errors.join(", ")}.`;
  return [...(percent < minCoverage ? [low] : []), ...(strict && errors.length > 0 ? [found] : [])];
}
