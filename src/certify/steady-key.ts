import { variableOf } from "../rules/api-key.js";
import { isSuccess } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Replacement } from "../runs/conditions.js";
import type { ClientRun, KeyRequest, SentKey } from "./client-run.js";
import { type NotJudged, notJudged, notMade, type Reason, tooLate } from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { longestWait } from "./plan.js";
import type { Runs, WhichRun } from "./runs.js";
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
const acceptedOf = ({ requests }: Pick<SentKey, "requests">): readonly KeyRequest[] =>
  requests.filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);

function acceptedIn({ sent }: ClientRun, ref: string): readonly KeyRequest[] {
  const ofKey = sent.find(({ key }) => key === ref);
  return ofKey === undefined ? [] : acceptedOf(ofKey);
}

/** A run that replaced what one request with the key gets. */
interface ReplacedRun {
  readonly kind: "replaced";
  readonly run: ClientRun;
  /** The requests with the key that are more than in the plain run, in order. */
  readonly extra: readonly KeyRequest[];
  /** Whether one with the key came before its time. */
  readonly isEarly: boolean;
}

interface ReplacingSettings extends WhichRun {
  /** The number of the request, from 1. Default: the last one. */
  readonly request?: number;
  /** How long the client may wait then, in milliseconds. */
  readonly wait?: number;
}

/** Makes a run in which one request with the key gets something else. */
export async function runReplacing(
  runs: Runs,
  { ref, count }: SteadyKey,
  name: string,
  gets: Replacement,
  settings: ReplacingSettings = {},
): Promise<ReplacedRun | NotJudged> {
  const { request = count, wait = longestWait, nth, series } = settings;
  const onRequest = { which: { kind: "nth", key: ref, nth: request }, gets } as const;
  const run = await runs.make(name, { onRequest }, { wait, series, ...(nth && { nth }) });
  if (run === undefined) return notJudged(notMade);
  if (run.result === "timed_out") return notJudged(tooLate);
  const accepted = acceptedIn(run, ref);
  const isEarly = accepted.some(({ earlyMs }) => earlyMs !== undefined);
  return { kind: "replaced", run, extra: accepted.slice(count), isEarly };
}

/** The first request with the key that is more than in the plain run, if the run replaced the response of another one with it. */
export function nextAfterReplaced(run: ClientRun, { ref, count }: SteadyKey): KeyRequest | undefined {
  const accepted = acceptedIn(run, ref);
  return accepted.some(({ isReplaced }) => isReplaced) ? accepted[count] : undefined;
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
  const keys: SteadyKey[] = [];
  for (const { key: ref, isUnknown, requests } of plain.sent) {
    const isAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || requests.length === 0 || !isAccepted) continue;
    const key: SteadyKey = { kind: "steady_key", ref, count: acceptedOf({ requests }).length };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}

/** Why a rejection of its last request would show nothing: a 404 must make the command fail, and be the end. */
async function whyUnfit(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  const replaced = await runReplacing(runs, key, "resend", { kind: "rejection", as: "404.unknown_path" });
  if (replaced.kind === "not_judged") return replaced.reason;
  const { run, extra } = replaced;
  if (extra.length > 0) return whyRepeated(key);
  if (run.result === "passed" || run.replacedCount === 0)
    return whyNotJudged(runs.plain, run, "replaced") ?? whyUnnoticed(key, "a 404");
  return runs.whyUnsure(run);
}

/** How often the plain run is made again if fewer than two varied runs show how often the key comes. */
const morePlainRuns = 4;

/** Why the key may come more often by itself. */
export async function whyUnequal(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  // They have shown that it is a steady key.
  const { passed } = await runVaried(runs);
  if (passed.length > 1) return undefined;

  for (const run of await runs.firstPlain(1 + morePlainRuns)) {
    if (run === undefined) return notMade;
    if (acceptedIn(run, key.ref).length !== key.count) return whyDifferent([key]);
  }
  return undefined;
}

function variablesOf(keys: readonly SteadyKey[]): string {
  const variables = keys.map(({ ref }) => variableOf(ref));
  return listed(variables, "and");
}

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
