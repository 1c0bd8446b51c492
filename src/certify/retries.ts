import { mayFollow, toleranceMs } from "../api/conditioned-run.js";
import { pluralize } from "../report/plain-text.js";
import type { Report, ReportedAdvice } from "../report/report-shape.js";
import { type AdviceId, adviceIds, adviceOf } from "../rules/advice.js";
import { minute } from "../rules/api-key.js";
import { type ApiPathId, isSuccess, outcomeOf, type PathId } from "../rules/outcomes.js";
import type { Experiment } from "../sandbox/conditions.js";
import type { SentCount } from "./evidence.js";
import type { RetryResult } from "./result.js";

// Experiments that show how a client treats a rejection or an outage. Each run is like the baseline up to the last request with
// a key that works, so that nothing but this response can make the client send more requests with the key.

/** A run's requests, and whether the command failed. */
export interface CountedRun {
  readonly sent: readonly SentCount[];
  readonly failed: boolean;
  readonly isTimedOut?: boolean;
}

const reasons = {
  unmade: ["The run was not made.", "Run certify to its end, without --bail and with a longer --budget."],
  noKey: ["No key is accepted in every request.", "Send a key that always works, such as SVC_KEY_ACTIVE."],
  uneven: [
    "The runs do not send {key} equally often.",
    "Send the same requests in each run, in the same order.",
  ],
  slow: ["Your client was still running when its time was over.", "Set a longer --timeout."],
  noControl: [
    "Your tests send no key that is always rejected, so a retry looks like a repeated test, which hides what fails only sometimes.",
    "Send SVC_KEY_REVOKED, and check its response.",
  ],
  unevenControl: [
    "The runs do not send {key} equally often, so a retry looks like a repeated test, which hides what fails only sometimes.",
    "Send the same requests in each run, in the same order.",
  ],
  repeated: [
    "Your test runner repeats failing tests, which looks like a retry and hides what fails only sometimes.",
    "Turn off its retries for this command.",
  ],
  unchecked: [
    "No test fails when {key} is accepted, so a retry looks like a repeated test, which hides what fails only sometimes.",
    "Check the status of each response.",
  ],
  unnoticed: [
    "No test fails when {key} is rejected, so your client may have returned a stored response.",
    "Turn off its cache for this command, and check the status of each response.",
  ],
  stored: [
    "Your client may store accepted responses, and ask again in the next test if it has none.",
    "Turn off this cache for this command.",
  ],
} as const;

type After = RetryResult["after"];

/** What the requests of an experiment show in a run. */
export interface ObservedTries {
  /** The number of responses that the experiment replaced. */
  readonly hits: number;
  /** When its key was sent, from the last request of the baseline on, in milliseconds. */
  readonly times: readonly number[];
  /** Milliseconds from the last of these requests to the end of the run. */
  readonly silentMs: number;
}

export interface ExperimentRun extends CountedRun {
  readonly experiment: Experiment;
  /** When the key was sent, from the last request of the baseline on, in milliseconds; empty if the client sent fewer. */
  readonly times: readonly number[];
  /** The number of these requests, without the first, that got the experiment's response. */
  readonly repeats: number;
  /** The time from the last of them to the end of the run. */
  readonly silentMs: number;
}

interface ExperimentRow {
  readonly advice: AdviceId;
  /** The path of its response if the client covers none with the status of this one; left out without a rejection. */
  readonly usual?: ApiPathId;
}

const experimentTable: Readonly<Record<After, ExperimentRow>> = {
  "401": { advice: "same-key-after-401", usual: "401.revoked" },
  "403": { advice: "same-key-after-403", usual: "403.access_denied" },
  "429 with Retry-After": { advice: "too-soon-after-429", usual: "429.per_minute" },
  "429 with a date": { advice: "too-soon-after-429", usual: "429.per_minute" },
  "429 without Retry-After": { advice: "too-soon-after-429", usual: "429.per_minute" },
  "503 with Retry-After": { advice: "too-soon-after-503" },
  "503 with a date": { advice: "too-soon-after-503" },
  outage: { advice: "no-pause-after-failure" },
};
const experimentIds = Object.keys(experimentTable) as After[];
/** The tries after which a client does not give up: its run ends. Fewer if its time is over. */
const maxTries = 20;
const maxTriesInTime = 10;
/** The requests that may follow a rejection because responses were late. */
const maxByChance = 2;
/** Repeats with pauses shorter than a second, after which a client does not pause. */
const maxWithoutPause = 5;

const noteId = "sent-again-after-rejection";
const statusOf = (pathId: PathId) => outcomeOf(pathId).status;
/** Whether the key was accepted, no matter what the endpoint then made of the request. */
const isAccepted = (pathId: PathId) => isSuccess(pathId) || [400, 422].includes(statusOf(pathId));
const isRejection = (pathId: PathId) => [401, 403, 429].includes(statusOf(pathId));
const countOf = ({ sent }: CountedRun, key: string) =>
  sent.reduce((total, one) => (one.key === key ? total + one.paths.length : total), 0);
const placeOf = ({ sent }: CountedRun, { key, nth }: Pick<SentCount, "key" | "nth">) =>
  sent.find((one) => one.key === key && one.nth === nth)?.paths.length ?? 0;

/** The sandboxes that get a key, up to one of them. */
const placesUntil = (key: string, nth: number) =>
  Array.from({ length: nth + 1 }, (_, at) => ({ key, nth: at }));

/**
 * Returns the experiments with a client, in order of its baseline; none if no key is accepted in each request to a sandbox. A key
 * that the `others`, runs without any fault, send as often as the baseline comes first.
 */
export function experimentsFor(
  baseline: CountedRun,
  seed = 1,
  others: readonly CountedRun[] = [],
): Experiment[] {
  const { sent } = baseline;
  const isEven = ({ key, nth }: SentCount) =>
    placesUntil(key, nth).every((place) =>
      others.every((run) => placeOf(run, place) === placeOf(baseline, place)),
    );
  const maxOf = (key: string) =>
    Math.max(...sent.flatMap((one) => (one.key === key ? one.paths.length : [])));
  const [best] = sent
    .filter(({ paths }) => paths.every(isAccepted))
    // If tests run in parallel, any of its sandboxes may come first: this one must not get more requests than it did here.
    .map((sentCount) => {
      const isSafe = sentCount.paths.length === maxOf(sentCount.key);
      return { sentCount, isEven: isEven(sentCount), isSafe, count: countOf(baseline, sentCount.key) };
    })
    // A client that stores accepted responses sends few requests.
    .sort(
      (one, other) =>
        Number(other.isEven) - Number(one.isEven) ||
        Number(other.isSafe) - Number(one.isSafe) ||
        other.count - one.count ||
        other.sentCount.paths.length - one.sentCount.paths.length,
    );
  if (best === undefined) return [];
  const { key, nth, paths } = best.sentCount;
  return experimentIds.map((id): Experiment => {
    const { usual } = experimentTable[id];
    const covered =
      usual && sent.flatMap((one) => one.paths).find((path) => statusOf(path) === statusOf(usual));
    const pathId = (covered ?? usual ?? paths[0]) as ApiPathId;
    const retryAfter = id.includes(" with ") && { retryAfter: 2 + (seed % 3) };
    return { id, key, nth, last: paths.length, pathId, ...retryAfter };
  });
}

/** Returns the experiment that finds out whether the client's test runner repeats failing tests, if that matters. */
export function controlFor({ sent }: CountedRun, runs: readonly ExperimentRun[]): Experiment | undefined {
  if (runs.every((one) => one.repeats === 0 || isProven(one, runs))) return undefined;
  const rejected = sent.findLast(
    ({ key, paths }) =>
      key !== "" &&
      paths.every(isRejection) &&
      sent.every((one) => one.key !== key || one.paths.every(isRejection)),
  );
  if (rejected === undefined) return undefined;
  const { key, nth, paths } = rejected;
  return { id: "control", key, nth, last: paths.length, pathId: paths.at(-1) as ApiPathId };
}

// Another rejection at the same place shows that nothing else sends the key again: neither a runner that repeats failing tests,
// nor a test that finds no stored response.
function isProven({ failed, experiment }: ExperimentRun, runs: readonly ExperimentRun[]): boolean {
  return runs.some(
    (one) =>
      one.experiment.id !== "outage" &&
      one.experiment.id !== experiment.id &&
      one.times.length === 1 &&
      (one.failed || !failed),
  );
}

/** Whether a client that got this number of responses of an experiment has shown enough. */
export function isOver(hits: number): boolean {
  return hits > maxTries;
}

/** What a run shows of its experiment. The client may send a few more requests until its run is ended. */
export function retryFacts({
  hits,
  times,
  silentMs,
}: ObservedTries): Pick<ExperimentRun, "times" | "repeats" | "silentMs"> {
  const repeats = Math.max(0, Math.min(hits - 1, maxTries));
  return { times: times.slice(0, maxTries + 1), repeats, silentMs };
}

/** How long a run must wait for a client that waits as it should, in milliseconds. */
export function minWait({ id }: Experiment): number {
  return id === "429 without Retry-After" ? minute + 1000 : 0;
}

/** Returns the one of an experiment's runs that counts; `undefined` if another must confirm it, because a timeout may look like a retry. */
export function confirmedRuns(runs: readonly ExperimentRun[]): ExperimentRun[] | undefined {
  const [one, ...others] = runs as readonly [ExperimentRun, ...ExperimentRun[]];
  const { experiment, times, repeats } = one;
  const [first = 0, second = 0] = times;
  const isRejection = experiment.id !== "outage" && experiment.id !== "control";
  const isLucky =
    experiment.id === "429 without Retry-After" && second > first && second - first < minute / 2;
  const isClear = repeats === 0 ? !isLucky : repeats > maxByChance;
  if (others.length === 0) return isClear || !isRejection ? [one] : undefined;
  const same = runs.filter((run) => hasFinding(run) === hasFinding(runs.at(-1) as ExperimentRun));
  return same.length > 1 ? same.slice(-1) : undefined;
}

/** The results of the experiments; `plain` are the runs without any fault or broken promise, the baseline first. */
export function retryResults(
  plain: readonly [CountedRun, ...CountedRun[]],
  runs: readonly ExperimentRun[],
  control: ExperimentRun | undefined,
): RetryResult[] {
  const [baseline] = plain;
  const target = runs[0]?.experiment ?? experimentsFor(baseline)[0];
  return experimentIds.map((after): RetryResult => {
    const run = runs.find(({ experiment }) => experiment.id === after);
    const why = whyNotTried(plain, target, run, runs, control);
    if (run === undefined || why !== undefined) {
      const [sentence = "", whatToDo = ""] = reasons[why ?? "unmade"];
      const isOfControl = why === "unchecked" || why === "unevenControl";
      const key = (isOfControl ? control : run)?.experiment.key ?? "";
      return { after, outcome: "not_tried", sentence: sentence.replaceAll("{key}", key), whatToDo };
    }
    const { key } = run.experiment;
    const sentence = after === "outage" ? outageSentence(key, run) : rejectionSentence(after, run);
    if (!hasFinding(run)) return { after, outcome: "passed", sentence };
    return { after, outcome: "failed", sentence, whatToDo: adviceOf(experimentTable[after].advice).whatToDo };
  });
}

const hasFinding = (run: ExperimentRun) =>
  run.experiment.id === "outage" ? isHasty(run.times) || isEndless(run) : run.repeats > 0;

function whyNotTried(
  plain: readonly [CountedRun, ...CountedRun[]],
  target: Experiment | undefined,
  run: ExperimentRun | undefined,
  runs: readonly ExperimentRun[],
  control: ExperimentRun | undefined,
): keyof typeof reasons | undefined {
  const [baseline] = plain;
  if (target === undefined) return "noKey";
  if (run === undefined) return "unmade";
  const { key, nth } = target;
  const { id } = run.experiment;
  const places = placesUntil(key, nth);
  const isMoved = places.slice(0, -1).some((place) => placeOf(run, place) !== placeOf(baseline, place));
  const isMore = plain.some((one) => places.some((place) => placeOf(one, place) > placeOf(baseline, place)));
  if (run.times.length === 0 || isMoved || isMore) return "uneven";
  if (!hasFinding(run)) return whyNothingShown(run, runs);
  if (isProven(run, runs)) return undefined;
  // A finding counts only if the control shows that tests send no request for another reason.
  if (control === undefined) return "noControl";
  if (control.times.length === 0) return "unevenControl";
  // If failing tests are repeated, they send more requests no matter which response they got.
  if (control.sent.some(({ key }) => countOf(control, key) > countOf(baseline, key))) return "repeated";
  if (!control.failed && run.failed) return "unchecked";
  // Other tests send a key again if its accepted response was not stored. A client that retries also resent each rejected key.
  const isWanted = (path: PathId) =>
    isRejection(path) &&
    (experimentTable[id as After].usual === undefined || statusOf(path) === statusOf(run.experiment.pathId));
  const counts = baseline.sent.flatMap(({ key, paths }) => (key === "" ? [] : paths.filter(isWanted).length));
  const resent = counts.filter(Boolean);
  return resent.length > 0 && resent.every((count) => count > run.repeats) ? undefined : "stored";
}

/** Why a run without a finding shows nothing; `undefined` if it does. */
function whyNothingShown(
  run: ExperimentRun,
  runs: readonly ExperimentRun[],
): keyof typeof reasons | undefined {
  const isKeyRejection = ({ experiment: { id } }: ExperimentRun) => id === "401" || id === "403";
  const isNoticed = runs.some((other) => isKeyRejection(other) && (other.failed || other.repeats > 0));
  if (isKeyRejection(run) && !isNoticed) return "unnoticed";
  const { id } = run.experiment;
  const isWaiting = id === "429 without Retry-After" && run.silentMs >= minute - toleranceMs;
  return run.isTimedOut && run.repeats === 0 && run.times.length === 1 && !isWaiting ? "slow" : undefined;
}

function rejectionSentence(after: After, { experiment, repeats }: ExperimentRun): string {
  const { key, retryAfter } = experiment;
  const isOfLimit = mayFollow(experiment.pathId, retryAfter);
  if (repeats === 0)
    return `No request followed${isOfLimit ? " too soon" : ""} when certify rejected ${key} with ${after}.`;
  const seconds = `sooner than ${retryAfter} s, its Retry-After`;
  const date = "before the date in its Retry-After: a client waits until the date";
  const known = after.endsWith(" with a date") ? date : seconds;
  const wait = retryAfter === undefined ? "before the next minute" : known;
  const count = repeats === maxTries ? `${maxTries} or more requests` : pluralize(repeats, "more request");
  return `When certify rejected ${key} with ${after}, ${count} followed${isOfLimit ? ` ${wait}` : ""}.`;
}

function pausesOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] as number));
}

function isHasty(times: readonly number[]): boolean {
  let inRow = 0;
  return pausesOf(times).some((pause) => {
    inRow = pause < 1000 ? inRow + 1 : 0;
    return inRow > maxWithoutPause;
  });
}

function isEndless({ times, isTimedOut = false }: ExperimentRun): boolean {
  return times.length > (isTimedOut ? maxTriesInTime : maxTries);
}

function outageSentence(key: string, run: ExperimentRun): string {
  const { times } = run;
  const shortest = Math.round(Math.min(...pausesOf(times)));
  const isMany = times.length > maxTries;
  const sent = isMany ? `more than ${maxTries} requests` : pluralize(times.length, "request");
  const pause = times.length === 1 ? "" : `, with a shortest pause of ${shortest} ms`;
  const end = isEndless(run) ? ", and did not give up" : "";
  return `While ${key} got 503, your client sent ${sent}${pause}${end}.`;
}

/** Returns the report with an error for each finding, and a warning for the experiments that were not tried. */
export function withRetries(report: Report, results: readonly RetryResult[] = []): Report {
  if (results.length === 0) return report;
  const rows = new Map<AdviceId, ReportedAdvice>(report.advice.map((row) => [row.id, row]));
  // The experiments have found out what it suggests to find out.
  rows.delete(noteId);
  const add = (id: AdviceId, found: readonly RetryResult[], whatToDo = adviceOf(id).whatToDo) => {
    if (found.length === 0) return;
    const { meaning, ...advice } = adviceOf(id);
    const sentences = [...new Set(found.map(({ sentence }) => sentence))].join(" ");
    rows.set(id, {
      ...advice,
      id,
      count: found.length,
      meaning: `${meaning} ${sentences}`,
      whatToDo,
      examples: [],
    });
  };
  const having = (outcome: RetryResult["outcome"]) => results.filter((one) => one.outcome === outcome);
  for (const id of new Set(experimentIds.map((after) => experimentTable[after].advice))) {
    add(
      id,
      having("failed").filter(({ after }) => experimentTable[after].advice === id),
    );
  }
  const open = having("not_tried");
  add("retries-not-tried", open, [...new Set(open.flatMap(({ whatToDo }) => whatToDo ?? []))].join(" "));
  return { ...report, advice: adviceIds.flatMap((id) => rows.get(id) ?? []) };
}
