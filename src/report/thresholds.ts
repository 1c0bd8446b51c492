import type { Report } from "./report.js";

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
