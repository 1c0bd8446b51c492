import { variableOf } from "../rules/api-key.js";
import { outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { ClientRun, KeyRequest } from "./client-run.js";
import {
  type Finding,
  failed,
  type Held,
  type Judgment,
  joined,
  judged,
  type NotJudged,
  notJudged,
  type Reason,
} from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, type CertifyPlan, isWanted, longestWait } from "./plan.js";
import { nameOfKey, type ResendKind, resendKinds } from "./resend-kinds.js";
import type { Runs } from "./runs.js";
import {
  runReplacing,
  type SteadyKey,
  steadyKeyIn,
  whyFollowed,
  whyUnequal,
  whyUnnoticed,
} from "./steady-key.js";
import { runVaried } from "./varied.js";

/** A kind of rejection after which the client sent the key again, as several runs show. */
interface Resend {
  readonly kind: "resend";
  readonly ofKind: ResendKind;
  /** The request that must not have come, of the first run. */
  readonly request: KeyRequest;
}

/** Whether the client sends this key again after this kind of rejection. */
interface Question {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly kind: ResendKind;
}

/** Finds out of each kind of rejection whether the client sends the key again: in runs that reject the last request with a key. */
export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.covered).filter(({ name }) => isWanted(runs.plan, name));
  if (kinds.length === 0) return joined([]);
  const key = await steadyKeyIn(runs);
  if (key.kind === "not_judged") return joined(kinds.map(({ name }) => judged(name, key)));
  const minWaits = kinds.filter(({ when }) => when === "too_soon").length === 1 ? 3 : 2;
  const results = await Promise.all(
    kinds.map(async (kind) => [kind, await judgeKind({ runs, key, kind }, minWaits)] as const),
  );
  const checks = results.map(([{ name }, result]) =>
    judged(name, result.kind === "resend" ? failed : result),
  );
  const resends = results.flatMap(([, result]) => (result.kind === "resend" ? result : []));
  const problems = (["too_soon", "always"] as const).flatMap((when) => {
    const alike = resends.filter(({ ofKind }) => ofKind.when === when);
    return alike.length === 0 ? [] : problemOf(alike, when, key, runs.plan);
  });
  return joined([...checks, { problems }]);
}

/** How long the client may wait then, in milliseconds: a minute, if it must wait for the next one. */
const waitAfter = ({ when, rejection: { seconds } }: ResendKind) =>
  when === "too_soon" && seconds === undefined ? 61_000 : longestWait;

/** What followed a rejection: no request, one in its time, or one that must not come. */
export type Followed =
  | { readonly kind: "nothing"; readonly run: ClientRun }
  | { readonly kind: "in_time" | "resent"; readonly request: KeyRequest };

const minResent = 2;
/** A client with jitter may come too soon only in some of them. */
const maxRuns = 5;

/**
 * What the runs with a rejection show together; `undefined` if one more is needed. A run that sent more forbids that another one holds.
 * `minWaits`: three if no other kind with a time would show jitter. `minFailures`: two if one may be chance.
 */
export function shownBy(followed: readonly Followed[], minWaits: 2 | 3, minFailures: 1 | 2) {
  const countOf = (kind: Followed["kind"]) => followed.filter((next) => next.kind === kind).length;
  const [failures, waits, resent] = [countOf("nothing"), countOf("in_time"), countOf("resent")];
  if (resent === minResent) return "resent";
  if (failures > 0 && failures < followed.length) return "sometimes";
  if (failures === minFailures || (waits === minWaits && resent === 0)) return "held";
  return followed.length === maxRuns ? "sometimes" : undefined;
}

async function judgeKind(question: Question, minWaits: 2 | 3): Promise<Held | NotJudged | Resend> {
  const followed: Followed[] = [];
  for (;;) {
    const next = await rejectLast(question, followed.length + 1);
    if (next.kind === "not_judged") return next;
    followed.push(next);
    const result = shownBy(followed, minWaits, question.runs.failuresThatCount);
    if (result === undefined) continue;
    if (result === "held") return confirmHeld(question, followed);
    const requests = followed.flatMap((after) => (after.kind === "nothing" ? [] : after.request));
    if (result === "sometimes") return unconfirmed(question, requests, "but only in some runs");
    const resent = followed.flatMap((after) => (after.kind === "resent" ? after.request : []));
    return confirmResend(question, resent);
  }
}

/** Rejects the last request. */
async function rejectLast(question: Question, repetition: number): Promise<Followed | NotJudged> {
  const { runs, key, kind } = question;
  const wait = waitAfter(kind);
  const replaced = await runReplacing(runs, key, kind.name, kind.rejection, { repetition, wait });
  if (replaced.kind === "not_judged") return replaced;
  const { run, extra } = replaced;
  const [next] = extra;
  const hasNoticed = run.result === "failed" && run.replacedCount > 0;
  if (next === undefined)
    return hasNoticed
      ? { kind: "nothing", run }
      : notJudged(whyNotJudged(runs.plain, run, "replaced") ?? whyUnnoticed(key, kind.after));
  // A test that failed may send it again, to find out why.
  if (hasNoticed) return unconfirmed(question, [next], "and the command then failed");
  if (kind.when === "always") return { kind: "resent", request: next };
  if (next.isElsewhere) return notJudged(elsewhere);
  const early = extra.find(({ earlyMs }) => earlyMs !== undefined);
  return early === undefined ? { kind: "in_time", request: next } : { kind: "resent", request: early };
}

/** A kind holds only if its failure counts, and no varied run contradicts it. */
async function confirmHeld(
  { runs, key, kind }: Question,
  [first]: readonly Followed[],
): Promise<Held | NotJudged> {
  const unsure = first?.kind === "nothing" ? await runs.whyUnsure(first.run) : undefined;
  const reason = unsure ?? (kind.when === "always" ? await whyContradicted(runs, kind) : undefined);
  return reason === undefined ? { kind: "held", key: key.ref } : notJudged(reason);
}

/** A varied run that passed, in which more requests got this rejection than in the plain run. */
async function whyContradicted(
  runs: Runs,
  { rejection, after, whatToDo }: ResendKind,
): Promise<Reason | undefined> {
  const { status, code } = outcomeOf(rejection.as);
  const isRejected = ({ outcome }: KeyRequest) =>
    outcomeOf(outcome).status === status && outcomeOf(outcome).code === code;
  const countIn = ({ sent }: ClientRun) => sent.flatMap(({ requests }) => requests).filter(isRejected).length;
  const { passed } = await runVaried(runs);
  const run = passed.find((varied) => countIn(varied) > countIn(runs.plain));
  return run && { why: `more requests got ${after} in ${run.name} than in the plain run`, whatToDo };
}

/** It does not come by itself: not more often in other runs, after the first request as well, not after a 404, and not while the response is only late. */
async function confirmResend(
  question: Question,
  requests: readonly KeyRequest[],
): Promise<NotJudged | Resend> {
  const { runs, key, kind } = question;
  const unequal = await whyUnequal(runs, key);
  if (unequal !== undefined) return notJudged(unequal);
  const first = await runReplacing(runs, key, kind.name, kind.rejection, { nth: 1, wait: waitAfter(kind) });
  if (first.kind === "not_judged") return first;
  const { run, extra } = first;
  const isTimed = kind.when === "too_soon";
  const isSent = run.result === "passed" && extra.length > 0;
  const isEarly = run.sent.some((ofKey) => ofKey.requests.some(({ earlyMs }) => earlyMs !== undefined));
  // The last response may be one that nobody reads, or that a test asks for until it is there.
  if (!isSent || (isTimed && !isEarly))
    return unconfirmed(question, requests, "but not when its first request got the same response");
  const followed = await whyFollowed(runs, key);
  if (followed !== undefined) return notJudged(followed);
  const alsoLate = isTimed ? await judgeLate(question, requests) : undefined;
  return alsoLate ?? { kind: "resend", ofKind: kind, request: requests[0] as KeyRequest }; // there are two
}

/** How much later than an early request a response comes that is only late. */
const marginMs = 500;

/** Whether early requests may come without a rejection; `undefined` if they do not. */
async function judgeLate(
  question: Question,
  requests: readonly KeyRequest[],
): Promise<NotJudged | undefined> {
  const { runs, key } = question;
  const latest = Math.max(...requests.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const seconds = Math.ceil((latest + marginMs) / 1000);
  const late = await runReplacing(runs, key, "resend", { kind: "late", seconds });
  if (late.kind === "not_judged") return late;
  if (late.extra.length > 0)
    return unconfirmed(question, requests, "but also while a response was only late");
  if (late.run.result === "passed") return undefined;
  return unconfirmed(question, requests, "but the command failed while a response was only late");
}

/** Names one of the requests: the first one that came too soon, if there is one. */
function unconfirmed({ key, kind }: Question, requests: readonly KeyRequest[], what: string): NotJudged {
  const { when, after, whatToDo } = kind;
  const early = when === "too_soon" ? requests.find(({ earlyMs }) => earlyMs !== undefined) : undefined;
  const [first] = early === undefined ? requests : [early];
  const late = early === undefined ? "" : `, ${early.earlyMs} ms later`;
  const why = `after ${after}, ${variableOf(key.ref)} was sent again (${first?.id}${late}), ${what}`;
  return notJudged({ why, whatToDo });
}

const elsewhere: Reason = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
};

/** Kinds after which the same must not follow are one problem. */
function problemOf(
  resends: readonly Resend[],
  when: ResendKind["when"],
  { ref }: SteadyKey,
  plan: CertifyPlan,
): Finding {
  const names = resends.map(({ ofKind }) => ofKind.name);
  const isTimed = when === "too_soon";
  const times = resends.map(({ ofKind: { after }, request: { earlyMs } }) =>
    isTimed ? `${earlyMs} ms after ${after}` : `after ${after}`,
  );
  // Often the same one: ids do not depend on what was rejected.
  const ids = [...new Set(resends.map(({ request }) => request.id))];
  const requests = `${ids.length === 1 ? "request" : "requests"} ${listed(ids, "and")}`;
  const fixes = [...new Set(resends.map(({ ofKind }) => ofKind.whatToDo)), ...(isTimed ? [testClock] : [])];
  return {
    name: names[0] as string,
    sentence: `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requests})${isTimed ? "" : ", and not after a 404"}`,
    whatToDo: fixes.join(" "),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    runs: names,
  };
}

const testClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
