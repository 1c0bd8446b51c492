import type { Report } from "./report.js";

/** What a report has to show for a run to pass. */
export interface ReportGate {
  /** In percent. Default: nothing is asked. */
  readonly minCoverage?: number | undefined;
  /** Whether advice of the level error fails the run. Default: false. */
  readonly strict?: boolean | undefined;
}

/** Why a report does not pass, a sentence for each reason; none when it does. */
export function gateOf(
  { coverage, advice }: Report,
  { minCoverage = 0, strict = false }: ReportGate,
): string[] {
  const errors = advice.filter(({ level }) => level === "error").map(({ id }) => id);
  return [
    ...(coverage.percent < minCoverage
      ? [
          `The coverage is ${coverage.percent} %, and ${minCoverage} % is asked for: ${coverage.promised - coverage.met} of ${coverage.promised} promised paths were not met.`,
        ]
      : []),
    ...(strict && errors.length > 0
      ? [`There is advice of the level error, and none is asked for: ${errors.join(", ")}.`]
      : []),
  ];
}
