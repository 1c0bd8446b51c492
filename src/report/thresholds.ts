import { type AdviceLevel, adviceLevels } from "../rules/advice.js";
import type { ValueOf } from "../rules/schema/shape.js";
import * as s from "../rules/schema/shape.js";
import type { Report } from "./report-shape.js";

interface Thresholds {
  /** In percent. Default: none. */
  readonly minCoverage?: number | undefined;
  /** The lowest level of advice that fails the run. Default: none. */
  readonly failOn?: AdviceLevel | undefined;
  /** Whether a report without a request fails. Default: false. */
  readonly needsRequests?: boolean | undefined;
  /** The first requests, by method and path, for the message. */
  readonly tried?: readonly string[];
}

/** What a threshold is about. Swaps: promises to notice without a threshold. */
const gates = ["requests", "coverage", "advice", "noticed", "swaps"] as const;

export const unmetShape = s.mapping({
  gate: s.described(s.choice(gates), "What the gate is about."),
  threshold: s.described(s.text(), "The gate, as a flag."),
  percent: s.optional(s.described(s.count({ max: 100 }), "The required share, in percent.")),
  level: s.optional(s.described(s.choice(adviceLevels), "The lowest level of advice that fails.")),
  sentence: s.described(s.text(), "Why it failed."),
});
/** `threshold` is the flag, for people: `--min-coverage 80`. `percent` or `level` is its value. */
export interface UnmetThreshold extends ValueOf<typeof unmetShape> {}

/** Whether requests came, and none reached an endpoint. */
export function missedEndpoints({ requests, paths }: Pick<Report, "requests" | "paths">): boolean {
  const missed = paths.filter(({ pathId }) => pathId === "404.unknown_path" || pathId === "405.method");
  return requests > 0 && missed.reduce((sum, { count }) => sum + count, 0) === requests;
}

export function unmetThresholds(
  report: Report,
  { minCoverage = 0, failOn, needsRequests, tried = [] }: Thresholds,
): UnmetThreshold[] {
  const { requests, coverage, advice } = report;
  const { percent, covered, promised } = coverage;
  if (needsRequests && (requests === 0 || missedEndpoints(report))) {
    const byLevel =
      failOn === undefined ? { threshold: "client" } : { threshold: `--fail-on ${failOn}`, level: failOn };
    const threshold =
      minCoverage > 0 ? { threshold: `--min-coverage ${minCoverage}`, percent: minCoverage } : byLevel;
    const reached = requests === 0 ? "the sandbox" : `an endpoint. Your client tried ${tried.join(", ")}`;
    const sentence = `No request reached ${reached}. If that is right, allow it with --min-coverage 0.`;
    return [{ gate: "requests", ...threshold, sentence }];
  }
  const unmet: UnmetThreshold[] = [];
  if (percent < minCoverage) {
    unmet.push({
      gate: "coverage",
      threshold: `--min-coverage ${minCoverage}`,
      percent: minCoverage,
      sentence: `The coverage is ${percent}%, below the required ${minCoverage}%: ${promised - covered} of ${promised} promised paths are not covered.`,
    });
  }
  const failing = levelsFrom(failOn);
  const adviceIds = advice.filter(({ level }) => failing.includes(level)).map(({ id }) => id);
  if (adviceIds.length > 0) {
    unmet.push({
      gate: "advice",
      threshold: `--fail-on ${failOn}`,
      level: failOn,
      sentence: `--fail-on ${failOn} does not allow advice of level ${failing.join(" or ")}: ${adviceIds.join(", ")}.`,
    });
  }
  return unmet;
}

/** Returns this level and the more serious ones; none without a level. */
function levelsFrom(level: AdviceLevel | undefined): readonly AdviceLevel[] {
  return level === undefined ? [] : adviceLevels.slice(adviceLevels.indexOf(level));
}
