import { variableOf } from "../rules/api-key.js";
import { isSuccess } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Replacement } from "../runs/conditions.js";
import type { ClientRun, KeyRequest, SentKey } from "./client-run.js";
import { type NotJudged, notJudged, notMade, type Reason, tooLate } from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { longestWait } from "./plan.js";
import type { Runs } from "./runs.js";
import { runVaried } from "./varied.js";

/** A key that each run sends equally often. If its last request gets another response, one that follows is one more. */
export interface SteadyKey {
  readonly kind: "steady_key";
  readonly ref: string;
  /** How many of its requests the plain run accepted. */
  readonly count: number;
}

/** A test may not use the last response with the first key. */
const maxKeys = 3;

/** The requests that are accepted without the conditions of a run, and whose responses the client has read: else, it may send them again. */
const acceptedOf = ({ requests }: SentKey): readonly KeyRequest[] =>
  requests.filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);

const acceptedIn = ({ sent }: ClientRun, ref: string): readonly KeyRequest[] =>
  sent.flatMap((ofKey) => (ofKey.key === ref ? acceptedOf(ofKey) : []));

/** A run that replaced what one request with the key gets. */
interface ReplacedRun {
  readonly kind: "replaced";
  readonly run: ClientRun;
  /** The requests with the key that are more than in the plain run, in order. */
  readonly extra: readonly KeyRequest[];
}

/** Makes a run in which one request with the key, the last one or the nth, gets something else. `wait`: how long the client may wait then, in milliseconds. */
export async function runReplacing(
  runs: Runs,
  { ref, count }: SteadyKey,
  name: string,
  gets: Replacement,
  { repetition = 1, wait = longestWait, nth = count } = {},
): Promise<ReplacedRun | NotJudged> {
  const which = { kind: "nth", key: ref, nth } as const;
  const run = await runs.make(name, { onRequest: { which, gets } }, { repetition, wait });
  if (run === undefined) return notJudged(notMade);
  if (run.result === "timed_out") return notJudged(tooLate);
  return { kind: "replaced", run, extra: acceptedIn(run, ref).slice(count) };
}

/** Finds a key whose last response a test uses, and after which nothing else sends it. */
export async function steadyKeyIn(runs: Runs): Promise<SteadyKey | NotJudged> {
  const working = keysThatWork(runs);
  if (working.length === 0) return notJudged(noKey);
  // What is sent once may be kept, and asked for again if it was not accepted.
  const repeated = working.filter(({ count }) => count > 1);
  if (repeated.length === 0) return notJudged(whySentOnce(working));
  const { passed } = await runVaried(runs);
  const steady = repeated.filter(({ ref, count }) =>
    passed.every((run) => acceptedIn(run, ref).length === count),
  );
  if (steady.length === 0) return notJudged(whyDifferent(repeated));
  const reasons: Reason[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const reason = await whyUnfit(runs, key);
    if (reason === undefined) return key;
    reasons.push(reason);
  }
  return notJudged(reasons[0] as Reason); // there is a steady key
}

/** The default key comes first. One with an outcome that --allow names is rejected on purpose. */
function keysThatWork({ plain, plan: { defaultKey, allow } }: Runs): SteadyKey[] {
  const works = plain.sent.filter(
    ({ isUnknown, requests }) =>
      !isUnknown &&
      requests.length > 0 &&
      requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome)),
  );
  return works
    .map((sent): SteadyKey => ({ kind: "steady_key", ref: sent.key, count: acceptedOf(sent).length }))
    .toSorted((one, other) => Number(other.ref === defaultKey) - Number(one.ref === defaultKey));
}

/** Gives its last request a 404, which no client should repeat. */
const endWith404 = (runs: Runs, key: SteadyKey, repetition = 1) =>
  runReplacing(runs, key, "resend", { kind: "rejection", as: "404.unknown_path" }, { repetition });

/** Why a rejection of its last request would show nothing: a 404 must make the command fail, and be the end. */
async function whyUnfit(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  const replaced = await endWith404(runs, key);
  if (replaced.kind === "not_judged") return replaced.reason;
  const { run, extra } = replaced;
  if (extra.length > 0) return whyRepeated(key);
  if (run.result === "passed" || run.replacedCount === 0)
    return whyNotJudged(runs.plain, run, "replaced") ?? whyUnnoticed(key, "a 404");
  return runs.whyUnsure(run);
}

/** How often a 404 must be the end before anybody is accused: in tests in random order, the last request is only sometimes one that a test polls with. */
const minEnds = 8;

/** Why any rejection of the last request may be followed by one more. */
export async function whyFollowed(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  const repetitions = Array.from({ length: minEnds - 1 }, (_, at) => 2 + at);
  const ends = await Promise.all(repetitions.map((repetition) => endWith404(runs, key, repetition)));
  for (const end of ends) {
    if (end.kind === "not_judged") return end.reason;
    if (end.extra.length > 0) return whyRepeated(key);
  }
  return undefined;
}

/** How often the plain run is made again if fewer than two varied runs show how often the key comes. */
const morePlainRuns = 4;

/** Why the key may come more often by itself. */
export async function whyUnequal(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  const { passed } = await runVaried(runs);
  const repetitions = passed.length > 1 ? [] : Array.from({ length: morePlainRuns }, (_, at) => 2 + at);
  const plain = await Promise.all(repetitions.map((repetition) => runs.make("plain", {}, { repetition })));
  if (plain.includes(undefined)) return notMade;
  const isEqual = plain.every((run) => run !== undefined && acceptedIn(run, key.ref).length === key.count);
  return isEqual ? undefined : whyDifferent([key]);
}

const variablesOf = (keys: readonly SteadyKey[]) =>
  listed(
    keys.map(({ ref }) => variableOf(ref)),
    "and",
  );

const noKey: Reason = {
  why: "the plain run sent no key that always works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

const whySentOnce = (keys: readonly SteadyKey[]): Reason => ({
  why: `the plain run sent ${variablesOf(keys)} once`,
  whatToDo: "Send a key that works in two tests. Turn off what keeps its first response for the second one.",
});

const whyDifferent = (keys: readonly SteadyKey[]): Reason => ({
  why: `not all runs sent ${variablesOf(keys)} equally often, although nothing was rejected`,
  whatToDo:
    "Send a key that works equally often in each run. Turn off what sends it in the background, such as a health check.",
});

const whyRepeated = ({ ref }: SteadyKey): Reason => ({
  why: `${variableOf(ref)} was also sent again after a 404`,
  whatToDo:
    "Send a request again only after a 429, a 5xx or no response. If your tests repeat requests, turn that off, such as `--retry` of a runner, or polling until a 200.",
});

/** Why a response shows nothing, although nothing follows it. */
export const whyUnnoticed = ({ ref }: SteadyKey, response: string): Reason => ({
  why: `the command passes when the last request with ${variableOf(ref)} gets ${response}, and does not send it again`,
  whatToDo:
    "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
});
