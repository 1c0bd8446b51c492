import { variableOf } from "../rules/api-key.js";
import { isSuccess, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { firstWrong, isAnswerWanted } from "./answers.js";
import type { ClientRun, KeyRequest } from "./client-run.js";
import {
  checkOf,
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
import { againWith, type CertifyPlan, isWanted } from "./plan.js";
import { nameOfKey, type ResendKind, resendKinds, waitAfter } from "./resend-kinds.js";
import {
  elsewhere,
  type Suspect,
  sometimes,
  thenFailed,
  unconfirmed,
  whyUnproven,
} from "./resend-suspects.js";
import type { Runs } from "./runs.js";
import { nextAfterReplaced, runReplacing, type SteadyKey, steadyKeyIn, whyUnnoticed } from "./steady-key.js";
import { runVaried } from "./varied.js";

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
  const timed = kinds.filter(({ when }) => when === "too_soon");
  const lasting = kinds.filter(({ when }) => when === "always");
  return joined(await Promise.all([judgeAlike(runs, key, timed), judgeAlike(runs, key, lasting)]));
}

/** Judges kinds after which the same must not follow: they are one problem. */
async function judgeAlike(runs: Runs, key: SteadyKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const minWaits = kinds.length === 1 ? 3 : 2;
  const results = await Promise.all(kinds.map((kind) => judgeKind({ runs, key, kind }, minWaits)));
  const suspects = results.filter((result) => result.kind === "suspect");
  const reasons = await whyUnproven(runs, key, suspects);

  const checks = results.map((result, at) => {
    const { name } = kinds[at] as ResendKind;
    if (result.kind !== "suspect") return checkOf(name, result);
    const reason = reasons.get(result);
    return checkOf(name, reason === undefined ? failed : notJudged(reason));
  });
  const proven = suspects.filter((suspect) => !reasons.has(suspect));
  if (proven.length === 0) return joined([{ checks }]);
  return joined([{ checks, problems: [problemOf(proven, key, runs.plan)] }]);
}

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
  const failures = countOf("nothing");
  const waits = countOf("in_time");
  const resent = countOf("resent");

  if (resent === minResent) return "resent";
  if (failures > 0 && failures < followed.length) return "sometimes";
  if (failures === minFailures) return "held";
  if (waits === minWaits && resent === 0) return "held";
  if (followed.length === maxRuns) return "sometimes";
  return undefined;
}

async function judgeKind(question: Question, minWaits: 2 | 3): Promise<Held | NotJudged | Suspect> {
  const { runs, key, kind: ofKind } = question;
  const followed: Followed[] = [];
  const requests: KeyRequest[] = [];
  const resent: KeyRequest[] = [];
  for (;;) {
    const next = await rejectLast(question, followed.length + 1);
    if (next.kind === "not_judged") return next;
    followed.push(next);
    if (next.kind !== "nothing") requests.push(next.request);
    if (next.kind === "resent") resent.push(next.request);

    switch (shownBy(followed, minWaits, runs.failuresThatCount)) {
      case "held":
        return confirmHeld(question, followed[0]);
      case "sometimes":
        return notJudged(unconfirmed(key, { ofKind, requests }, sometimes));
      case "resent":
        return { kind: "suspect", ofKind, requests: resent };
    }
  }
}

/** Rejects the last request in a run. `nth`: which run it is, from 1. */
async function rejectLast(question: Question, nth: number): Promise<Followed | NotJudged> {
  const { runs, key, kind } = question;
  const settings = { nth, wait: waitAfter(kind) };
  const replaced = await runReplacing(runs, key, kind.name, kind.rejection, settings);
  if (replaced.kind === "not_judged") return replaced;
  const { run, extra } = replaced;
  const hasNoticed = run.result === "failed" && run.replacedCount > 0;
  const [next] = extra;

  if (next === undefined) {
    if (hasNoticed) return { kind: "nothing", run };
    return notJudged(whyNotJudged(runs.plain, run, "replaced") ?? whyUnnoticed(key, kind.after));
  }
  // A test that failed may send it again, to find out why.
  if (hasNoticed) return notJudged(unconfirmed(key, { ofKind: kind, requests: [next] }, thenFailed));
  if (kind.when === "always") return { kind: "resent", request: next };

  if (next.isElsewhere) return notJudged(elsewhere);
  const early = extra.find(({ earlyMs }) => earlyMs !== undefined);
  if (early === undefined) return { kind: "in_time", request: next };
  return { kind: "resent", request: early };
}

/** A kind holds only if its failure counts, and no other run contradicts it. */
async function confirmHeld(question: Question, first: Followed | undefined): Promise<Held | NotJudged> {
  const { runs, key } = question;
  const unsure = first?.kind === "nothing" ? await runs.whyUnsure(first.run) : undefined;
  if (unsure !== undefined) return notJudged(unsure);
  const contradicted = await whyContradicted(question);
  if (contradicted !== undefined) return notJudged(contradicted);
  return { kind: "held", key: key.ref };
}

/** Why a kind does not hold after which the same must not follow. */
async function whyContradicted({ runs, key, kind }: Question): Promise<Reason | undefined> {
  if (kind.when !== "always") return undefined;
  const moreRejected = await whyMoreRejected(runs, kind);
  if (moreRejected !== undefined || outcomeOf(kind.rejection.as).status !== 401) return moreRejected;
  return whySentAgain(runs, key, kind);
}

/** A varied run that passed, in which more requests got this rejection than in the plain run. */
async function whyMoreRejected(runs: Runs, kind: ResendKind): Promise<Reason | undefined> {
  const rejection = outcomeOf(kind.rejection.as);
  const isRejected = (request: KeyRequest) => {
    const { status, code } = outcomeOf(request.outcome);
    return status === rejection.status && code === rejection.code;
  };
  const countIn = ({ sent }: ClientRun) => {
    const requests = sent.flatMap((ofKey) => ofKey.requests);
    return requests.filter(isRejected).length;
  };

  const { passed } = await runVaried(runs);
  const run = passed.find((varied) => countIn(varied) > countIn(runs.plain));
  if (run === undefined) return undefined;
  const why = `more requests got ${kind.after} in ${run.name} than in the plain run`;
  return { why, whatToDo: kind.whatToDo };
}

/** A run that passed although a request with the key got a 401 in place of its 200, and the key came again. */
async function whySentAgain(
  runs: Runs,
  key: SteadyKey,
  { whatToDo }: ResendKind,
): Promise<Reason | undefined> {
  for (const outcome of runs.covered) {
    if (!isSuccess(outcome) || !isAnswerWanted(runs.plan, outcome)) continue;
    const run = await firstWrong(runs, outcome);
    const next = run?.result === "passed" ? nextAfterReplaced(run, key) : undefined;
    if (run === undefined || next === undefined) continue;
    return {
      why: `in ${run.name}, ${variableOf(key.ref)} was sent again after a 401 (${next.id}), and the command passed`,
      whatToDo: `${whatToDo} If a test waits until the key works, send the key in another test before it.`,
    };
  }
  return undefined;
}

/** Kinds after which the same must not follow are one problem. */
function problemOf(suspects: readonly Suspect[], { ref }: SteadyKey, plan: CertifyPlan): Finding {
  const names: string[] = [];
  const times: string[] = [];
  // Often the same one: ids do not depend on what was rejected.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  for (const { ofKind, requests } of suspects) {
    const [first] = requests as [KeyRequest, KeyRequest];
    names.push(ofKind.name);
    times.push(
      ofKind.when === "always" ? `after ${ofKind.after}` : `${first.earlyMs} ms after ${ofKind.after}`,
    );
    ids.add(first.id);
    fixes.add(ofKind.whatToDo);
  }

  const isTimed = suspects[0]?.ofKind.when === "too_soon";
  if (isTimed) fixes.add(testClock);
  fixes.add(notTheClient);
  const requestWord = ids.size === 1 ? "request" : "requests";
  const sentence = `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requestWord} ${listed([...ids], "and")})`;
  const only = names.flatMap((name) => ["--only", name]);
  return {
    name: names[0] as string,
    sentence: isTimed ? sentence : `${sentence}, and not after a 404`,
    whatToDo: [...fixes].join(" "),
    again: againWith(plan, "certify", ...only),
    runs: names,
  };
}

const notTheClient =
  "If it is not your client that sends it, but each test (polling) or their runner (a retry of failed tests), turn that off.";

const testClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
