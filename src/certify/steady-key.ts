import { keyVariable } from "../rules/api-key.js";
import { isSuccess } from "../rules/outcomes.js";
import type { Replacement } from "../runs/conditions.js";
import { listed } from "../schema/words.js";
import type { ClientRun, KeyRequest, SentKey } from "./client-run.js";
import { type NotJudged, notJudged, type Reason, runNotMade, runTooLate } from "./judgment.js";
import { whyRunShowsNothing } from "./not-judged.js";
import { longestWait } from "./plan.js";
import type { Runs, WhichRun } from "./runs.js";
import { runVaried } from "./varied.js";

/** How many keys are tried. With the first one, no test may use the last response. */
const maxKeys = 3;

/** How many more plain runs are made if fewer than two varied runs show how often the key comes. */
const morePlainRuns = 4;

/** A key that each run sends equally often. If one of its requests gets another response and there are more in all, something resends it. */
export interface SteadyKey {
  readonly kind: "steady_key";
  readonly ref: string;
  /** How many of its requests the plain run accepted. */
  readonly requestCount: number;
}

/** Finds a steady key that shows a resend: a test uses its last response, and nothing else sends it after that. */
export async function findSteadyKey(runs: Runs): Promise<SteadyKey | NotJudged> {
  const working = workingKeys(runs);
  if (working.length === 0) return notJudged(noKey);

  // A client may keep the response to what it sends once, and ask again if that was rejected: no resend.
  const repeated = working.filter(({ requestCount }) => requestCount > 1);
  if (repeated.length === 0) return notJudged(sentOnce(working));

  const { passed } = await runVaried(runs);
  const steady = repeated.filter(({ ref, requestCount }) =>
    passed.every((run) => acceptedRequests(run, ref).length === requestCount),
  );
  if (steady.length === 0) return notJudged(notEquallyOften(repeated));

  const reasons: Reason[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const reason = await whyKeyIsUnfit(runs, key);
    if (reason === undefined) return key;
    reasons.push(reason);
  }
  return notJudged(reasons[0] as Reason); // there is a steady key
}

/** The keys that the plain run accepted each time, the default key first. One with an outcome that --allow names is rejected on purpose. */
function workingKeys({ plain, plan: { defaultKey, allow } }: Runs): SteadyKey[] {
  const keys: SteadyKey[] = [];
  for (const sentKey of plain.sent) {
    const { key: ref, isUnknown, requests } = sentKey;
    const isAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || requests.length === 0 || !isAccepted) continue;

    const key: SteadyKey = { kind: "steady_key", ref, requestCount: acceptedOf(sentKey).length };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}

/** Why a rejection of its last request would show nothing: a 404 in its place must make the command fail, and be the end. */
async function whyKeyIsUnfit(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  const replaced = await runWithReplacement(runs, key, "resend", notFound);
  if (replaced.kind === "not_judged") return replaced.reason;

  const { run, extraRequests } = replaced;
  if (extraRequests.length > 0) return sentAfter404(key);
  if (run.result === "passed" || run.replacedCount === 0)
    return whyRunShowsNothing(runs.plain, run, "replaced") ?? whyUnnoticed(key, "a 404");
  return runs.whyFailureMayBeChance(run);
}

interface ReplacingSettings extends WhichRun {
  /** The number of the request, from 1. Default: the last one. */
  readonly request?: number;
  /** How long the client may wait then, in milliseconds. Default: `longestWait`. */
  readonly wait?: number;
}

/** A run that replaced what one request with the key gets. */
interface ReplacedRun {
  readonly kind: "replaced";
  readonly run: ClientRun;
  /** The last requests with the key, so many as there are more than in the plain run. */
  readonly extraRequests: readonly KeyRequest[];
  /** Whether one of all its requests came too soon after the rejection. */
  readonly isOneEarly: boolean;
}

/** Makes a run in which one request with the key gets something else than its 200. */
export async function runWithReplacement(
  runs: Runs,
  { ref, requestCount }: SteadyKey,
  name: string,
  gets: Replacement,
  settings: ReplacingSettings = {},
): Promise<ReplacedRun | NotJudged> {
  const { request = requestCount, wait = longestWait, nth, series } = settings;
  const onRequest = { which: { kind: "nth", key: ref, nth: request }, gets } as const;
  const run = await runs.make(name, { onRequest }, { wait, series, ...(nth && { nth }) });
  if (run === undefined) return notJudged(runNotMade);
  if (run.result === "timed_out") return notJudged(runTooLate);

  const accepted = acceptedRequests(run, ref);
  const isOneEarly = accepted.some(({ earlyMs }) => earlyMs !== undefined);
  return { kind: "replaced", run, extraRequests: accepted.slice(requestCount), isOneEarly };
}

/** The first request with the key that is more than in the plain run, if the run hit a request with this key. */
export function firstExtraRequest(run: ClientRun, key: SteadyKey): KeyRequest | undefined {
  const accepted = acceptedRequests(run, key.ref);
  return accepted.some(({ isReplaced }) => isReplaced) ? accepted[key.requestCount] : undefined;
}

function acceptedRequests({ sent }: ClientRun, ref: string): readonly KeyRequest[] {
  const sentKey = sent.find(({ key }) => key === ref);
  return sentKey === undefined ? [] : acceptedOf(sentKey);
}

/** The requests that the sandbox accepts, or would without the conditions of the run. One whose response the client has not read is left out: it may send that again. */
function acceptedOf({ requests }: SentKey): readonly KeyRequest[] {
  return requests.filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);
}

/** Why the key may come more often by itself; `undefined` if it comes equally often. */
export async function whyCountVaries(runs: Runs, key: SteadyKey): Promise<Reason | undefined> {
  // Varied runs that passed have shown it already: else it would be no steady key.
  const { passed } = await runVaried(runs);
  if (passed.length > 1) return undefined;

  for (const run of await runs.plainRuns(1 + morePlainRuns)) {
    if (run === undefined) return runNotMade;
    if (acceptedRequests(run, key.ref).length !== key.requestCount) return notEquallyOften([key]);
  }
  return undefined;
}

const noKey: Reason = {
  why: "the plain run sent no key that always works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

function sentOnce(keys: readonly SteadyKey[]): Reason {
  return {
    why: `the plain run sent ${variablesOf(keys)} once`,
    whatToDo:
      "Send a key that works in two tests. Turn off what keeps its first response for the second one.",
  };
}

function notEquallyOften(keys: readonly SteadyKey[]): Reason {
  return {
    why: `not all runs sent ${variablesOf(keys)} equally often, although nothing was rejected`,
    whatToDo:
      "Send a key that works equally often in each run. Turn off what sends it in the background, such as a health check.",
  };
}

function sentAfter404({ ref }: SteadyKey): Reason {
  return {
    why: `${keyVariable(ref)} was also sent again after a 404`,
    whatToDo:
      "Send a request again only after a 429, a 5xx or no response. If your tests repeat requests, turn that off, such as `--retry` of a runner, or polling until a 200.",
  };
}

/** Why a run shows nothing that passed although the last request with the key got this response, and after which nothing came. */
export function whyUnnoticed({ ref }: SteadyKey, response: string): Reason {
  return {
    why: `the command passes when the last request with ${keyVariable(ref)} gets ${response}, and does not send it again`,
    whatToDo:
      "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
  };
}

function variablesOf(keys: readonly SteadyKey[]): string {
  const variables = keys.map(({ ref }) => keyVariable(ref));
  return listed(variables, "and");
}
