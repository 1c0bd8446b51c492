import { commandLine, runAgainWith, type Subject } from "../report/plain-text.js";
import type { Report } from "../report/report-shape.js";
import { missedEndpoints, type UnmetThreshold } from "../report/thresholds.js";
import { outcomeOf } from "../rules/outcomes.js";
import { mustNotice } from "./promises.js";
import type { CertifyResult, Failure, PromiseRun, Run } from "./result.js";

export interface Seen {
  readonly outputOf?: (run: Run) => readonly string[];
  /** The fix when the baseline does not pass or sends no request. */
  readonly hint?: string | undefined;
  /** How the user starts svc-sandbox. Default: by its name. */
  readonly program?: string;
}

export function outcomeText({ outcome, code }: Run): string {
  // A client that creates a record twice may end with 0.
  if (outcome === "failed" && code) return `failed with exit code ${code}`;
  return outcome === "flaky" ? "passed once and failed once" : outcome.replace("_", " ");
}

/** Returns the path, the status and the id of a run's last request; empty if it sent none. */
export function lastRequestOf({ lastRequest: last }: Pick<Run, "lastRequest">): string[] {
  return last === undefined ? [] : [`${last.pathId}, ${last.status || "no response"}, ${last.id}`];
}

/** The resends of a rejected key that no test suite needs. */
const endlessFrom = 100;

/** As in "still resends `revoked` after 401 (952 times)", of a client that does not end; `undefined` if it does not. */
export function endlessResend({ repeats }: Report): string | undefined {
  const [max] = repeats.toSorted((one, other) => other.count - one.count);
  if (max === undefined || max.count < endlessFrom) return undefined;
  const { key, fingerprint, pathId, count } = max;
  return `still resends \`${key ?? fingerprint}\` after ${outcomeOf(pathId).status} (${count} times)`;
}

/** As in `Relying-Party API 0.2.0 (api.yaml, sha256 …)`. */
export function documentText({
  title,
  version,
  file,
  digest,
}: NonNullable<CertifyResult["document"]>): string {
  return `${title} ${version} (${file === undefined ? "" : `${file}, `}sha256 ${digest})`;
}

export function runAgain({ profile, seed, fault, cause, outcome, code }: Run, subject: Subject): string {
  // The command passes, and only a comparison with the baseline shows that it creates a record twice.
  if (fault !== undefined && outcome === "failed" && code === 0)
    return runAgainWith("certify", [subject.scenario, "--only", fault], subject);
  const at = cause?.pathId === undefined ? "" : `@${cause.pathId}`;
  const faulty = fault === undefined ? [] : ["--fault", fault + at];
  return runAgainWith(
    "exec",
    [subject.scenario, "--profile", profile, "--seed", String(seed), ...faulty],
    subject,
  );
}

export function breakAgain({ id }: PromiseRun, subject: Subject): string {
  return runAgainWith("exec", [subject.scenario, "--break", id], subject);
}

/** Returns one failure for each cause, promise and threshold of a certificate with this conclusion. */
export function failuresOf(result: CertifyResult, conclusion: string, seen: Seen = {}): Failure[] {
  const { outputOf = () => [], hint } = seen;
  const subject = { ...result, ...seen };
  const { runs, promises, gates, unmet, report } = result;
  const isSeen = runs[0]?.outcome === "passed";
  const failed = failuresByReason(runs).map(([run]): Failure => {
    const { name, cause } = run;
    const output = failureLines(outputOf(run));
    return {
      id: name,
      actual: outcomeText(run),
      wanted: "passed",
      cause: cause?.sentence ?? (isSeen ? `${name} ${outcomeText(run)}` : conclusion),
      whatToDo: cause?.whatToDo.join(" ") ?? hint ?? whatToDoWithout(run, result),
      rerun: runAgain(run, subject),
      ...(output.length > 0 && { output: [...output] }),
    };
  });
  const minNoticed = unmet.find(({ gate }) => gate === "noticed");
  const unnoticed = promises.runs
    .filter((run) => run.outcome === "not_noticed" && (mustNotice(gates, run) || minNoticed))
    .map(
      (run): Failure => ({
        id: run.id,
        actual: "not noticed",
        wanted: "noticed",
        cause: `${run.sentence}: ${run.loss}`,
        whatToDo: "Make a test fail when this promise is broken.",
        rerun: breakAgain(run, subject),
      }),
    );
  const missed = unmet
    .filter((one) => one !== minNoticed && one.gate !== "swaps")
    .map((one) => thresholdFailure(one, report));
  return [...failed, ...unnoticed, ...missed];
}

function thresholdFailure(
  { gate, percent, level, sentence: cause }: UnmetThreshold,
  { coverage, advice }: Report,
): Failure {
  const id = percent !== undefined ? "--min-coverage" : level !== undefined ? "--fail-on" : "client";
  if (gate === "requests") return { id, actual: "no request", wanted: "a request", cause, whatToDo: cause };
  if (gate === "coverage") {
    const whatToDo = "Send a request for each path that is not covered, and check the response.";
    return { id, actual: `${coverage.percent}%`, wanted: `${percent}%`, cause, whatToDo };
  }
  return {
    id,
    actual: advice.map((one) => one.id).join(", "),
    wanted: `no advice of level ${level}`,
    cause,
    whatToDo: advice.map(({ whatToDo }) => whatToDo).join(" "),
  };
}

// The names of failed tests in the output of usual test runners.
const failedTest =
  /^\W*(?:FAIL(?:ED|URE)?\b|ERROR\b|not ok\b|--- FAIL|\[ERROR\] +\w+\.|Failed \w|\d+\) \S)|^\s*[✖✗✘×●]|\bFAILED\b|\[X\]/;
const maxNames = 5;
const maxOutputLines = 20;

/** Returns the lines with the names of failed tests, or the last lines if there are none. */
export function failureLines(output: readonly string[]): string[] {
  const named = [...new Set(output.filter((line) => failedTest.test(line)))];
  return named.length > 0 ? named.slice(0, maxNames) : output.slice(-maxOutputLines);
}

const errorLine = /^\s*(?:Uncaught )?\w*(?:Error|Exception)\b(?: \[\w+\])?:/;

/** Returns the last lines of a client's output, after the earlier lines that show what failed. */
export function lastOutput(output: readonly string[]): string[] {
  const showsFailure = (line: string) => failedTest.test(line) || errorLine.test(line);
  const earlier = output.slice(0, -maxOutputLines).filter(showsFailure).slice(0, maxNames);
  return [...earlier, ...output.slice(-maxOutputLines)];
}

function whatToDoWithout({ name, outcome }: Run, { command }: CertifyResult): string {
  if (outcome === "flaky") return "Find out what else the client depends on: time, order, other tests.";
  return `To find the cause, run ${commandLine(["svc-sandbox", "certify", "--only", name, "--", ...command])}`;
}

/** Returns what the exit code of a certificate is about. */
export function endOf(result: CertifyResult): "passed" | "failed" | "no_request" | "threshold_missed" {
  const { verdict, runs, report } = result;
  const isFailed = runs.some(hasFailed);
  if (verdict === "passed") return verdict;
  if (verdict === "unusable" && isFailed) return "failed";
  // A client that fails by chance may do so before its first request.
  if ((report.requests === 0 || missedEndpoints(report)) && verdict !== "flaky") return "no_request";
  return verdict === "failed" && !isFailed ? "threshold_missed" : "failed";
}

/** Whether a run failed, in any way. */
export function hasFailed({ outcome }: Pick<Run, "outcome">): boolean {
  return outcome === "failed" || outcome === "timed_out" || outcome === "flaky";
}

/**
 * Groups the failed runs by reason. The smallest cause is first, as what breaks a client does so with every row beside it; runs
 * without a cause are last.
 */
export function failuresByReason(runs: readonly Run[]): (readonly [Run, ...Run[]])[] {
  const failing = runs.filter(hasFailed);
  const reasons: [Run, ...Run[]][] = [];
  const pointsIn = ({ cause }: Run) => cause?.points.length || 1;
  const bySize = failing.toSorted(
    (one, other) =>
      Number(one.cause === undefined) - Number(other.cause === undefined) ||
      rowsOf(one).length - rowsOf(other).length ||
      pointsIn(one) - pointsIn(other),
  );
  for (const run of bySize) {
    const known = reasons.find(([first]) => rowsOf(first).every((row) => rowsOf(run).includes(row)));
    if (known === undefined) reasons.push([run]);
    else known.push(run);
  }
  return reasons;
}

// Without varied points, the common part of the runs.
function rowsOf({ name, outcome, cause }: Run): readonly string[] {
  if (cause === undefined) return [`${name} ${outcome}`];
  return cause.points.length === 0 ? [cause.sentence] : cause.points.map(({ row }) => row);
}
