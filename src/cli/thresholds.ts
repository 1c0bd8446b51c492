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
    unmet.push({ kind: "requests", title: "client", sentence: noRequestsSentence(report) });
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

/** Why no request reached an endpoint, as far as requests show it. */
function noRequestsSentence({ requests, advice }: Report): string {
  const allow = "If that is right, allow it with --min-coverage 0.";
  if (requests === 0) return `No request reached the sandbox. ${allow}`;
  const misses = advice.find(({ id }) => id === "wrong-method-or-path");
  const tried = new Set(misses?.examples.map(({ method, path }) => `${method} ${path}`));
  return `No request reached an endpoint. Your client tried ${[...tried].join(", ")}. ${allow}`;
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
