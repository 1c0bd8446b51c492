import { listed } from "../rules/schema/words.js";
import type { Client } from "./client.js";
import {
  checkOf,
  type Finding,
  failedCheck,
  type Judgment,
  judgment,
  noteJudgment,
  notJudgedCheck,
  type Reason,
} from "./judgment.js";
import { againWith, type CertifyPlan, isWanted, resendKeyOf } from "./plan.js";
import { nameOfKey, positionsIn, type ResendKind, resendKinds } from "./resend-kinds.js";
import { type Proven, Trials } from "./resend-trials.js";
import { acceptedOf, ResentKey } from "./resent-key.js";
import { runVaried } from "./varied.js";

/** Finds out of each kind of rejection whether the client sends the key again: in runs that reject one request. */
export async function judgeAllResends(client: Client): Promise<Judgment[]> {
  const { plan, plain } = client;
  const kinds = kindsAsked(client);
  if (kinds.length === 0) return [];
  const subject = resendKeyOf(plain.sent, plan);
  if (subject === undefined) return kinds.map(({ name }) => notJudgedCheck(name, noKey));
  const key = new ResentKey(subject, client);
  const reason = key.whyUnequal((await runVaried(client)).passed);
  if (reason !== undefined) return kinds.map(({ name }) => notJudgedCheck(name, reason));
  const trials = kinds.map((kind) => new Trials(kind, key));
  await Promise.all(trials.map((one) => one.start()));
  const hasWaits = await repeatWaits(trials.filter(({ waits }) => waits > 0));
  const judged = await Promise.all(
    trials.map(async (one) => ({ kind: one.kind, seen: await one.judge(hasWaits) })),
  );
  const checks = judged.map(({ kind: { name }, seen }) =>
    seen.kind === "proven" ? failedCheck(name) : judgment([checkOf(name, seen)]),
  );
  const proven = judged.flatMap(({ seen }) => (seen.kind === "proven" ? seen : []));
  const problems = (["too_soon", "always"] as const).flatMap((when) => {
    const some = proven.filter(({ of }) => of.when === when);
    return some.length === 0 ? [] : problemOf(some, when, key.ref, plan);
  });
  const isOnce = key.count === 1 && kinds.some(({ when }) => when === "always");
  const once = isOnce ? [noteJudgment("resends of a key that has worked", key.sentOnce)] : [];
  return [...checks, judgment([], problems), ...once];
}

/** A client with jitter may come too soon only sometimes: it must have waited so often, in all kinds together. */
const minWaits = 3;

async function repeatWaits(waiting: readonly Trials[]): Promise<boolean> {
  for (let nth = waiting.length; nth < minWaits; nth++) await waiting[nth % waiting.length]?.waitAgain();
  return waiting.reduce((sum, { waits }) => sum + waits, 0) >= minWaits;
}

const kindsAsked = ({ plan, covered }: Client) =>
  resendKinds(covered).filter(({ name }) => isWanted(plan, name));

/** How many runs a client without a problem takes. */
export function runsOfResends(client: Client): number {
  const subject = resendKeyOf(client.plain.sent, client.plan);
  const count = subject === undefined ? 0 : acceptedOf(subject).length;
  return kindsAsked(client).reduce((sum, kind) => {
    const [each] = positionsIn(kind, count);
    return sum + each.length + (kind.when === "always" ? 1 : 0);
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
