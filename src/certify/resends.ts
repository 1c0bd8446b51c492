import { type AdviceId, adviceTable } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { type ApiOutcomeId, isFault, isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Resend } from "../runs/conditions.js";
import type { Finding } from "./certificate.js";
import { type Context, failed, held, type Judged, noted, open, shown } from "./context.js";
import {
  againWith,
  type CertifyPlan,
  isWanted,
  longestWait,
  maxPasses,
  minPasses,
  resendKeyOf,
} from "./plan.js";
import {
  type ClientRun,
  type KeyRequest,
  notMade,
  type Reason,
  requestsIn,
  type SentKey,
  tooLate,
  whyNotJudged,
} from "./run.js";

/** One kind of rejection, after which a client must not send the key again, or not at once. */
export interface ResendKind extends Pick<Resend, "outcome" | "when" | "seconds" | "asDate"> {
  /** Its name in `--only`. */
  readonly name: string;
  readonly after: string;
  readonly advice: AdviceId;
}

const [seconds, lastingSeconds] = [4, 10];

/** The kinds of rejections for a client that covers these outcomes. */
export function resendKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const pathOf = (status: number, usual: ApiOutcomeId) =>
    (covered.find((outcome) => outcomeOf(outcome).status === status) ?? usual) as ApiOutcomeId;
  const codes = new Map<string, ApiOutcomeId>();
  for (const outcome of covered.filter((one) => outcomeOf(one).status === 403)) {
    const code = String(outcomeOf(outcome).code);
    if (!codes.has(code)) codes.set(code, outcome as ApiOutcomeId);
  }
  const soon = {
    outcome: pathOf(429, "429.per_minute"),
    when: "too soon",
    advice: "too-soon-after-429",
  } as const;
  const failing = { outcome: "fault.status", when: "too soon", advice: "too-soon-after-503" } as const;
  return [
    { name: "resend.429.without", ...soon, after: "a 429 without `Retry-After`" },
    { name: "resend.429.seconds", ...soon, after: `a 429 with \`Retry-After: ${seconds}\``, seconds },
    { name: "resend.429.date", ...soon, after: "a 429 with a date in `Retry-After`", seconds, asDate: true },
    {
      name: "resend.503.date",
      ...failing,
      after: "a 503 with a date in `Retry-After`",
      seconds,
      asDate: true,
    },
    {
      name: "resend.outage",
      outcome: "fault.status",
      when: "hasty",
      after: "a 503",
      advice: "no-pause-after-failure",
    },
    {
      ...{ name: "resend.401", outcome: pathOf(401, "401.revoked"), when: "always" },
      ...{ after: "a 401", advice: "same-key-after-401" },
    },
    ...[...codes].map(([code, outcome]): ResendKind => {
      const after = `a 403 with \`${code}\``;
      return { name: `resend.403.${code}`, outcome, when: "always", after, advice: "same-key-after-403" };
    }),
  ];
}

/** What the kinds of one key share. */
interface KeyRuns {
  readonly plain: ClientRun;
  readonly key: string;
  readonly passes: number;
  readonly run: (kind: ResendKind, resend: Resend) => Promise<ClientRun | undefined>;
  readonly whyHidden: Context["whyHidden"];
  readonly expectMore: (count: number) => void;
}

export async function judgeAllResends(context: Context): Promise<Judged[]> {
  const { plan, runs, plain, covered, varied, whyHidden } = context;
  const kinds = resendKinds(covered).filter(({ name }) => isWanted(plan, name));
  if (kinds.length === 0) return [];
  const subject = resendKeyOf(plain.sent, plan);
  if (subject === undefined) return kinds.map(({ name }) => open(name, noKey));
  const { key, requests } = subject;
  const accepted = requests.filter(({ outcome }) => isSuccess(outcome));
  const { outcome } = accepted[0] as KeyRequest;
  const { passed, checks } = await varied;
  const counts = [plain, ...passed].map((run) => sendsOf(run, key));
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least < most) return kinds.map(({ name }) => open(name, unsteady(key, least, most)));
  let background: Promise<Reason | undefined> | undefined;
  const whyBackground = () => (background ??= whyInBackground(subject, context));
  const tools: KeyRuns = {
    plain,
    key,
    expectMore: (count) => runs.expectMore(count),
    // Of a key that is accepted once, the client may keep the response.
    whyHidden: async () =>
      (await whyHidden()) ??
      (await whyBackground()) ??
      (accepted.length === 1 ? context.whyRepeated(outcome) : undefined),
    passes: checks.length > 1 ? minPasses : maxPasses,
    run: (kind, resend) => runs.make(kind.name, { resend }, { wait: waitFor(kind, requests.length) }),
  };
  const judged = await Promise.all(
    kinds.map(async (kind) => ({ kind, seen: await judgeKind(kind, tools, context) })),
  );
  const found = judged.flatMap(({ kind, seen }) => (seen.kind === "problem" ? kind : []));
  const problems = [found.filter(isTimed), found.filter((kind) => !isTimed(kind))].flatMap((group) =>
    group.length === 0 ? [] : problemOf(group, key, plan),
  );
  const ofKinds = judged.map(({ kind: { name }, seen }): Judged => {
    if (seen.kind === "held") return held(name);
    if (seen.kind === "not judged") return open(name, seen.reason);
    return failed(name);
  });
  const isOnce = requests.length === 1 && kinds.some((kind) => !isTimed(kind));
  const once = isOnce ? [noted("resends of a key that has worked", sentOnce(key))] : [];
  return [...ofKinds, shown([], problems), ...once];
}

/** How often a run has sent a key. */
const sendsOf = ({ sent }: ClientRun, key: string) =>
  sent.find((one) => one.key === key)?.requests.length ?? 0;

const isTimed = ({ when }: ResendKind) => when !== "always";

const noKey: Reason = {
  why: "the plain run sent no key that works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

const sentOnce = (key: string): Reason => ({
  why: `the plain run sent ${variableOf(key)} once`,
  whatToDo: "Send it twice, in two tests.",
});

/** Something sends a key on its own if a late response to another key lets it come more often. */
async function whyInBackground(subject: SentKey, { runs, plain }: Context): Promise<Reason | undefined> {
  const ofKey = subject.requests.map(({ outcome }) => outcome);
  const outcomes = plain.sent.flatMap(({ requests }) => requests.map(({ outcome }) => outcome));
  const outcome = outcomes.find((one) => !isFault(one) && !ofKey.includes(one));
  if (outcome === undefined) return undefined;
  const then = { latency: "2s" } as const;
  const run = await runs.make("resend", { faults: [{ then }], once: { outcome } }, { wait: longestWait });
  if (run === undefined) return notMade;
  const [usual, more] = [sendsOf(plain, subject.key), sendsOf(run, subject.key)];
  return more > usual ? unsteady(subject.key, usual, more) : undefined;
}

const unsteady = (key: string, least: number, most: number): Reason => ({
  why: `the runs sent ${variableOf(key)} ${least} to ${most} times, although nothing was rejected`,
  whatToDo: "Send it equally often in each run, without what sends it in the background.",
});

/** How long a client may wait: until the minute ends, or in each of its outages. */
function waitFor({ when, seconds }: ResendKind, requests: number): number {
  if (when === "hasty") return longestWait * Math.min(requests, maxOutages);
  return when === "too soon" && seconds === undefined ? 61_000 : longestWait;
}

/** More of them would take minutes. */
const maxOutages = 6;

type Seen =
  | { readonly kind: "problem" }
  | { readonly kind: "held" }
  | { readonly kind: "not judged"; readonly reason: Reason };

const hold: Seen = { kind: "held" };
const leave = (reason: Reason): Seen => ({ kind: "not judged", reason });

/** Finds out by reward whether a client sends a key again; a kind holds only if no run contradicts it. */
async function judgeKind(kind: ResendKind, tools: KeyRuns, context: Context): Promise<Seen> {
  const isTwice = kind.when === "always" && sendsOf(tools.plain, tools.key) > 1;
  // A client that resends only a key that has worked passes only the second form, which finds any other as well.
  const forms = isTwice && kind.name !== "resend.401" ? [1, 0] : isTwice ? [0, 1] : [0];
  let [isHeld, reason] = [false, undefined as Reason | undefined];
  for (const after of forms) {
    const seen = await new Form(kind, after, tools).judge();
    if (seen?.kind === "problem") return seen;
    if (seen?.kind === "not judged") reason ??= seen.reason;
    isHeld ||= seen?.kind === "held";
    if (isHeld && kind.name !== "resend.401") break;
  }
  reason ??= isHeld ? await whyContradicted(kind, context) : nothingRejected;
  return reason === undefined ? hold : leave(reason);
}

const nothingRejected: Reason = {
  why: "no request was rejected that another one followed",
  whatToDo: "Send the key in each run, and check the response.",
};

/** A client that sends more after a rejection than after a response that accepts it may have sent the key again. */
async function whyContradicted(
  { when, outcome, name }: ResendKind,
  { covered, wrongOnce, plain }: Context,
): Promise<Reason | undefined> {
  if (when !== "always") return undefined;
  const { status, code } = outcomeOf(outcome);
  const isOfKind = (one: OutcomeId) =>
    outcomeOf(one).status === status && (name === "resend.401" || outcomeOf(one).code === code);
  for (const one of covered.filter(isOfKind)) {
    const accepted = await wrongOnce(one);
    const fewer = accepted === undefined ? 0 : requestsIn(plain, one) - requestsIn(accepted, one);
    if (fewer <= 0) continue;
    const ids = plain.sent.flatMap(({ requests }) =>
      requests.flatMap(({ id, outcome }) => (outcome === one ? id : [])),
    );
    return {
      why: `with the first request on ${one} accepted, the command sent ${fewer === 1 ? "1 request" : `${fewer} requests`} fewer there than in the plain run (${ids.slice(0, 4).join(", ")})`,
      whatToDo: `Do not send a key again after a ${status}. If your tests send each of these, turn off what ends them at the first failure, such as \`-x\`, \`--bail\` or \`-failfast\`, and send one in each test.`,
    };
  }
  return undefined;
}

/** A form of a kind: rejects requests from the first one on, or from the second one. */
class Form {
  readonly #kind: ResendKind;
  readonly #after: number;
  readonly #tools: KeyRuns;

  constructor(kind: ResendKind, after: number, tools: KeyRuns) {
    this.#kind = kind;
    this.#after = after;
    this.#tools = tools;
  }

  /** `undefined` if nothing was rejected that another request followed. */
  async judge(): Promise<Seen | undefined> {
    const first = await this.#reject(this.#after);
    if (first?.result !== "passed") return this.#withoutPass(first);
    const whyNot = whyNotJudged(this.#tools.plain, first, "hit");
    if (whyNot !== undefined) return first.hits === 0 ? undefined : leave(whyNot);
    if (first.rewards.length === 0) return this.#kind.when === "too soon" ? hold : undefined;
    if (!this.#isResent(first)) return this.#kind.when === "too soon" ? hold : leave(this.#notMore());
    return (await this.#whyNotProven(first)) ?? { kind: "problem" };
  }

  /** Why a run that passed with a request that must not follow is no problem; `undefined` if it is one. */
  async #whyNotProven(first: ClientRun): Promise<Seen | undefined> {
    const always = await this.#rejectAlways();
    if (always === undefined) return leave(notMade);
    if (always.result === "passed") return leave(this.#early(first));
    this.#tools.expectMore(2 * this.#tools.passes);
    const hidden = await this.#tools.whyHidden();
    if (hidden !== undefined) return leave(hidden);
    return (await this.#repeat(first)) ?? (await this.#rejectOthers(first));
  }

  #rejectAlways(): Promise<ClientRun | undefined> {
    const longer = this.#kind.seconds !== undefined && { seconds: lastingSeconds };
    return this.#reject(this.#after, { lasts: true, ...longer });
  }

  /** Repeats the run until it has passed often enough. */
  async #repeat(first: ClientRun): Promise<Seen | undefined> {
    let count = 1;
    for (let left = 2 * this.#tools.passes; left > 0 && count < this.#tools.passes; left--) {
      const run = await this.#reject(this.#after);
      if (run?.result !== "passed") return this.#withoutPass(run, first);
      if (this.#isResent(run) && whyNotJudged(this.#tools.plain, run, "hit") === undefined) count += 1;
    }
    return count < this.#tools.passes ? leave(this.#early(first)) : undefined;
  }

  /** Rejects each other request as well: a response that nobody uses may be among one half of them, but not all are. */
  async #rejectOthers(first: ClientRun): Promise<Seen | undefined> {
    const { passes } = this.#tools;
    for (let left = passes; left > 0; left--) {
      const run = await this.#reject(this.#after + 1);
      if (run?.result !== "passed") return this.#withoutPass(run, first);
      // Deterministic tests send nothing there.
      if (run.hits === 0 && passes === minPasses) return undefined;
    }
    return undefined;
  }

  #reject(after: number, more: Pick<Resend, "lasts" | "seconds"> = {}): Promise<ClientRun | undefined> {
    const { outcome, when, seconds, asDate } = this.#kind;
    const timed = { ...(seconds !== undefined && { seconds }), ...(asDate && { asDate }) };
    return this.#tools.run(this.#kind, { key: this.#tools.key, outcome, when, ...timed, after, ...more });
  }

  /** A command that fails has sent nothing again, unless a request that must not follow was accepted. One that does not end may still do so. */
  #withoutPass(run: ClientRun | undefined, first?: ClientRun): Seen {
    if (run === undefined) return leave(notMade);
    if (run.result !== "failed") return leave(tooLate);
    const resent = [run, first].find((one) => one !== undefined && this.#isResent(one));
    return resent === undefined ? hold : leave(this.#early(resent));
  }

  /** Whether a request was accepted that must not follow, and the key was sent more often than without a rejection. */
  #isResent(run: ClientRun): boolean {
    const { key, plain } = this.#tools;
    return run.rewards.length > 0 && sendsOf(run, key) > sendsOf(plain, key);
  }

  #early({ rewards }: ClientRun): Reason {
    const [reward] = rewards;
    const { after, when } = this.#kind;
    const time = when === "always" ? "after" : `${reward?.afterMs} ms after`;
    return {
      why: `${time} ${after}, the key was sent again (${reward?.id}), and the runs do not show whether a test uses the response`,
      whatToDo: `${whatToDoOf(this.#kind)} If it is another test's request, send the key in one test at a time, and make a test fail when it is rejected.`,
    };
  }

  #notMore(): Reason {
    return {
      why: "the command passed, and sent the key no more often than without a rejection",
      whatToDo: "Use each response of a key that works in a test.",
    };
  }
}

const nameOf = (key: string) => variableOf(key).replace("SVC_KEY_", "");

const whatToDoOf = ({ advice }: ResendKind) =>
  (adviceTable.find(({ id }) => id === advice) as { readonly whatToDo: string }).whatToDo;

/** Kinds with the same form are one problem. */
function problemOf(
  kinds: readonly [ResendKind, ...ResendKind[]] | ResendKind[],
  key: string,
  plan: CertifyPlan,
): Finding {
  const names = kinds.map(({ name }) => name);
  const after = listed(
    kinds.map((kind) => kind.after),
    "and",
  );
  const hasTime = kinds.some(({ when }) => when === "too soon");
  const sentence = kinds.every((kind) => !isTimed(kind))
    ? `Sends again after ${after}: the command passed although each second request with ${nameOf(key)} was rejected`
    : hasTime
      ? `${seconds} s did not pass on any clock that the sandbox sees: if your tests replace the pause, move the sandbox's clock by it. Otherwise your client sends again too soon after ${after}: the command passed although only requests before their time were accepted`
      : `Does not pause or give up after ${after}: the command passed although ${nameOf(key)} got 503 until seven requests came with pauses below a second, or 21 in all`;
  return {
    name: names[0] as string,
    sentence,
    whatToDo: [...new Set(kinds.map(whatToDoOf))].join(" "),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    runs: names,
  };
}
