import { type AdviceLevel, adviceLevels } from "../spec/advice.js";
import type { Report } from "./report-shape.js";

/** The minimum requirements for a run to pass. */
interface Thresholds {
  /** In percent. Default: none. */
  readonly minCoverage?: number | undefined;
  /** The lowest level of advice that fails the run. Default: none. */
  readonly failOn?: AdviceLevel | undefined;
  /** The same as `failOn: "error"`. Default: false. */
  /** Whether thresholds fail if there is no request. Default: false. */
  readonly needsRequests?: boolean | undefined;
}

/** A threshold that a report does not reach. */
export interface UnmetThreshold {
  /** The flag: `--min-coverage 80`. */
  readonly threshold: string;
  /** The reason, as a sentence. */
  readonly sentence: string;
}

/** Returns the thresholds that the report does not reach. */
export function unmetThresholds(
  { requests, coverage, advice }: Report,
  { minCoverage = 0, failOn, needsRequests }: Thresholds,
): UnmetThreshold[] {
  const { percent, met, promised } = coverage;
  if (needsRequests && requests === 0 && (minCoverage > 0 || failOn !== undefined)) {
    const threshold = minCoverage > 0 ? `--min-coverage ${minCoverage}` : `--fail-on ${failOn}`;
    return [{ threshold, sentence: `No request reached the sandbox: ${threshold} cannot pass.` }];
  }
  const unmet: UnmetThreshold[] = [];
  if (percent < minCoverage) {
    unmet.push({
      threshold: `--min-coverage ${minCoverage}`,
      sentence: `The coverage is ${percent}%, below the required ${minCoverage}%: ${promised - met} of ${promised} promised paths are not covered.`,
    });
  }
  const failing = failOn === undefined ? [] : adviceLevels.slice(adviceLevels.indexOf(failOn));
  const found = advice.filter(({ level }) => failing.includes(level)).map(({ id }) => id);
  if (found.length > 0) {
    unmet.push({
      threshold: `--fail-on ${failOn}`,
      sentence: `--fail-on ${failOn} does not allow advice of level ${failing.join(" or ")}: ${found.join(", ")}.`,
    });
  }
  return unmet;
}
