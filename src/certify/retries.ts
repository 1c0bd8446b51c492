import { type ApiCall, rejectCall } from "../api/answer.js";
import { unavailable } from "../api/faults.js";
import { brokenPromises } from "../api/promises.js";
import { pluralize } from "../report/plain-text.js";
import type { Report, ReportedAdvice } from "../report/report-shape.js";
import type { Ending } from "../sandbox/journal/exchange.js";
import type { SandboxState, Trial } from "../sandbox/sandbox.js";
import { type AdviceId, adviceIds, adviceOf } from "../spec/advice.js";
import { fingerprintOf } from "../spec/api-key.js";
import { type ApiPathId, outcomeOf, type PathId } from "../spec/outcomes.js";
import type { RetryResult } from "./result.js";

// Experiments that show how a client treats a rejection or an outage. Each run is like the baseline up to the last request with
// a key that works, so that nothing but this response can make the client send more requests with the key.

/** The number of requests with one key (its ref or fingerprint) that ended on one path. */
export interface SentCount {
  readonly key: string;
  readonly pathId: PathId;
  readonly count: number;
}

/** A run's requests, and whether the command failed. */
export interface CountedRun {
  readonly sent: readonly SentCount[];
  readonly failed: boolean;
  /** Whether its time was over. Default: false. */
  readonly isTimedOut?: boolean;
}

/** `control`: a key that is always rejected is accepted in its last request, to find runners that repeat failing tests. */
type ExperimentId = RetryResult["after"] | "control";

/** What happens to a key from its `last` request of the baseline on. */
export interface Experiment {
  readonly id: ExperimentId;
  readonly key: string;
  readonly last: number;
  /** The path where its requests end. */
  readonly pathId: ApiPathId;
}

/** An experiment that was made. */
export interface Made extends CountedRun {
  readonly experiment: Experiment;
  /** When the key was sent, from the last request of the baseline on, in milliseconds; empty if the client sent fewer. */
  readonly times: readonly number[];
  /** The number of these requests, without the first, that got the experiment's response. */
  readonly again: number;
}

const adviceAfter: Readonly<Record<RetryResult["after"], AdviceId>> = {
  "401": "same-key-after-401",
  "403": "same-key-after-403",
  "429": "too-soon-after-429",
  outage: "no-pause-after-failure",
};
/** The path of a status that the client does not cover. */
const usualPaths = { "401": "401.revoked", "403": "403.access_denied", "429": "429.per_minute" } as const;

/** Seconds in `Retry-After` of the 429. Timers may end a little early. */
const limitSeconds = 2;
const limitMs = limitSeconds * 1000 - 50;
/** The tries after which a client does not give up: its run ends. Fewer if its time is over. */
const mostTries = 20;
const mostTriesInTime = 10;
/** Repeats with pauses shorter than a second, after which a client does not pause. */
const mostWithoutPause = 5;

const noteId = "sent-again-after-refusal";
const statusOf = ({ pathId }: Pick<SentCount, "pathId">) => outcomeOf(pathId).status;
const countOf = ({ sent }: CountedRun, key: string) =>
  sent.reduce((total, one) => (one.key === key ? total + one.count : total), 0);
const rejectedIn = ({ sent }: CountedRun) =>
  sent.filter((one) => one.pathId !== "401.missing" && statusOf(one) in usualPaths);

/** Returns the experiments with a client, in order of its baseline; none if each key is rejected at least once. */
export function experimentsFor(baseline: CountedRun): Experiment[] {
  const { sent } = baseline;
  const [most] = sent
    .filter(({ key }) => sent.every((one) => one.key !== key || statusOf(one) === 200))
    // A client that stores accepted responses sends few requests.
    .sort((one, other) => countOf(baseline, other.key) - countOf(baseline, one.key));
  if (most === undefined) return [];
  const { key } = most;
  const last = countOf(baseline, key);
  const pathOf = (status: keyof typeof usualPaths) =>
    (sent.find((one) => statusOf(one) === Number(status))?.pathId ?? usualPaths[status]) as ApiPathId;
  const statuses = ["401", "403", "429"] as const;
  const rejections = statuses.map((id): Experiment => ({ id, key, last, pathId: pathOf(id) }));
  return [...rejections, { id: "outage", key, last, pathId: most.pathId as ApiPathId }];
}

/** Returns the experiment that finds out whether the client's test runner repeats failing tests, if that matters. */
export function controlFor(baseline: CountedRun, made: readonly Made[]): Experiment | undefined {
  const rejected = rejectedIn(baseline).at(-1);
  if (rejected === undefined || made.some(isCalm) || made.every(({ again }) => again === 0)) return undefined;
  const { key, pathId } = rejected;
  return { id: "control", key, last: countOf(baseline, key), pathId: pathId as ApiPathId };
}

// A client that sends nothing after a rejection neither retries, nor repeats failing tests, nor stores responses.
const isCalm = ({ experiment, times }: Made) => experiment.id !== "outage" && times.length === 1;

/** Starts an experiment: its effect on a run, and what it shows. */
export function startExperiment({ id, key, last, pathId }: Experiment) {
  const times: number[] = [];
  let sent = 0;
  let responses = 0;
  let limitedAt = 0;
  const respond = (world: SandboxState, call: ApiCall, ending: Ending): Ending | undefined => {
    if (id === "outage") return unavailable(world, call);
    if (id === "control") {
      const accepted = brokenPromises.find((one) => one.id === `${pathId}:accepted`);
      return { ...ending, ...accepted?.respond(ending, call, world) };
    }
    if (id !== "429") return rejectCall(world, call, { path: pathId });
    if (times.length === 1) limitedAt = call.now;
    // It also ends on the sandbox's clock, which a test may move.
    const waited = Math.max(call.now - limitedAt, call.started - (times[0] as number));
    if (waited >= limitMs) return undefined;
    const { answer, ...refused } = rejectCall(world, call, { path: pathId });
    const headers = answer.headers.filter((_, i, all) => all[i - (i % 2)] !== "Retry-After");
    return { ...refused, answer: { ...answer, headers: [...headers, "Retry-After", String(limitSeconds)] } };
  };
  const broken: NonNullable<Trial["broken"]> = {
    responses: 0,
    end(world, call: ApiCall, ending: Ending): Ending {
      const sentKey = call.entry?.key.ref ?? fingerprintOf(call.sha256);
      if (sentKey !== key || call.request.fromStory || ending.fault !== undefined) return ending;
      sent += 1;
      if (sent < last) return ending;
      times.push(call.started);
      const other = respond(world, call, ending);
      if (other !== undefined) responses += 1;
      return other ?? ending;
    },
  };
  return {
    // An empty list of faults keeps the clock within the minute while a client waits.
    trial: { broken, faults: [] } satisfies Trial,
    /** Whether the run has shown enough. */
    isOver: () => responses > mostTries,
    // The client may send a few more until its run is ended.
    facts: () => ({ times: times.slice(0, mostTries + 1), again: Math.min(responses - 1, mostTries) }),
  };
}

type Doubt = Required<Pick<RetryResult, "sentence" | "whatToDo">>;

/** The results of the experiments; `plain` are the runs without any fault or broken promise, the baseline first. */
export function retryResults(
  plain: readonly [CountedRun, ...CountedRun[]],
  made: readonly Made[],
  control: Made | undefined,
): RetryResult[] {
  const [baseline] = plain;
  const [{ key } = { key: "" }] = experimentsFor(baseline);
  const usual = Math.max(...plain.map((run) => countOf(run, key)));
  const resultOf = (after: RetryResult["after"]): RetryResult => {
    const unclear = (doubt: Doubt): RetryResult => ({ after, outcome: "unclear", ...doubt });
    if (key === "") {
      const sentence = "No key gets 200 in every request.";
      return unclear({ sentence, whatToDo: "Send a key that always works, such as SVC_KEY_ACTIVE." });
    }
    const run = made.find(({ experiment }) => experiment.id === after);
    if (run === undefined) return { after, outcome: "not_run", sentence: "The run was not made." };
    const { times, again } = run;
    if (times.length === 0 || usual > countOf(baseline, key)) {
      const sentence = `The runs do not send ${key} equally often.`;
      return unclear({ sentence, whatToDo: "Send the same requests in each run." });
    }
    const sentence = after === "outage" ? outageSentence(key, run) : rejectionSentence(after, key, again);
    if (after === "outage" ? !isHasty(times) && !isEndless(run) : again === 0)
      return { after, outcome: "passed", sentence };
    const doubt = made.some(isCalm)
      ? undefined
      : (repeatedTests(baseline, run, control) ?? storedResponses(baseline, run));
    if (doubt !== undefined) return unclear(doubt);
    return { after, outcome: "failed", sentence, whatToDo: adviceOf(adviceAfter[after]).whatToDo };
  };
  return (["401", "403", "429", "outage"] as const).map(resultOf);
}

// If failing tests are repeated, they send more requests no matter which response they got.
function repeatedTests(baseline: CountedRun, run: Made, control: Made | undefined): Doubt | undefined {
  if (control === undefined || control.times.length === 0) {
    const sentence = "Your tests send no rejected key, so a retry and a repeated test look the same.";
    return { sentence, whatToDo: "Send SVC_KEY_REVOKED, and check its response." };
  }
  if (control.sent.some(({ key }) => countOf(control, key) > countOf(baseline, key))) {
    const sentence = "Your test runner repeats failing tests, which looks like a retry.";
    return { sentence, whatToDo: "Turn off its retries for this command." };
  }
  if (control.failed || !run.failed) return undefined;
  const sentence = `No test fails when ${control.experiment.key} is accepted, so a retry and a repeated test look the same.`;
  return { sentence, whatToDo: "Check the status of each response." };
}

// Other tests send a key again if its accepted response was not stored. A client that retries also resent each rejected key.
function storedResponses(baseline: CountedRun, { experiment: { id }, again }: Made): Doubt | undefined {
  const rejected = rejectedIn(baseline).filter((one) => id === "outage" || String(statusOf(one)) === id);
  if (rejected.length > 0 && rejected.every(({ key }) => countOf(baseline, key) > again)) return undefined;
  const sentence = "Your client may store accepted responses, and ask again in the next test if it has none.";
  return { sentence, whatToDo: "Turn off this cache for this command." };
}

function rejectionSentence(after: string, key: string, again: number): string {
  const soon = after === "429" ? " too soon" : "";
  if (again === 0) return `No request followed${soon} when certify rejected ${key} with ${after}.`;
  const which = after === "429" ? ` sooner than ${limitSeconds} s, its Retry-After` : "";
  const count = again === mostTries ? `${mostTries} or more requests` : pluralize(again, "more request");
  return `When certify rejected ${key} with ${after}, ${count} followed${which}.`;
}

function pausesOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] as number));
}

function isHasty(times: readonly number[]): boolean {
  let inRow = 0;
  return pausesOf(times).some((pause) => {
    inRow = pause < 1000 ? inRow + 1 : 0;
    return inRow > mostWithoutPause;
  });
}

function isEndless({ times, isTimedOut = false }: Made): boolean {
  return times.length > (isTimedOut ? mostTriesInTime : mostTries);
}

function outageSentence(key: string, run: Made): string {
  const { times } = run;
  const shortest = Math.round(Math.min(...pausesOf(times)));
  const isMany = times.length > mostTries;
  const sent = isMany ? `more than ${mostTries} requests` : pluralize(times.length, "request");
  const pause = times.length === 1 ? "" : `, with a shortest pause of ${shortest} ms`;
  const end = isEndless(run) ? ", and did not give up" : "";
  return `While ${key} got 503, your client sent ${sent}${pause}${end}.`;
}

/** Returns the report with a warning for each finding, and with the note only if a result is open. */
export function withRetries(report: Report, results: readonly RetryResult[] = []): Report {
  if (results.length === 0) return report;
  const rows = new Map<AdviceId, ReportedAdvice>(report.advice.map((row) => [row.id, row]));
  for (const { after, outcome, sentence } of results) {
    if (outcome !== "failed") continue;
    const id = adviceAfter[after];
    const { meaning, ...advice } = adviceOf(id);
    rows.set(id, { ...advice, id, count: 1, meaning: `${meaning} ${sentence}`, examples: [] });
  }
  const note = rows.get(noteId);
  const open = results.filter(
    ({ after, outcome }) => after !== "outage" && (outcome === "unclear" || outcome === "not_run"),
  );
  if (open.length === 0) rows.delete(noteId);
  else if (note !== undefined) {
    const why = [...new Set(open.map(({ sentence }) => sentence))].join(" ");
    const fixes = [...new Set(open.flatMap(({ whatToDo }) => whatToDo ?? []))].join(" ");
    rows.set(noteId, { ...note, meaning: `${note.meaning} ${why}`, whatToDo: fixes || note.whatToDo });
  }
  return { ...report, advice: adviceIds.flatMap((id) => rows.get(id) ?? []) };
}
