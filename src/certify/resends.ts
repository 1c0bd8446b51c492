import { variableOf } from "../rules/api-key.js";
import { type OutcomeId, outcomeOf } from "../rules/outcomes.js";
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
  notMade,
  type Reason,
  tooLate,
} from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, type CertifyPlan, isWanted, longestWait } from "./plan.js";
import { nameOfKey, type ResendKind, resendKinds } from "./resend-kinds.js";
import { moreIn, type ResentKey, replace, resentKeyOf, whyUnequal } from "./resent-key.js";
import type { Runs } from "./runs.js";
import { runVaried } from "./varied.js";

/** A kind of rejection after which the client sent the key again, as several runs show. */
interface Resend {
  readonly kind: "resend";
  readonly of: ResendKind;
  /** The request that must not have come, of the first run. */
  readonly request: KeyRequest;
}

/** Finds out of each kind of rejection whether the client sends the key again: in runs that reject the last request with a key. */
export async function judgeAllResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.covered).filter(({ name }) => isWanted(runs.plan, name));
  if (kinds.length === 0) return joined([]);
  const key = await resentKeyOf(runs);
  if ("why" in key) return joined(kinds.map(({ name }) => judged(name, notJudged(key))));
  const minWaits = kinds.filter(({ when }) => when === "too_soon").length === 1 ? 3 : 2;
  const results = await Promise.all(kinds.map((kind) => judgeKind(runs, key, kind, minWaits)));
  const checks = results.map((result, at) =>
    judged((kinds[at] as ResendKind).name, result.kind === "resend" ? failed : result),
  );
  const resends = results.filter((result) => result.kind === "resend");
  const problems = (["too_soon", "always"] as const).flatMap((when) => {
    const alike = resends.filter(({ of }) => of.when === when);
    return alike.length === 0 ? [] : problemOf(alike, when, key, runs.plan);
  });
  return joined([...checks, { problems }]);
}

/** How long the client may wait then, in milliseconds: a minute, if it must wait for the next one. */
const waitAfter = ({ when, seconds }: ResendKind) =>
  when === "too_soon" && seconds === undefined ? 61_000 : longestWait;

const resendAs = ({ as, seconds, asDate }: ResendKind) => ({
  as,
  ...(seconds !== undefined && { seconds }),
  ...(asDate && { asDate }),
});

/** What followed a rejection: no request, one in its time, or one that must not come. */
export type Followed =
  | { readonly kind: "nothing"; readonly run: ClientRun }
  | { readonly kind: "in_time" | "resent"; readonly request: KeyRequest };

/** How many runs show something. With one kind that has a time, no other kind would show a client with jitter. */
interface Minima {
  readonly waits: 2 | 3;
  readonly silent: 1 | 2;
}

const minResent = 2;
/** A client with jitter may come too soon only in some of them. */
const maxRuns = 5;

/** What the runs with a rejection show together; `undefined` if one more is needed. A run that sent more forbids that another one holds. */
export function shownBy(
  followed: readonly Followed[],
  minima: Minima,
): "held" | "resent" | "sometimes" | undefined {
  const countOf = (kind: Followed["kind"]) => followed.filter((one) => one.kind === kind).length;
  const [silent, waits, resent] = [countOf("nothing"), countOf("in_time"), countOf("resent")];
  if (resent === minResent) return "resent";
  if (silent > 0 && silent < followed.length) return "sometimes";
  if (silent === minima.silent || (waits === minima.waits && resent === 0)) return "held";
  return followed.length === maxRuns ? "sometimes" : undefined;
}

async function judgeKind(
  runs: Runs,
  key: ResentKey,
  kind: ResendKind,
  minWaits: Minima["waits"],
): Promise<Held | NotJudged | Resend> {
  const minima = { waits: minWaits, silent: runs.failuresThatCount };
  const followed: Followed[] = [];
  for (;;) {
    const next = await rejectLast(runs, key, kind, followed.length + 1);
    if (next.kind === "not_judged") return next;
    followed.push(next);
    const shown = shownBy(followed, minima);
    if (shown === undefined) continue;
    if (shown === "held") return heldUnlessContradicted(runs, key, kind, followed);
    const requests = followed.flatMap((one) => (one.kind === "nothing" ? [] : one.request));
    if (shown === "sometimes") return notJudged(whyOpen(key, kind, requests, "but only in some runs"));
    const resent = followed.flatMap((one) => (one.kind === "resent" ? one.request : []));
    return prove(runs, key, kind, resent);
  }
}

/** Rejects the last request. */
async function rejectLast(
  runs: Runs,
  key: ResentKey,
  kind: ResendKind,
  repetition: number,
): Promise<Followed | NotJudged> {
  const run = await replace(runs, key, kind.name, resendAs(kind), { repetition, wait: waitAfter(kind) });
  if (run === undefined || run.result === "timed_out") return notJudged(run ? tooLate : notMade);
  const more = moreIn(run, key);
  const [next] = more;
  const hasFailed = run.result === "failed" && run.hits > 0;
  if (next === undefined)
    return hasFailed
      ? { kind: "nothing", run }
      : notJudged(whyNotJudged(runs.plain, run, "hit") ?? whySurvived(key, kind));
  // A test that failed may send it again, to find out why.
  if (hasFailed) return notJudged(whyOpen(key, kind, [next], "and the command then failed"));
  if (kind.when === "always") return { kind: "resent", request: next };
  if (next.isElsewhere) return notJudged(elsewhere);
  const early = more.find(({ earlyMs }) => earlyMs !== undefined);
  return early === undefined ? { kind: "in_time", request: next } : { kind: "resent", request: early };
}

/** A kind holds only if its failure counts, and no varied run contradicts it. */
async function heldUnlessContradicted(
  runs: Runs,
  { ref }: ResentKey,
  kind: ResendKind,
  [first]: readonly Followed[],
): Promise<Held | NotJudged> {
  const unsure = first?.kind === "nothing" ? await runs.whyUnsure(first.run) : undefined;
  const reason = unsure ?? (kind.when === "always" ? await whyContradicted(runs, kind) : undefined);
  return reason === undefined ? { kind: "held", key: ref } : notJudged(reason);
}

/** A varied run that passed, in which more requests got this rejection than in the plain run. */
async function whyContradicted(runs: Runs, { as, after, whatToDo }: ResendKind): Promise<Reason | undefined> {
  const { status, code } = outcomeOf(as as OutcomeId);
  const isRejected = ({ outcome }: KeyRequest) =>
    outcomeOf(outcome).status === status && outcomeOf(outcome).code === code;
  const countIn = ({ sent }: ClientRun) => sent.flatMap(({ requests }) => requests).filter(isRejected).length;
  const { passed } = await runVaried(runs);
  const run = passed.find((one) => countIn(one) > countIn(runs.plain));
  return run && { why: `more requests got ${after} in ${run.name} than in the plain run`, whatToDo };
}

/** It does not come by itself: not more often in other runs, after the first request as well, and not while the response is only late. */
async function prove(
  runs: Runs,
  key: ResentKey,
  kind: ResendKind,
  again: readonly KeyRequest[],
): Promise<NotJudged | Resend> {
  const uncertain = await whyUnequal(runs, key);
  if (uncertain !== undefined) return notJudged(uncertain);
  const first = await replace(runs, key, kind.name, resendAs(kind), { nth: 1, wait: waitAfter(kind) });
  if (first === undefined || first.result === "timed_out") return notJudged(first ? tooLate : notMade);
  const isTimed = kind.when === "too_soon";
  const isSent = first.result === "passed" && moreIn(first, key).length > 0;
  const isEarly = first.sent.some(({ requests }) => requests.some(({ earlyMs }) => earlyMs !== undefined));
  // The last response may be one that nobody reads, or that a test asks for until it is there.
  if (!isSent || (isTimed && !isEarly))
    return notJudged(whyOpen(key, kind, again, "but not when its first request got the same response"));
  const reason = isTimed ? await whyLate(runs, key, kind, again) : undefined;
  return reason === undefined
    ? { kind: "resend", of: kind, request: again[0] as KeyRequest }
    : notJudged(reason);
}

/** How much later than an early request a response comes that is only late. */
const marginMs = 500;

/** Why early requests may come without a rejection. */
async function whyLate(
  runs: Runs,
  key: ResentKey,
  kind: ResendKind,
  again: readonly KeyRequest[],
): Promise<Reason | undefined> {
  const latest = Math.max(...again.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const seconds = Math.ceil((latest + marginMs) / 1000);
  const run = await replace(runs, key, "resend", { as: "late", seconds });
  if (run === undefined || run.result === "timed_out") return run ? tooLate : notMade;
  if (moreIn(run, key).length > 0)
    return whyOpen(key, kind, again, "but also while a response was only late");
  if (run.result === "passed") return undefined;
  return whyOpen(key, kind, again, "but the command failed while a response was only late");
}

function whyOpen(
  { ref }: ResentKey,
  { when, after, whatToDo }: ResendKind,
  again: readonly KeyRequest[],
  what: string,
): Reason {
  const early = when === "too_soon" ? again.find(({ earlyMs }) => earlyMs !== undefined) : undefined;
  const [first] = early === undefined ? again : [early];
  const late = early === undefined ? "" : `, ${early.earlyMs} ms later`;
  return {
    why: `after ${after}, ${variableOf(ref)} was sent again (${first?.id}${late}), ${what}`,
    whatToDo,
  };
}

/** A 404 in its place makes the command fail, so a test uses the response. */
const whySurvived = ({ ref }: ResentKey, { after }: ResendKind): Reason => ({
  why: `the command passes when the last request with ${variableOf(ref)} gets ${after}, and does not send it again`,
  whatToDo:
    "If your client survives this on purpose, such as by a second key, add --allow with the outcome of this key.",
});

const elsewhere: Reason = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
};

/** Kinds after which the same must not follow are one problem. */
function problemOf(
  resends: readonly Resend[],
  when: ResendKind["when"],
  { ref }: ResentKey,
  plan: CertifyPlan,
): Finding {
  const names = resends.map(({ of }) => of.name);
  const isTimed = when === "too_soon";
  const after = resends.map(({ of, request: { earlyMs } }) =>
    isTimed ? `${earlyMs} ms after ${of.after}` : `after ${of.after}`,
  );
  // Often the same one: ids do not depend on what was rejected.
  const ids = [...new Set(resends.map(({ request }) => request.id))];
  const requests = `${ids.length === 1 ? "request" : "requests"} ${listed(ids, "and")}`;
  const fixes = [...new Set(resends.map(({ of }) => of.whatToDo)), ...(isTimed ? [testClock] : [])];
  return {
    name: names[0] as string,
    sentence: `Sends ${nameOfKey(ref)} again ${listed(after, "and")} (${requests})${isTimed ? "" : ", and not after a 404"}`,
    whatToDo: fixes.join(" "),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    runs: names,
  };
}

const testClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
