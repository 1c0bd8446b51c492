import { variableOf } from "../rules/api-key.js";
import { type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Client } from "./client.js";
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
import type { ClientRun, KeyRequest } from "./run.js";
import { runVaried } from "./varied.js";

/** A kind of rejection after which the client sent the key again. */
interface Proven {
  readonly kind: "proven";
  readonly of: ResendKind;
  /** The request that came again. */
  readonly request: KeyRequest;
}

/** Finds out of each kind of rejection whether the client sends the key again: in runs that reject the last request with a key. */
export async function judgeAllResends(client: Client): Promise<Judgment> {
  const kinds = resendKinds(client.covered).filter(({ name }) => isWanted(client.plan, name));
  if (kinds.length === 0) return joined([]);
  const key = await resentKeyOf(client);
  if ("why" in key) return joined(kinds.map(({ name }) => judged(name, notJudged(key))));
  const seen = await Promise.all(kinds.map((kind) => judgeKind(client, key, kind)));
  const checks = seen.map((one, at) =>
    judged((kinds[at] as ResendKind).name, one.kind === "proven" ? failed : one),
  );
  const proven = seen.filter((one) => one.kind === "proven");
  const problems = (["too_soon", "always"] as const).flatMap((when) => {
    const some = proven.filter(({ of }) => of.when === when);
    return some.length === 0 ? [] : problemOf(some, when, key, client.plan);
  });
  return joined([...checks, { problems }]);
}

/** So many runs show that the client waits, or does not; one with jitter may come too soon only sometimes. */
const minShown = 2;
const maxRuns = 5;

/** How long the client may wait then, in milliseconds: a minute, if it must wait for the next one. */
const waitAfter = ({ when, seconds }: ResendKind) =>
  when === "too_soon" && seconds === undefined ? 61_000 : longestWait;

const resendAs = ({ as, seconds, asDate }: ResendKind) => ({
  as,
  ...(seconds !== undefined && { seconds }),
  ...(asDate && { asDate }),
});

async function judgeKind(
  client: Client,
  key: ResentKey,
  kind: ResendKind,
): Promise<Held | NotJudged | Proven> {
  const again: KeyRequest[] = [];
  let waits = 0;
  for (let time = 1; time <= maxRuns; time++) {
    const followed = await rejectLast(client, key, kind, time);
    if (followed === "nothing") return heldUnlessContradicted(client, key, kind);
    if (followed === "later") waits += 1;
    else if ("why" in followed) return notJudged(followed);
    else again.push(followed);
    if (again.length === minShown) return prove(client, key, kind, again);
    if (waits === minShown && again.length === 0) return heldUnlessContradicted(client, key, kind);
  }
  return notJudged(whyOpen(key, kind, again, "but only in some runs: your client waits sometimes"));
}

/** What followed a rejection: a request, before its time if it has one; `later` if it came in time, `nothing` if the command failed. */
type Followed = KeyRequest | "nothing" | "later";

/** Rejects the last request. */
async function rejectLast(
  client: Client,
  key: ResentKey,
  kind: ResendKind,
  time: number,
): Promise<Followed | Reason> {
  const run = await replace(client, key, kind.name, resendAs(kind), { time, wait: waitAfter(kind) });
  if (run === undefined || run.result === "timed_out") return run ? tooLate : notMade;
  const more = moreIn(run, key);
  const [next] = more;
  const hasFailed = run.result === "failed" && run.hits > 0;
  if (next === undefined) {
    if (!hasFailed) return whyNotJudged(client.plain, run, "hit") ?? whySurvived(key, kind);
    return (await client.whyUnsure(run)) ?? "nothing";
  }
  // A test that failed may send it again, to find out why.
  if (hasFailed) return whyOpen(key, kind, [next], "and the command then failed");
  if (kind.when === "always") return next;
  return next.isElsewhere ? elsewhere : (more.find(({ earlyMs }) => earlyMs !== undefined) ?? "later");
}

/** A kind holds only if no varied run contradicts it. */
async function heldUnlessContradicted(
  client: Client,
  { ref }: ResentKey,
  kind: ResendKind,
): Promise<Held | NotJudged> {
  const reason = kind.when === "always" ? await whyContradicted(client, kind) : undefined;
  return reason === undefined ? { kind: "held", key: ref } : notJudged(reason);
}

/** A varied run that passed, in which more requests got this rejection than in the plain run. */
async function whyContradicted(
  client: Client,
  { as, after, whatToDo }: ResendKind,
): Promise<Reason | undefined> {
  const { status, code } = outcomeOf(as as OutcomeId);
  const isRejected = ({ outcome }: KeyRequest) =>
    outcomeOf(outcome).status === status && outcomeOf(outcome).code === code;
  const countIn = ({ sent }: ClientRun) => sent.flatMap(({ requests }) => requests).filter(isRejected).length;
  const { passed } = await runVaried(client);
  const run = passed.find((one) => countIn(one) > countIn(client.plain));
  return run && { why: `more requests got ${after} in ${run.name} than in the plain run`, whatToDo };
}

/** It does not come by itself: not more often in other runs, after the first request as well, and not while the response is only late. */
async function prove(
  client: Client,
  key: ResentKey,
  kind: ResendKind,
  again: readonly KeyRequest[],
): Promise<NotJudged | Proven> {
  const uncertain = await whyUnequal(client, key);
  if (uncertain !== undefined) return notJudged(uncertain);
  const first = await replace(client, key, kind.name, resendAs(kind), { nth: 1, wait: waitAfter(kind) });
  if (first === undefined || first.result === "timed_out") return notJudged(first ? tooLate : notMade);
  const isTimed = kind.when === "too_soon";
  const isSent = first.result === "passed" && moreIn(first, key).length > 0;
  const isEarly = first.sent.some(({ requests }) => requests.some(({ earlyMs }) => earlyMs !== undefined));
  // The last response may be one that nobody reads, or that a test asks for until it is there.
  if (!isSent || (isTimed && !isEarly))
    return notJudged(whyOpen(key, kind, again, "but not after its first request"));
  const reason = isTimed ? await whyLate(client, key, kind, again) : undefined;
  return reason === undefined
    ? { kind: "proven", of: kind, request: again[0] as KeyRequest }
    : notJudged(reason);
}

/** How much later than an early request a response comes that is only late. */
const marginMs = 500;

/** Why early requests may come without a rejection. */
async function whyLate(
  client: Client,
  key: ResentKey,
  kind: ResendKind,
  again: readonly KeyRequest[],
): Promise<Reason | undefined> {
  const latest = Math.max(...again.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const seconds = Math.ceil((latest + marginMs) / 1000);
  const run = await replace(client, key, "resend", { as: "late", seconds });
  if (run === undefined || run.result === "timed_out") return run ? tooLate : notMade;
  if (moreIn(run, key).length > 0) return whyOpen(key, kind, again, "and also while a response is only late");
  if (run.result === "passed") return undefined;
  return whyOpen(key, kind, again, "and the command fails while a response is only late");
}

function whyOpen(
  { ref }: ResentKey,
  { when, after, whatToDo }: ResendKind,
  again: readonly KeyRequest[],
  what: string,
): Reason {
  const ids = again.map(({ id, earlyMs }) =>
    when === "always" || earlyMs === undefined ? id : `${id}, ${earlyMs} ms later`,
  );
  return {
    why: `after ${after}, ${variableOf(ref)} was sent again (${listed(ids, "and")}), ${what}`,
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
  proven: readonly Proven[],
  when: ResendKind["when"],
  { ref }: ResentKey,
  plan: CertifyPlan,
): Finding {
  const names = proven.map(({ of }) => of.name);
  const isTimed = when === "too_soon";
  const after = proven.map(({ of, request: { id, earlyMs } }) =>
    isTimed ? `${earlyMs} ms after ${of.after} (${id})` : `after ${of.after} (${id})`,
  );
  const fixes = [...new Set(proven.map(({ of }) => of.whatToDo)), ...(isTimed ? [testClock] : [])];
  return {
    name: names[0] as string,
    sentence: `Sends ${nameOfKey(ref)} again ${listed(after, "and")}${isTimed ? "" : ", and not after a 404"}`,
    whatToDo: fixes.join(" "),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    runs: names,
  };
}

const testClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
