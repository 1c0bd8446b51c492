import { type AdviceId, adviceIds, adviceOf } from "../domain/advice.js";
import { outcomeOf, type PathId } from "../domain/outcomes.js";
import { pluralize } from "../report/plain-text.js";
import type { Report, ReportedAdvice, ReportedRequest } from "../report/report-shape.js";
import { listed } from "../schema/words.js";

/** The number of requests with one key (its ref or fingerprint) that ended on one path. */
export interface Sent {
  readonly key: string;
  readonly pathId: PathId;
  readonly count: number;
}

/** A run's facts about resent keys. */
export interface CountedRun {
  readonly sent: readonly Sent[];
  readonly report: Pick<Report, "repeats">;
}

/** A run like the baseline, except that the last request with an accepted key ends on a path that rejects it. */
export interface RetryTrial {
  readonly pathId: PathId;
  readonly key: string;
  /** The number of the key's requests in the baseline. */
  readonly last: number;
}

interface RetryRuns {
  /** The runs without a fault or a broken promise, the baseline first. */
  readonly plain: readonly CountedRun[];
  /** By path, the run where its keys are accepted, if the client notices: it reruns its failing tests or not. */
  readonly accepted: ReadonlyMap<PathId, CountedRun>;
  readonly rejected: ReadonlyMap<RetryTrial, CountedRun>;
}

const noteId = "sent-again-after-refusal";
const adviceOn: Readonly<Record<number, AdviceId>> = {
  401: "same-key-after-401",
  403: "same-key-after-403",
  429: "too-soon-after-429",
};

const statusOf = ({ pathId }: Pick<Sent, "pathId">) => outcomeOf(pathId).status;
const keyOf = ({ key, fingerprint }: Pick<ReportedRequest, "key" | "fingerprint">) =>
  key ?? fingerprint ?? "";
const countOf = ({ sent }: CountedRun, key: string) =>
  sent.reduce((total, one) => (one.key === key ? total + one.count : total), 0);

/** Returns the trials for a client that resends keys in its baseline: one for each status that it resends after. */
export function retryTrials({ sent, report }: CountedRun): RetryTrial[] {
  const accepted = sent.filter(({ key }) => sent.every((one) => one.key !== key || statusOf(one) === 200));
  // A client that stores accepted responses sends few requests.
  const [most] = accepted.sort((one, other) => other.count - one.count);
  const paths = new Map(report.repeats.map((one) => [statusOf(one), one.pathId]));
  return [...paths].flatMap(([status, pathId]) =>
    most && status in adviceOn ? [{ pathId, key: most.key, last: most.count }] : [],
  );
}

/**
 * Returns the report with the findings about retries: a warning for each kind, and no note if nothing is open. Only a retry
 * makes a client send an accepted key more often when its last request is rejected, unless each failing test runs again.
 */
export function withRetries(report: Report, { plain, accepted, rejected }: RetryRuns): Report {
  const usual = (key: string) => Math.max(...plain.map((run) => countOf(run, key)));
  const baseline = plain[0] as CountedRun;
  const runsTestsAgain = [...accepted].some(([path, run]) =>
    run.sent.some(({ key, pathId }) => pathId === path && countOf(run, key) > usual(key)),
  );
  const extras = new Map<number, { readonly key: string; readonly extra: number }>();
  for (const [trial, run] of rejected) {
    const { key, pathId } = trial;
    // After a 429, only requests that came too soon.
    const again = run.report.repeats.find((one) => one.pathId === pathId && keyOf(one) === key);
    const extra = Math.max(0, Math.min(countOf(run, key) - usual(key), again?.count ?? 0));
    const isMade = run.sent.some((one) => one.pathId === pathId && one.key === key);
    if (isMade) extras.set(statusOf(trial), { key, extra });
  }
  const isRetried = (status: number) => {
    const refused = baseline.sent.filter((one) => statusOf(one) === status && one.pathId !== "401.missing");
    const { extra = 0 } = extras.get(status) ?? {};
    const isEach = refused.every(({ key }) => countOf(baseline, key) > extra);
    return extra > 0 && isEach && accepted.size > 0 && !runsTestsAgain;
  };
  const isHarmless = (one: Report["repeats"][number]) => {
    const run = accepted.get(one.pathId);
    const isFixed = run !== undefined && countOf(run, keyOf(one)) >= countOf(baseline, keyOf(one));
    return isFixed && extras.get(statusOf(one))?.extra === 0;
  };
  const rows = new Map<AdviceId, ReportedAdvice>(report.advice.map((row) => [row.id, row]));
  const note = rows.get(noteId);
  if (report.repeats.every((one) => isRetried(statusOf(one)) || isHarmless(one))) rows.delete(noteId);
  for (const [status, { key, extra }] of extras) {
    if (!isRetried(status)) continue;
    const id = adviceOn[status] as AdviceId;
    const repeats = report.repeats.filter((one) => statusOf(one) === status);
    const facts = repeats.map((one) => `${keyOf(one)} ${pluralize(one.count, "time")} (${one.pathId})`);
    const examples = (rows.get(id) ?? note)?.examples ?? [];
    const proof = `It is a retry: when certify rejected ${key}, ${pluralize(extra, "more request")} followed.`;
    rows.set(id, {
      ...{ ...adviceOf(id), id },
      count: repeats.reduce((total, { count }) => total + count, 0),
      meaning: `${adviceOf(id).meaning} ${proof} Resent in all runs: ${listed(facts, "and")}.`,
      examples: examples.filter((one) => repeats.some((again) => keyOf(again) === keyOf(one))),
    });
  }
  return { ...report, advice: adviceIds.flatMap((id) => rows.get(id) ?? []) };
}
