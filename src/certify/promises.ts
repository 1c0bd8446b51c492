import type { Endpoint } from "../api/endpoint.js";
import { type BrokenPromise, promisesOn } from "../api/promises.js";
import { pluralize } from "../report/plain-text.js";
import type { Report } from "../report/report-shape.js";
import { type UnmetThreshold, unmetThresholds } from "../report/thresholds.js";
import type { AdviceId } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import type { FaultPathId } from "../rules/fault-effects.js";
import type { PathId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { type RunFacts, whyNoEvidence } from "./evidence.js";
import {
  type CertifyResult,
  type Gates,
  type NotTried,
  openKinds,
  type PromiseRun,
  type Reason,
  type Run,
} from "./result.js";

/** The minimum of promised paths and announced endpoints that a client must cover: fewer show too little. */
export const minPaths = 5;

/** Why requests with a key may not arrive at the endpoint, or without their key. */
const misdirections: readonly AdviceId[] = ["key-in-query", "key-in-authorization", "wrong-method-or-path"];

/** Returns why a client that passes its baseline cannot be certified, and the fix; `undefined` if it can. */
export function whyTooLittle({ coverage, announced, paths, advice }: Report): string | undefined {
  const { covered, promised } = coverage;
  const missing = minPaths - covered - announced.covered;
  if (missing <= 0) return undefined;
  const wrong = advice.find(({ id }) => misdirections.includes(id));
  const sendsKey = paths.some((row) => row.promised && row.covered && row.pathId !== "401.missing");
  const why =
    sendsKey || wrong
      ? `the client covers ${covered} of ${promised} promised paths, and a certificate needs ${minPaths}`
      : "the client sends no key in x-api-key";
  const fix = wrong ? ` ${wrong.meaning} ${wrong.whatToDo}` : "";
  const keys = paths.flatMap(({ promised, covered, pathId, howToCover }) => {
    const { ref = "none", scopes } = howToCover ?? {};
    return promised && !covered && ref !== "none" && scopes === undefined
      ? [`${variableOf(ref)} (${pathId})`]
      : [];
  });
  return `${why}.${fix} Send ${missing} or more of these keys, and check each response: ${keys.join(", ")}`;
}

/** Without a `clientRun` it was not made. A run that had to be ended shows nothing: the machine may have been busy. */
export function promiseRun(
  { id, path, kind, sentence, loss }: BrokenPromise,
  clientRun: (Pick<PromiseRun, "code" | "durationMs"> & RunFacts) | undefined,
  baseline: Pick<RunFacts, "sent">,
): PromiseRun {
  const promise = { id, pathId: path, kind, sentence, loss };
  if (clientRun === undefined) return { ...promise, outcome: "not_run", code: null, durationMs: 0 };
  const { code, durationMs } = clientRun;
  // A test that fails may end the command before its other requests.
  const wanted = code === 0 ? baseline : { sent: [] };
  const reason = code === null ? unended : whyNoEvidence(wanted, clientRun, "promise", path);
  if (reason !== undefined) return { ...promise, outcome: "not_tried", code, durationMs, reason };
  return { ...promise, outcome: code === 0 ? "not_noticed" : "noticed", code, durationMs };
}

export function promisesIn(
  kinds: CertifyResult["promises"]["kinds"],
  runs: readonly PromiseRun[],
): CertifyResult["promises"] {
  const count = (wanted: PromiseRun["outcome"]) => runs.filter(({ outcome }) => outcome === wanted).length;
  const noticed = count("noticed");
  return { kinds, tried: noticed + count("not_noticed"), noticed, runs };
}

/** Whether a client must notice this promise; others are only reported. */
export function mustNotice({ minNoticed }: Gates, { kind }: PromiseRun): boolean {
  return minNoticed === undefined && kind === "swap";
}

export function unmetGates(
  report: Report,
  { tried, noticed, runs }: CertifyResult["promises"],
  gates: Gates,
): UnmetThreshold[] {
  const { minNoticed = 0 } = gates;
  const unmet = unmetThresholds(report, gates);
  if (noticed * 100 < minNoticed * tried || (minNoticed > 0 && tried === 0)) {
    const sentence = `The client notices ${noticed} of ${pluralize(tried, "covered promise")}, and --min-noticed needs ${minNoticed}%.`;
    unmet.push({ gate: "noticed", threshold: `--min-noticed ${minNoticed}`, percent: minNoticed, sentence });
  }
  const missed = runs.filter((run) => run.outcome === "not_noticed" && mustNotice(gates, run));
  if (missed.length > 0) {
    const sentence = `The client does not notice ${pluralize(missed.length, "swap")} of accepted and rejected keys. Make a test fail for each, or set --min-noticed.`;
    unmet.push({ gate: "swaps", threshold: "--promises swaps", sentence });
  }
  return unmet;
}

const unmade: Reason = {
  why: "the run was not made",
  whatToDo: "Run certify to its end: fix what fails first, or raise --budget.",
};

const unended: Reason = {
  why: "the client was still running when its time was over",
  whatToDo: "Limit how long it waits, or set a longer --timeout.",
};

/** Why a run shows nothing; `undefined` if it does. */
function whyOpen({ outcome, reason }: Pick<Run | PromiseRun, "outcome" | "reason">): Reason | undefined {
  return outcome === "not_run" ? unmade : reason;
}

/** What stays open next to the runs. */
export interface OpenParts {
  readonly unjudged?: readonly UnjudgedWrites[];
  /** The assumptions that the client's own scenarios set, so that no run varied them. */
  readonly unvaried?: readonly string[];
}

/** Writes that a client may give up under a fault, because it must not repeat them. */
export interface UnjudgedWrites {
  readonly fault: FaultPathId;
  readonly paths: readonly PathId[];
}

/** Lists everything that shows nothing about the client; `only` are the names of the only runs that were wanted. */
export function notTriedIn(
  { runs, promises, retries = [], faults }: Pick<CertifyResult, "runs" | "promises" | "retries" | "faults">,
  only?: readonly string[],
  endpoints?: readonly Endpoint[],
  { unjudged = [], unvaried = [] }: OpenParts = {},
): NotTried[] {
  const rows: (readonly [NotTried["kind"], what: string, why: string, whatToDo: string])[] = [];
  const addOpen = (
    kind: NotTried["kind"],
    what: string,
    run: Pick<Run | PromiseRun, "outcome" | "reason">,
  ) => {
    const { why, whatToDo } = whyOpen(run) ?? {};
    if (why !== undefined && whatToDo !== undefined) rows.push([kind, what, why, whatToDo]);
  };
  for (const { after, outcome, sentence, whatToDo = "" } of retries)
    if (outcome === "not_tried") rows.push(["experiment", `retries after ${after}`, sentence, whatToDo]);
  for (const run of runs) addOpen("run", run.name, run);
  if (unvaried.length > 0) {
    const names = listed(
      unvaried.map((name) => `\`${name}\``),
      "and",
    );
    const whatToDo = "Leave them out of the `assumptions` that your tests set.";
    rows.push([
      "assumptions",
      names,
      "your scenario or your tests set them, so no run varies them",
      whatToDo,
    ]);
  }
  for (const run of promises.runs) addOpen("promise", run.id, run);
  for (const { fault, paths } of unjudged) {
    const why = "the client may give up: without an Idempotency-Key, it must not repeat the request";
    const what =
      "Send the key if the endpoint documents it, or expect in your test that the client gives up.";
    rows.push(["unrepeatable_writes", `${fault} on ${listed(paths, "and")}`, why, what]);
  }
  if (only === undefined) {
    if (endpoints?.some(({ method }) => method !== "GET"))
      rows.push([
        "rejected_writes",
        "writes that a record rejects",
        "no run rejects a write with 409 or 422, or a DELETE that took effect and lost its response with 404",
        "Check in a test of yours that the client sends a rejected write once, and takes the 404 of a repeated DELETE for a success.",
      ]);
    const paths = runs.length === 0 ? [] : [...new Set(promises.runs.map(({ pathId }) => pathId))];
    const others = promisesOn(paths, "all", endpoints).flatMap(({ id, words }) =>
      promises.runs.some((run) => run.id === id) ? [] : words,
    );
    const what = `other promises: ${[...new Set(others)].join(", ")}`;
    if (promises.kinds === "none")
      rows.push(["broken_promises", "broken promises", "--promises none breaks none", "Leave it out."]);
    else if (others.length > 0)
      rows.push(["other_promises", what, "--promises swaps breaks only swaps", "Add --promises all."]);
    if (faults.length === 0) rows.push(["faults", "faults", "certify ran without --faults", "Add --faults."]);
  }
  return rows.map(([kind, what, why, whatToDo]) => ({ kind, what, why, whatToDo }));
}

/** As in "Not tried: 2 of 5 experiments, faults." */
export function notTriedSentence({
  runs,
  promises,
  retries = [],
  notTried,
}: CertifyResult): string | undefined {
  const all: Partial<Record<NotTried["kind"], number>> = {
    experiment: retries.length,
    run: runs.length,
    promise: promises.runs.length,
  };
  const shares = openKinds.flatMap((kind) => {
    const open = notTried.filter((one) => one.kind === kind).length;
    const total = all[kind];
    if (open === 0) return [];
    return total === undefined ? kind.replace("_", " ") : `${open} of ${pluralize(total, kind)}`;
  });
  return shares.length === 0 ? undefined : `Not tried: ${shares.join(", ")}.`;
}

const maxNamed = 3;

/** As in "Noticed 19 of 20 covered promises. Not noticed: empty `scopes` on a 200." */
export function noticedSentence({ tried, noticed, runs }: CertifyResult["promises"]): string | undefined {
  if (tried === 0) return undefined;
  const missed = runs.flatMap(({ outcome, sentence }) => (outcome === "not_noticed" ? sentence : []));
  const more = missed.length > maxNamed ? `; and ${missed.length - maxNamed} more` : "";
  const which = missed.length === 0 ? "" : ` Not noticed: ${missed.slice(0, maxNamed).join("; ")}${more}.`;
  return `Noticed ${noticed} of ${pluralize(tried, "covered promise")}.${which}`;
}
