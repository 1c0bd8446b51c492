import { pluralize } from "../report/plain-text.js";
import { variableOf } from "../rules/api-key.js";
import { isFault, isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Resend, RunConditions } from "../runs/conditions.js";
import { outageDelayMs } from "../runs/rejections.js";
import { survives404, whyHidden } from "./answers.js";
import type { Client } from "./client.js";
import {
  checkOf,
  type Finding,
  failedCheck,
  type Held,
  type Judgment,
  judgment,
  type NotJudged,
  noteJudgment,
  notJudged,
  notJudgedCheck,
  notMade,
  type Reason,
  tooLate,
} from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, type CertifyPlan, isWanted, longestWait, minPasses, resendKeyOf } from "./plan.js";
import { nameOfKey, positionsIn, type ResendKind, resendKinds } from "./resend-kinds.js";
import type { ClientRun, KeyRequest, SentKey } from "./run.js";
import { runVaried } from "./varied.js";

/** What was seen of a kind whose problem is proven. */
interface Proven {
  readonly kind: "proven";
  readonly of: ResendKind;
  /** Whether the client sends a key again after any status but 200. */
  readonly isOfAny?: boolean;
  readonly outage?: string;
}

type Seen = Held | NotJudged | Proven;

const isEnded = (run: ClientRun | undefined): run is ClientRun =>
  run !== undefined && run.result !== "timed_out";
const unended = (run: ClientRun | undefined) => notJudged(run === undefined ? notMade : tooLate);

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
  const judged = await Promise.all(
    kinds.map(async (kind) => {
      const seen = await (kind.when === "hasty" ? judgeOutage(kind, key) : new Trials(kind, key).judge());
      return { kind, seen };
    }),
  );
  const checks = judged.map(({ kind: { name }, seen }) =>
    seen.kind === "proven" ? failedCheck(name) : judgment([checkOf(name, seen)]),
  );
  const proven = judged.flatMap(({ seen }) => (seen.kind === "proven" ? seen : []));
  const problems = (["too_soon", "hasty", "always"] as const).flatMap((when) => {
    const some = proven.filter(({ of }) => of.when === when);
    return some.length === 0 ? [] : problemOf(some, when, key.ref, plan);
  });
  const isOnce = key.accepted === 1 && kinds.some(({ when }) => when === "always");
  const once = isOnce ? [noteJudgment("resends of a key that has worked", key.sentOnce)] : [];
  return [...checks, judgment([], problems), ...once];
}

const kindsAsked = ({ plan, covered }: Client) =>
  resendKinds(covered).filter(({ name }) => isWanted(plan, name));

/** How many runs a client without a problem takes. */
export function runsOfResends(client: Client): number {
  const { requests = [] } = resendKeyOf(client.plain.sent, client.plan) ?? {};
  return kindsAsked(client).reduce((sum, kind) => {
    const [each] = positionsIn(kind, acceptedOf(requests));
    return sum + each.length + (kind.when === "too_soon" ? 0 : 1);
  }, 0);
}

const acceptedOf = (requests: readonly KeyRequest[]) =>
  requests.filter(({ outcome }) => isSuccess(outcome)).length;

const noKey: Reason = {
  why: "the plain run sent no key that works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

const controlled = { as: "404.unknown_path" } as const;

/** More outages in a row would take minutes. */
const maxWaits = 6;

/** The key whose requests are rejected. */
class ResentKey {
  readonly client: Client;
  readonly ref: string;
  /** How often the plain run sent it. */
  readonly count: number;
  readonly accepted: number;
  /** Whether the client's own tests give it faults. */
  readonly hasFaults: boolean;
  readonly sentOnce: Reason;

  constructor({ key, requests }: SentKey, client: Client) {
    this.client = client;
    this.ref = key;
    this.count = requests.length;
    this.accepted = acceptedOf(requests);
    this.hasFaults = requests.some(({ outcome }) => isFault(outcome));
    this.sentOnce = {
      why: `the plain run sent ${variableOf(key)} once`,
      whatToDo: "Send it twice, in two tests.",
    };
  }

  requestsIn({ sent }: ClientRun): readonly KeyRequest[] {
    return sent.find(({ key }) => key === this.ref)?.requests ?? [];
  }

  /** How often more than in the plain run it was sent. */
  more(run: ClientRun): number {
    return this.requestsIn(run).length - this.count;
  }

  whyNotJudged(run: ClientRun): Reason | undefined {
    return whyNotJudged(this.client.plain, run, "hit");
  }

  reject(
    { name, when, ...kind }: ResendKind,
    { as = kind.as, ...change }: Partial<Resend> = {},
    time = 1,
  ): Promise<ClientRun | undefined> {
    const { seconds, asDate } = kind;
    const timed = as === kind.as && { ...(seconds !== undefined && { seconds }), ...(asDate && { asDate }) };
    const waits = when === "hasty" || change.rejectsInTime ? Math.min(this.count, maxWaits) : 1;
    const wait = (when === "too_soon" && seconds === undefined ? 61_000 : longestWait) * waits;
    const resend = { key: this.ref, as, ...timed, ...change };
    return this.client.run(name, { resend }, { wait, time });
  }

  whyUnequal(runs: readonly ClientRun[]): Reason | undefined {
    const counts = [0, ...runs.map((run) => this.more(run))];
    const [least, most] = [this.count + Math.min(...counts), this.count + Math.max(...counts)];
    if (least === most) return undefined;
    return {
      why: `the runs sent ${variableOf(this.ref)} ${least} to ${most} times, although nothing was rejected`,
      whatToDo: "Send it equally often in each run, without what sends it in the background.",
    };
  }

  /** Why the key may come more often by itself, or because a runner repeats failing tests. A proof starts, which takes more runs. */
  async whyUncertain(): Promise<Reason | undefined> {
    const { client } = this;
    client.expectMore(2 * minPasses);
    const { checks } = await runVaried(client);
    const usual = checks.length > 1 ? [] : Array.from({ length: minPasses }, (_, at) => 2 + at);
    const ofKey = this.requestsIn(client.plain).map(({ outcome }) => outcome);
    const outcomes = client.plain.sent.flatMap(({ requests }) => requests.map(({ outcome }) => outcome));
    const outcome = outcomes.find((one) => !isFault(one) && !ofKey.includes(one));
    // What comes while a response to another key is late comes by itself.
    const then = { latency: "2s" } as const;
    const late: RunConditions | undefined = outcome && { faults: [{ then }], once: { outcome } };
    const made = await Promise.all([
      ...usual.map((time) => client.run("plain", {}, { time })),
      ...(late === undefined ? [] : [client.run("resend", late, { wait: longestWait })]),
    ]);
    const all = made.flatMap((run) => run ?? []);
    return (all.length < made.length ? notMade : this.whyUnequal(all)) ?? whyHidden(client);
  }
}

/** What a run shows in which one request was rejected: whether the command failed, used no such response, or the key came again. */
type Trial =
  | { readonly kind: "failed" | "unused" }
  | { readonly kind: "again"; readonly run: ClientRun }
  | NotJudged;

/** After a lasting rejection with more requests, each of the first ones is tried. */
const [maxPositions, maxRecovered] = [8, 4];

/** The runs of one kind, each with one request that is rejected. */
class Trials {
  readonly #kind: ResendKind;
  readonly #key: ResentKey;
  /** By the number of the request. */
  readonly #trials = new Map<number, Trial>();

  constructor(kind: ResendKind, key: ResentKey) {
    this.#kind = kind;
    this.#key = key;
  }

  async judge(): Promise<Seen> {
    const [each, others] = positionsIn(this.#kind, this.#key.accepted);
    const lasting = this.#kind.when === "always" && this.#key.reject(this.#kind);
    await this.#tryEach(each);
    for (const at of others) {
      if (this.#held() !== undefined || this.#requests("again").length > 0) break;
      await this.#tryEach([at]);
    }
    const seen = (await this.#prove()) ?? (lasting && (await this.#whyLasting(await lasting)));
    if (seen) return seen;
    const [reason] = [...this.#trials.values()].filter((trial) => trial.kind === "not_judged");
    return reason ?? this.#held() ?? notJudged(unused);
  }

  /** The requests whose rejection made the command fail: for a key that was sent twice, not the first one alone. */
  #held(): Held | undefined {
    const { accepted, ref } = this.#key;
    const requests = this.#requests("failed");
    const isEnough = this.#kind.when === "too_soon" || accepted === 1 || requests.some((at) => at > 1);
    if (requests.length === 0 || !isEnough) return undefined;
    return { kind: "held", key: ref, requests, of: accepted };
  }

  #requests(kind: Trial["kind"]): number[] {
    const numbers = [...this.#trials].flatMap(([at, trial]) => (trial.kind === kind ? at : []));
    return numbers.sort((one, other) => one - other);
  }

  #firstOf(most: number): number[] {
    return Array.from({ length: Math.min(this.#key.accepted, most) }, (_, index) => index + 1);
  }

  async #tryEach(positions: readonly number[]): Promise<void> {
    const tried = async (at: number) => this.#trials.get(at) ?? (await this.#try(at));
    const trials = await Promise.all(positions.map(tried));
    for (const [index, at] of positions.entries()) this.#trials.set(at, trials[index] as Trial);
  }

  async #try(at: number): Promise<Trial> {
    const run = await this.#reject(at);
    if (!isEnded(run)) return unended(run);
    if (run.result === "failed") return { kind: run.hits > 0 ? "failed" : "unused" };
    const reason = this.#key.whyNotJudged(run);
    if (reason !== undefined) return notJudged(reason);
    if (this.#key.more(run) <= 0) return { kind: "unused" };
    if (this.#kind.when === "always") return { kind: "again", run };
    if (this.#arrivals(run, "early").length === 0) return { kind: "failed" };
    // Who waits is rejected again each time, and gives up, or sends more only in time.
    const again = await this.#rejectAgain(at);
    if (!isEnded(again)) return unended(again);
    const waits =
      again.result === "failed" || this.#key.more(again) <= this.#arrivals(again, "in time").length;
    return waits ? { kind: "failed" } : { kind: "again", run };
  }

  #reject(at: number, change: Partial<Resend> = {}, time = 1): Promise<ClientRun | undefined> {
    return this.#key.reject(this.#kind, { only: [at, at], ...change }, time);
  }

  #arrivals(run: ClientRun, when: "early" | "in time"): readonly KeyRequest[] {
    return this.#key.requestsIn(run).filter(({ arrival }) => arrival?.when === when);
  }

  /** The same request rejected, and with a time each later one that comes in time. */
  #rejectAgain(at: number, time = 1): Promise<ClientRun | undefined> {
    return this.#reject(at, this.#kind.when === "too_soon" ? { rejectsInTime: true } : {}, time);
  }

  /** Whether a command passes with more requests than these rejections and their times explain. */
  #isRecovered(run: ClientRun | undefined): run is ClientRun {
    if (run?.result !== "passed" || this.#key.whyNotJudged(run) !== undefined) return false;
    const inTime = this.#kind.when === "too_soon" ? this.#arrivals(run, "in time").length : 0;
    return this.#key.more(run) > inTime;
  }

  /** Proves a request that was sent again; others are left as what their runs show. */
  async #prove(): Promise<Proven | undefined> {
    for (const [at, trial] of this.#trials) {
      if (trial.kind !== "again") continue;
      const seen = await this.#proveAt(at, trial.run);
      if (seen.kind === "proven") return seen;
      this.#trials.set(at, seen);
    }
    return undefined;
  }

  async #proveAt(at: number, first: ClientRun): Promise<NotJudged | Proven> {
    // A client that sends two requests at once may have read the other 503.
    if (this.#kind.as === "fault.status" && this.#key.hasFaults) return notJudged(ownFaults);
    const reason = await this.#key.whyUncertain();
    if (reason !== undefined) return notJudged(reason);
    let isOfAny = false;
    for (let time = 1; time <= minPasses && !isOfAny; time++) {
      const control = await this.#reject(at, controlled, time);
      if (!isEnded(control)) return unended(control);
      isOfAny = this.#isSentAgain(control);
    }
    const why = isOfAny ? await this.#whyNotOfAny(at, first) : undefined;
    if (why !== undefined) return notJudged(why);
    for (let time = 2; time <= minPasses; time++)
      if (!this.#isRecovered(await this.#rejectAgain(at, time))) return notJudged(this.#notProven(first));
    return { kind: "proven", of: this.#kind, isOfAny };
  }

  #isSentAgain = (run: ClientRun) => run.result === "passed" && this.#key.more(run) > 0;

  /** Why a client that sends a 404 again as well may not do so on its own; `undefined` if it sends each status but 200 again. */
  async #whyNotOfAny(at: number, run: ClientRun): Promise<Reason | undefined> {
    const { accepted, ref } = this.#key;
    const why = `after ${this.#kind.after} and a 404 alike, ${variableOf(ref)} was sent again (${idOfHit(run)})`;
    if (accepted === 1) return { ...this.#key.sentOnce, why };
    const { client } = this.#key;
    // A test that polls until a 200 does so for no key with another response.
    const rejected = rejectedIfRepeated(client.plain);
    if (rejected === undefined || !(await survives404(client, rejected))) return { why, whatToDo: noPolling };
    for (const position of this.#firstOf(maxRecovered).filter((one) => one !== at))
      if (!this.#isRecovered(await this.#rejectAgain(position))) return { why, whatToDo: noPolling };
    const empty = await this.#reject(at, { as: "empty" });
    if (isEnded(empty) && !this.#isSentAgain(empty)) return undefined;
    return { why: `${why}, and after a 200 without data`, whatToDo: noPolling };
  }

  /** A lasting rejection: more requests than in the plain run are some that were sent again, or what follows a failure. */
  async #whyLasting(run: ClientRun | undefined): Promise<Seen | undefined> {
    if (run === undefined) return notJudged(notMade);
    if (this.#key.more(run) <= 0) return undefined;
    await this.#tryEach(this.#firstOf(maxPositions));
    const proven = await this.#prove();
    if (proven !== undefined) return proven;
    const other = await this.#key.reject(this.#kind, controlled);
    if (other === undefined) return notJudged(notMade);
    const [lasting, usual] = [this.#key.requestsIn(run).length, this.#key.requestsIn(other).length];
    if (lasting <= usual) return undefined;
    return notJudged({
      why: `with ${this.#kind.after} each time, the command sent ${variableOf(this.#key.ref)} ${lasting} times, with a 404 ${usual} times, and in the plain run ${this.#key.count} times`,
      whatToDo: this.#kind.whatToDo,
    });
  }

  #notProven(run: ClientRun): Reason {
    const [early] = this.#arrivals(run, "early");
    const isTimed = this.#kind.when === "too_soon" && early !== undefined;
    const time = isTimed ? `${early.arrival?.afterMs} ms after` : "after";
    return {
      why: `${time} ${this.#kind.after}, ${variableOf(this.#key.ref)} was sent again (${isTimed ? early.id : idOfHit(run)}), and the runs do not show whether a test uses the response`,
      whatToDo: `${this.#kind.whatToDo} If it is another test's request, send the key in one test at a time, and make a test fail when it is rejected.`,
    };
  }
}

const unused: Reason = {
  why: "the command passed, and sent the key no more often than without a rejection",
  whatToDo: "Use each response of a key that works in a test.",
};

const ownFaults: Reason = {
  why: "your tests set a fault that hits requests with the same key",
  whatToDo: "Set it on another key, or leave it out.",
};

const noPolling = "Turn off what repeats requests in your tests, such as polling until a 200.";

/** The first outcome with 401 or 403, if each key with such an outcome comes more than once, as from a client that sends each status but 200 again. */
function rejectedIfRepeated({ sent }: ClientRun): OutcomeId | undefined {
  const isRejection = ({ outcome }: KeyRequest) => [401, 403].includes(outcomeOf(outcome).status);
  const rejected = sent.filter(({ requests }) => requests.some(isRejection));
  if (rejected.some(({ requests }) => requests.length < 2)) return undefined;
  return rejected.flatMap(({ requests }) => requests).find(isRejection)?.outcome;
}

const idOfHit = ({ sent }: ClientRun) =>
  sent.flatMap(({ requests }) => requests).find(({ isHit }) => isHit)?.id ?? "";

/** The most requests for each call in an outage: with short pauses, and with any. */
const [maxHasty, maxRequests, shortPauseMs, longestRow] = [6, 20, 1000, 6];
const outageRuns = 3;

/** Rejects the key always, and compares the requests with the calls of the client: what it sends when each gets a 404. */
async function judgeOutage(kind: ResendKind, key: ResentKey): Promise<Seen> {
  const first = await outage(kind, key, 1);
  if (first === undefined) return notJudged(notMade);
  const reason = first.hits === 0 ? key.whyNotJudged(first) : undefined;
  if (reason !== undefined) return notJudged(reason);
  if (excessOf(first, 1) <= 0) return heldOutage(first, key);
  const uncertain = await key.whyUncertain();
  return uncertain === undefined ? proveOutage(kind, key, first) : notJudged(uncertain);
}

const outage = (kind: ResendKind, key: ResentKey, calls: number, time = 1) =>
  key.reject(kind, { only: [1, maxRequests * calls + key.count] }, time);

const unlike: Reason = {
  why: "the command fails when each request gets a 503, and passes when each gets a 404",
  whatToDo: "Make a test fail when a key that works is rejected.",
};

/** An outage whose requests the calls explain. */
const heldOutage = (run: ClientRun, { ref }: ResentKey): Seen =>
  run.result === "timed_out" ? notJudged(tooLate) : { kind: "held", key: ref };

/** A run whose requests were accepted too soon for so many calls shows too few. */
const isLongEnough = ({ hits }: ClientRun, calls: number, { count }: ResentKey) =>
  calls === 1 || hits < maxRequests + count;

async function proveOutage(kind: ResendKind, key: ResentKey, first: ClientRun): Promise<Seen> {
  const runs: ClientRun[] = [];
  let calls = 1;
  for (let number = 1; number <= outageRuns; number++) {
    const other = await key.reject(kind, controlled, number);
    if (!isEnded(other)) return unended(other);
    calls = Math.max(calls, other.result === "passed" ? key.count : other.hits);
    const isWhole = number === 1 && isLongEnough(first, calls, key);
    const run = isWhole ? first : await outage(kind, key, calls, number);
    if (run === undefined) return notJudged(notMade);
    runs.push(run);
    const excess = Math.min(...runs.map((one) => excessOf(one, calls)));
    if (excess <= 0 && number === 1) return heldOutage(run, key);
    // What follows a test that failed is not what the calls explain.
    if (run.result === "failed" && other.result === "passed") return notJudged(unlike);
    // A command that survives may call as often as in the plain run.
    if (excess > Math.max(0, key.count - calls)) continue;
    return notJudged({
      why: `while each request got a 503, the command sent ${variableOf(key.ref)} ${run.hits} times, and ${calls} times while each got a 404`,
      whatToDo: kind.whatToDo,
    });
  }
  return { kind: "proven", of: kind, outage: `${runs[0]?.hits} requests for ${pluralize(calls, "call")}` };
}

/** How many more requests were rejected than so many calls explain; none if it is not positive. */
function excessOf({ hits, sent }: ClientRun, calls: number): number {
  let [row, longest] = [0, 0];
  for (const { arrival } of sent.flatMap(({ requests }) => requests.filter(({ isHit }) => isHit))) {
    if (arrival === undefined || arrival.afterMs >= shortPauseMs) row = 0;
    // One that came before the last response has no pause of its own.
    else if (arrival.afterMs >= outageDelayMs) row += 1;
    longest = Math.max(longest, row);
  }
  return Math.max(hits - maxRequests * calls, longest >= longestRow ? hits - maxHasty * calls : 0);
}

/** Kinds after which the same must not follow are one problem. */
function problemOf(
  proven: readonly Proven[],
  when: ResendKind["when"],
  ref: string,
  plan: CertifyPlan,
): Finding {
  const kinds = proven.map(({ of }) => of);
  const names = kinds.map(({ name }) => name);
  const after = listed(
    kinds.map((kind) => kind.after),
    "and",
  );
  const [seconds, ...others] = new Set(kinds.map((kind) => kind.seconds));
  const wait = seconds === undefined ? "The minute did not end" : `${seconds} s did not pass`;
  const time = others.length === 0 ? wait : "The time to wait did not pass";
  const isOfAny = proven.every((one) => one.isOfAny);
  const control = isOfAny ? "it also sends a 404 again" : "with a 404 in its place, it did not";
  const sentences = {
    always: `Sends ${nameOfKey(ref)} again after ${after}: one request was rejected, another one came, and the command passed; ${control}`,
    too_soon: `${time} on any clock that the sandbox sees: if your tests replace the pause, move the sandbox's clock by it. Otherwise your client sends again too soon after ${after}: the command passed with a request with ${nameOfKey(ref)} before its time`,
    hasty: `Does not pause or give up after ${after}: ${proven[0]?.outage} with ${nameOfKey(ref)}`,
  };
  return {
    name: names[0] as string,
    sentence: sentences[when],
    whatToDo: [...new Set(kinds.map(({ whatToDo }) => whatToDo))].join(" "),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    runs: names,
  };
}
