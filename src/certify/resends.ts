import { listed } from "../rules/schema/words.js";
import type { Client } from "./client.js";
import { type Finding, failed, type Judgment, joined, judged, notJudged, type Reason } from "./judgment.js";
import { againWith, type CertifyPlan, isWanted, resendKeyOf } from "./plan.js";
import { nameOfKey, type ResendKind, resendKinds } from "./resend-kinds.js";
import { type Proven, Trials } from "./resend-trials.js";
import { acceptedOf, ResentKey } from "./resent-key.js";
import { runVaried } from "./varied.js";

/** Finds out of each kind of rejection whether the client sends the key again: in runs that reject one request. */
export async function judgeAllResends(client: Client): Promise<Judgment> {
  const { plan, plain } = client;
  const kinds = kindsAsked(client);
  if (kinds.length === 0) return joined([]);
  const subject = resendKeyOf(plain.sent, plan);
  const without = (reason: Reason) => joined(kinds.map(({ name }) => judged(name, notJudged(reason))));
  if (subject === undefined) return without(noKey);
  const key = new ResentKey(subject, client);
  const reason = key.whyUnequal((await runVaried(client)).passed);
  if (reason !== undefined) return without(reason);
  const trials = kinds.map((kind) => new Trials(kind, key));
  await Promise.all(trials.map((one) => one.start()));
  await repeatWaits(trials);
  const seen = await Promise.all(trials.map((one) => one.judge()));
  const checks = seen.map((one, at) =>
    judged(kinds[at]?.name as string, one.kind === "proven" ? failed : one),
  );
  const proven = seen.flatMap((one) => (one.kind === "proven" ? one : []));
  const problems = (["too_soon", "always"] as const).flatMap((when) => {
    const some = proven.filter(({ of }) => of.when === when);
    return some.length === 0 ? [] : problemOf(some, when, key.ref, plan);
  });
  const isOnce = key.count === 1 && kinds.some(({ when }) => when === "always");
  const notes = isOnce ? [{ what: "resends of a key that has worked", ...key.sentOnce }] : [];
  return joined([...checks, { problems, notes }]);
}

/** A client with jitter may come too soon only sometimes: it must have waited so often, in all kinds together in which it always does. */
const minWaits = 3;

async function repeatWaits(trials: readonly Trials[]): Promise<void> {
  for (;;) {
    const waiting = trials
      .filter(({ isWaiting }) => isWaiting)
      .toSorted((one, other) => one.waits - other.waits);
    const [fewest] = waiting;
    if (fewest === undefined || waiting.reduce((sum, { waits }) => sum + waits, 0) >= minWaits) return;
    await fewest.waitAgain();
  }
}

const kindsAsked = ({ plan, covered }: Client) =>
  resendKinds(covered).filter(({ name }) => isWanted(plan, name));

/** How many runs a client without a problem takes. */
export function runsOfResends(client: Client): number {
  const subject = resendKeyOf(client.plain.sent, client.plan);
  const count = subject === undefined ? 0 : acceptedOf(subject).length;
  return kindsAsked(client).reduce((sum, kind) => {
    return sum + Math.min(kind.least, count) + (kind.when === "always" ? 1 : 0);
  }, 0);
}

const noKey: Reason = {
  why: "the plain run sent no key that works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

/** Kinds after which the same must not follow are one problem. */
function problemOf(
  proven: readonly Proven[],
  when: ResendKind["when"],
  ref: string,
  plan: CertifyPlan,
): Finding {
  const names = proven.map(({ of }) => of.name);
  const [{ of: first }] = proven as [Proven, ...Proven[]];
  const isOfAny = proven.every((one) => one.isOfAny);
  const after = proven.map(({ of, request: { id, earlyMs } }) =>
    earlyMs === undefined ? `${of.after} (${id})` : `${earlyMs} ms after ${of.after} (${id})`,
  );
  const control = isOfAny ? "it also sends a 404 again" : "with a 404 in its place, it did not";
  const key = nameOfKey(ref);
  const sentences = {
    always: `Sends ${key} again after ${listed(after, "and")}: one request was rejected, another one came, and the command passed; ${control}`,
    too_soon: `Sends ${key} again ${listed(after, "and")}`,
  };
  return {
    name: first.name,
    sentence: sentences[when],
    whatToDo: when === "too_soon" ? `${first.whatToDo} ${testClock}` : wholeAdvice(proven),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    runs: names,
  };
}

const testClock = "(If your tests replace the pause, move the sandbox's clock by it.)";

const wholeAdvice = (proven: readonly Proven[]) =>
  [...new Set(proven.map(({ of }) => of.whatToDo))].join(" ");
