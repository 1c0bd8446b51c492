import { adviceCount } from "../report/report-layout.js";
import type { Report } from "../report/report-shape.js";
import { type AdviceLevel, adviceLevels } from "../rules/advice.js";
import { oneSafeLine } from "../rules/terminal-text.js";

/** What a report must reach. */
interface Thresholds {
  /** The lowest coverage in percent. Default: none. */
  readonly minCoverage?: number | undefined;
  /** The lowest level of advice that fails the run. Default: none. */
  readonly failOn?: AdviceLevel | undefined;
  /** Whether a report without a request fails. Default: false. */
  readonly needsRequests?: boolean | undefined;
}

export interface UnmetThreshold {
  /** What is too little, or too much. */
  readonly kind: "requests" | "coverage" | "advice";
  /** The title of its annotation: the flag, such as `--min-coverage 80`. */
  readonly title: string;
  /** Why it is not reached. */
  readonly sentence: string;
}

/** The thresholds that a report does not reach. Of requests and coverage, only the first. */
export function unmetThresholds(report: Report, thresholds: Thresholds): UnmetThreshold[] {
  const { minCoverage = 0, failOn, needsRequests } = thresholds;
  const { percent, covered, promised } = report.coverage;
  const unmet: UnmetThreshold[] = [];

  // Requests may have come that each missed all endpoints.
  let missed = 0;
  for (const { outcome, count } of report.outcomes) {
    if (outcome === "404.unknown_path" || outcome === "405.method") missed += count;
  }
  // Without a request to an endpoint, the coverage is low anyway.
  if (needsRequests && missed === report.requests) {
    unmet.push(noRequests(report, thresholds));
  } else if (percent < minCoverage) {
    unmet.push({
      kind: "coverage",
      title: `--min-coverage ${minCoverage}`,
      sentence: `The coverage is ${percent}%, below the required ${minCoverage}%: ${promised - covered} of ${promised} promised outcomes are not covered.`,
    });
  }

  if (failOn === undefined) return unmet;
  const failing = adviceLevels.slice(adviceLevels.indexOf(failOn));
  const failingAdvice = report.advice.filter(({ level }) => failing.includes(level));
  if (failingAdvice.length > 0) {
    const ids = failingAdvice.map(({ id }) => id);
    unmet.push({
      kind: "advice",
      title: `--fail-on ${failOn}`,
      sentence: `--fail-on ${failOn} does not allow advice of level ${failing.join(" or ")}: ${ids.join(", ")}.`,
    });
  }
  return unmet;
}

/** The threshold that a request reaches an endpoint. It has the flag that asks for requests, if there is one. */
function noRequests(report: Report, thresholds: Thresholds): UnmetThreshold {
  const { minCoverage = 0, failOn } = thresholds;

  let title = "client";
  if (minCoverage > 0) title = `--min-coverage ${minCoverage}`;
  else if (failOn !== undefined) title = `--fail-on ${failOn}`;

  let sentence = "No request reached the sandbox.";
  if (report.requests > 0) sentence = "No request reached an endpoint.";
  const misses = report.advice.find(({ id }) => id === "wrong-method-or-path");
  if (misses !== undefined) {
    const tried = new Set(misses.examples.map(({ method, path }) => `${method} ${path}`));
    sentence += ` Your client tried ${[...tried].join(", ")}.`;
  }
  sentence += " If that is right, allow it with --min-coverage 0.";
  return { kind: "requests", title, sentence };
}

/** Returns advice and unmet thresholds as GitHub workflow commands, which its runner shows as annotations. */
export function githubAnnotations(report: Report, unmet: readonly UnmetThreshold[]): string {
  // A line break would end the command, and a percent sign starts an escape.
  const annotation = (plain: string) => oneSafeLine(plain).replaceAll("%", "%25");
  let lines = "";
  for (const advice of report.advice) {
    const level = advice.level === "note" ? "notice" : advice.level;
    const text = annotation(`${adviceCount(advice)}: ${advice.meaning} ${advice.whatToDo}`);
    lines += `::${level} title=svc-sandbox ${advice.id}::${text}\n`;
  }
  for (const { title, sentence } of unmet) {
    lines += `::error title=svc-sandbox ${title}::${annotation(sentence)}\n`;
  }
  return lines;
}
