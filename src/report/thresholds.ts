import { type AdviceLevel, adviceLevels } from "../rules/advice.js";
import type { Report } from "./report-shape.js";

interface Thresholds {
  /** The lowest coverage in percent. Default: none. */
  readonly minCoverage?: number | undefined;
  /** The lowest level of advice that fails the run. Default: none. */
  readonly failOn?: AdviceLevel | undefined;
  /** Whether a report without a request fails. Default: false. */
  readonly needsRequests?: boolean | undefined;
  /** The first requests, by method and path, for the message. */
  readonly tried?: readonly string[];
}

export interface UnmetThreshold {
  readonly gate: "requests" | "coverage" | "advice";
  /** The flag, for people: `--min-coverage 80`. */
  readonly threshold: string;
  /** Why it is not reached. */
  readonly sentence: string;
}

/** Whether requests came, and none reached an endpoint. */
function missedEndpoints({ requests, outcomes }: Pick<Report, "requests" | "outcomes">): boolean {
  const missed = outcomes.filter(({ outcome }) => outcome === "404.unknown_path" || outcome === "405.method");
  return requests > 0 && missed.reduce((sum, { count }) => sum + count, 0) === requests;
}

export function unmetThresholds(
  report: Report,
  { minCoverage = 0, failOn, needsRequests, tried = [] }: Thresholds,
): UnmetThreshold[] {
  const { requests, coverage, advice } = report;
  const { percent, covered, promised } = coverage;
  const unmet: UnmetThreshold[] = [];
  if (needsRequests && (requests === 0 || missedEndpoints(report))) {
    const byLevel = failOn === undefined ? "client" : `--fail-on ${failOn}`;
    const threshold = minCoverage > 0 ? `--min-coverage ${minCoverage}` : byLevel;
    const reached = requests === 0 ? "the sandbox" : `an endpoint. Your client tried ${tried.join(", ")}`;
    const sentence = `No request reached ${reached}. If that is right, allow it with --min-coverage 0.`;
    unmet.push({ gate: "requests", threshold, sentence });
  } else if (percent < minCoverage) {
    unmet.push({
      gate: "coverage",
      threshold: `--min-coverage ${minCoverage}`,
      sentence: `The coverage is ${percent}%, below the required ${minCoverage}%: ${promised - covered} of ${promised} promised outcomes are not covered.`,
    });
  }
  const failing = failOn === undefined ? [] : adviceLevels.slice(adviceLevels.indexOf(failOn));
  const adviceIds = advice.filter(({ level }) => failing.includes(level)).map(({ id }) => id);
  if (adviceIds.length > 0) {
    unmet.push({
      gate: "advice",
      threshold: `--fail-on ${failOn}`,
      sentence: `--fail-on ${failOn} does not allow advice of level ${failing.join(" or ")}: ${adviceIds.join(", ")}.`,
    });
  }
  return unmet;
}
