import { type AdviceLevel, adviceIds, adviceLevels } from "../rules/advice.js";
import { mePath } from "../rules/outcomes.js";
import { snakeCase } from "../rules/schema/json.js";
import type { ValueOf } from "../rules/schema/shape.js";
import * as s from "../rules/schema/shape.js";
import type { HowToCover, Report } from "./report-shape.js";

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
    const given =
      failOn === undefined ? { threshold: "client" } : { threshold: `--fail-on ${failOn}`, level: failOn };
    const asked =
      minCoverage > 0 ? { threshold: `--min-coverage ${minCoverage}`, percent: minCoverage } : given;
    const reached = requests === 0 ? "the sandbox" : `an endpoint. Your client tried ${tried.join(", ")}`;
    const sentence = `No request reached ${reached}. If that is right, allow it with --min-coverage 0.`;
    return [{ gate: "requests", ...asked, sentence }];
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
  const found = advice.filter(({ level }) => failing.includes(level)).map(({ id }) => id);
  if (found.length > 0) {
    unmet.push({
      gate: "advice",
      threshold: `--fail-on ${failOn}`,
      level: failOn,
      sentence: `--fail-on ${failOn} does not allow advice of level ${failing.join(" or ")}: ${found.join(", ")}.`,
    });
  }
  return unmet;
}

/** Returns this level and the more serious ones; none without a level. */
function levelsFrom(level: AdviceLevel | undefined): readonly AdviceLevel[] {
  return level === undefined ? [] : adviceLevels.slice(adviceLevels.indexOf(level));
}

const verdicts = ["passed", "client_failed", "threshold_missed", "no_request", "flaky", "unusable"] as const;

export const failureShape = s.mapping({
  id: s.described(s.text(), "The run, the promise or the flag that failed, or client for the command."),
  actual: s.described(s.text(), "The result."),
  wanted: s.described(s.text(), "The result that passes."),
  cause: s.described(s.text(), "Why it failed."),
  whatToDo: s.described(s.text(), "The fix."),
  rerun: s.optional(s.described(s.text(), "The command that shows it again.")),
  output: s.optional(
    s.described(
      s.list(s.text()),
      "The names of failed tests, or the last lines, of the client's output, without keys.",
    ),
  ),
});
export interface Failure extends ValueOf<typeof failureShape> {}

export const briefShape = s.mapping({
  verdict: s.described(s.choice(verdicts), "flaky and unusable: only of certify."),
  coverage: s.described(s.count({ max: 100 }), "The covered share of the promised paths, in percent."),
  missed: s.described(
    s.record(s.text()),
    "The promised paths that are not covered, each with the ref of the key to send to /me, none, malformed or unknown; or with the steps and the request that it takes.",
  ),
  advice: s.described(s.list(s.growingChoice(adviceIds)), "The ids of the advice, the most serious first."),
  repeats: s.described(s.record(s.count()), "How often each key was sent again after a rejection."),
  promises: s.optional(
    s.described(
      s.mapping({ tried: s.count(), noticed: s.count() }),
      "The number of broken promises, and how many the client noticed; only of certify.",
    ),
  ),
  notTried: s.optional(
    s.described(s.list(s.text()), "The runs, promises and experiments that show nothing; only of certify."),
  ),
  failed: s.described(s.count(), "The number of failures."),
  failures: s.described(s.list(failureShape), "The first five failures."),
  next: s.described(s.text(), "What to do next."),
});
/** The essentials of a report or a certificate, for agents and scripts. */
export interface Brief extends ValueOf<typeof briefShape> {}

/** How the command of a report ended; empty if there was none. */
export interface Ran {
  readonly code?: number;
  readonly rerun?: string;
  readonly hint?: string;
}

const maxFailures = 5;

export function briefJson(brief: Brief): object {
  return snakeCase({ ...brief, failures: brief.failures.slice(0, maxFailures) }) as object;
}

export function reportBrief(report: Report, unmet: readonly UnmetThreshold[], ran: Ran = {}): Brief {
  const { code = 0, rerun, hint } = ran;
  const client = {
    id: "client",
    actual: `exit code ${code}`,
    wanted: "exit code 0",
    cause: "The command failed.",
    whatToDo: "Read what the command printed, and fix the client or its tests.",
    ...(rerun && { rerun }),
  };
  const failures = [...(code === 0 ? [] : [client]), ...unmet.map((one) => thresholdFailure(one, report))];
  const ended = code !== 0 ? "client_failed" : failures.length > 0 ? "threshold_missed" : "passed";
  const isUnreached = report.requests === 0 || unmet.some(({ gate }) => gate === "requests");
  const verdict = code === 0 && isUnreached ? "no_request" : ended;
  return { verdict, ...briefFacts(report, failures, hint) };
}

export function briefFacts(
  report: Report,
  failures: readonly Failure[],
  hint = "Send requests to the address in SVC_BASE_URL.",
  done = "Every promised path is covered. Run the same command with certify instead of exec.",
): Omit<Brief, "verdict"> {
  const { coverage, paths, advice, repeats } = report;
  const missed = paths.filter(({ promised, covered }) => promised && !covered);
  const counts: Record<string, number> = {};
  for (const { key, fingerprint, count } of repeats) {
    const name = key ?? fingerprint ?? "";
    counts[name] = (counts[name] ?? 0) + count;
  }
  const [serious] = advice.filter(({ level }) => level !== "note");
  const [first] = failures;
  const next = () => {
    if (report.requests === 0) return hint;
    if (first !== undefined) return first.whatToDo;
    if (serious !== undefined) return serious.whatToDo;
    if (missed.length > 0) return coverMissed;
    return done;
  };
  return {
    coverage: coverage.percent,
    missed: Object.fromEntries(missed.map(({ pathId, howToCover }) => [pathId, keyToSend(howToCover)])),
    advice: advice.map(({ id }) => id),
    repeats: counts,
    failed: failures.length,
    failures: [...failures],
    next: next(),
  };
}

/** The ref of the key for a request to `/me`; otherwise also the steps before the request, and the request. */
function keyToSend(how: HowToCover | null): string {
  if (how === null) return "";
  if (how.request.path !== mePath) return `${how.text}: ${how.curl}`;
  return how.scenario === null && !how.reset && how.scopes === undefined ? how.ref : how.text;
}

export const coverMissed =
  "Send a request for each path in missed, with the key in SVC_KEY_<REF> (none: without x-api-key), and check the response.";

export function thresholdFailure(
  { gate, percent, level, sentence: cause }: UnmetThreshold,
  { coverage, advice }: Report,
): Failure {
  const id = percent !== undefined ? "--min-coverage" : level !== undefined ? "--fail-on" : "client";
  if (gate === "requests") return { id, actual: "no request", wanted: "a request", cause, whatToDo: cause };
  if (gate === "coverage") {
    return { id, actual: `${coverage.percent}%`, wanted: `${percent}%`, cause, whatToDo: coverMissed };
  }
  const failing = levelsFrom(level);
  const failingAdvice = advice.filter((one) => failing.includes(one.level));
  return {
    id,
    actual: failingAdvice.map((one) => one.id).join(", "),
    wanted: `no advice of level ${failing.join(" or ")}`,
    cause,
    whatToDo: failingAdvice.map(({ whatToDo }) => whatToDo).join(" "),
  };
}
