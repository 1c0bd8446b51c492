import { type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Refusal } from "../runs/conditions.js";
import { survives404 } from "./answers.js";
import { type Held, type NotJudged, notJudged, notMade, type Reason, tooLate } from "./judgment.js";
import { minPasses } from "./plan.js";
import { positionsOf, type ResendKind } from "./resend-kinds.js";
import { controlled, type ResentKey } from "./resent-key.js";
import { type ClientRun, type KeyRequest, requestsIn } from "./run.js";

/** What was seen of a kind whose problem is proven. */
export interface Proven {
  readonly kind: "proven";
  readonly of: ResendKind;
  /** The rejected request, or the one that came before its time. */
  readonly request: Pick<KeyRequest, "id" | "earlyMs">;
  /** Whether the client sends a key again after any status but 200. */
  readonly isOfAny: boolean;
}

export type Seen = Held | NotJudged | Proven;

/** What a run shows in which one request was rejected: the command failed, used no such response, waited, or sent the key again. Another request may show what an unclear one does not. */
type Trial =
  | { readonly kind: "failed" | "unused" | "waited" | "again"; readonly run: ClientRun }
  | { readonly kind: "unclear"; readonly reason: Reason }
  | NotJudged;

/**
 * What a run shows that passed, with `all` requests, of which `early` came after request `at` of `count` was rejected, and before
 * its time. After it, the client's own work sends no more than the others.
 */
export function timingOf(count: number, at: number, early: number, all: number) {
  if (early > count - at) return "again";
  if (all <= count) return "unused";
  return early === 0 ? "waited" : "unclear";
}

const isEnded = (run: ClientRun | undefined): run is ClientRun =>
  run !== undefined && run.result !== "timed_out";
const unended = (run: ClientRun | undefined) => notJudged(run === undefined ? notMade : tooLate);

/** How many of how many runs show that the key comes again: a client with jitter may come too soon only sometimes. */
const lastingRuns = { most: minPasses, least: minPasses };
const timedRuns = { most: 5, least: 3 };

/** How often a run is made whose command fails although the key came again: such a command may fail at random. */
const maxFailures = 3;

/** How much later than an early request a response comes that is only late. */
const marginMs = 500;

/** After a lasting rejection with more requests, so many of the first ones are tried. */
const maxPositions = 8;

/** The requests that are rejected to see whether a client sends any status but 200 again. */
const maxOfAny = 4;

/** The runs of one kind, each with one request that is rejected. */
export class Trials {
  readonly kind: ResendKind;
  readonly #key: ResentKey;
  /** By the number of the request. */
  readonly #trials = new Map<number, Trial>();
  /** How often a run showed that the client waits. */
  waits = 0;

  constructor(kind: ResendKind, key: ResentKey) {
    this.kind = kind;
    this.#key = key;
  }

  /** Rejects requests until a test uses a response. */
  async start(): Promise<void> {
    const positions = positionsOf(this.#key.count);
    await this.#tryEach(positions.slice(0, this.kind.least));
    for (const at of positions.slice(this.kind.least)) {
      if (this.#held() !== undefined || this.#requests("again").length > 0) return;
      await this.#tryEach([at]);
    }
  }

  /** Whether a run shows that the client waits, and none that it does not. */
  get isWaiting(): boolean {
    return this.#requests("waited").length > 0;
  }

  /** Makes a run again in which the client waited. */
  async waitAgain(): Promise<void> {
    const [at] = this.#requests("waited");
    if (at !== undefined) this.#trials.set(at, await this.#try(at, 1 + this.waits));
  }

  async judge(): Promise<Seen> {
    const seen = (await this.#prove()) ?? (await this.#whyLasting());
    if (seen !== undefined) return seen;
    const trials = [...this.#trials.values()];
    const [reason] = trials.filter((trial) => trial.kind === "not_judged");
    if (reason !== undefined) return reason;
    const [unclear] = trials.flatMap((trial) => (trial.kind === "unclear" ? trial.reason : []));
    return this.#held() ?? notJudged(unclear ?? this.#whyUnused());
  }

  get #isTimed(): boolean {
    return this.kind.when === "too_soon";
  }

  /** The requests whose rejection made the command fail, or wait: for a key that was sent twice, not the first one alone. */
  #held(): Held | undefined {
    const { count, ref } = this.#key;
    const requests = this.#requests("failed", "waited");
    const isEnough = this.#isTimed || count === 1 || requests.some((at) => at > 1);
    if (requests.length === 0 || !isEnough) return undefined;
    return { kind: "held", key: ref, requests, of: count };
  }

  #requests(...kinds: Trial["kind"][]): number[] {
    const numbers = [...this.#trials].flatMap(([at, { kind }]) => (kinds.includes(kind) ? at : []));
    return numbers.sort((one, other) => one - other);
  }

  #firstOf(most: number): number[] {
    return Array.from({ length: Math.min(this.#key.count, most) }, (_, index) => index + 1);
  }

  async #tryEach(positions: readonly number[]): Promise<void> {
    const trials = await Promise.all(positions.map(async (at) => this.#trials.get(at) ?? this.#try(at)));
    for (const [index, at] of positions.entries()) this.#trials.set(at, trials[index] as Trial);
  }

  /** Rejects one request; again if the command fails although the key came again, as one that fails at random may. */
  async #try(at: number, first = 1): Promise<Trial> {
    for (let time = first; ; time++) {
      const trial = this.#read(await this.#reject(at, {}, time), at);
      if (trial.kind === "waited") this.waits += 1;
      if (trial.kind !== "failed" || !(await this.#isAgain(trial.run, at))) return trial;
      if (time === first + maxFailures - 1) return notJudged(this.#whyOpen(trial.run, thenFailed));
    }
  }

  #read(run: ClientRun | undefined, at: number): Trial {
    if (!isEnded(run)) return unended(run);
    if (run.result === "failed") return { kind: run.hits > 0 ? "failed" : "unused", run };
    const reason = this.#key.whyNotJudged(run);
    if (reason !== undefined) return notJudged(reason);
    const accepted = this.#key.acceptedIn(run);
    if (!this.#isTimed) return { kind: this.#key.more(run) > 0 ? "again" : "unused", run };
    if (accepted.some(({ isElsewhere }) => isElsewhere)) return { kind: "unclear", reason: elsewhere };
    const kind = timingOf(this.#key.count, at, this.#earlyIn(run).length, accepted.length);
    return kind === "unclear" ? { kind, reason: this.#whyOpen(run, notShown) } : { kind, run };
  }

  #reject(at: number, change: Partial<Refusal> = {}, time = 1): Promise<ClientRun | undefined> {
    return this.#key.reject(this.kind, { only: [at, at], ...change }, time);
  }

  /** Whether the key came again in a run that failed: more often than when the command fails for a 404. */
  async #isAgain(run: ClientRun, at: number): Promise<boolean> {
    const tooMany = this.#isTimed ? this.#earlyIn(run).length - this.#key.count + at : this.#key.more(run);
    if (tooMany <= 0) return false;
    const control = await this.#reject(at, controlled);
    return !isEnded(control) || this.#key.more(run) > this.#key.more(control);
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

  async #proveAt(at: number, first: ClientRun): Promise<Trial | Proven> {
    const uncertain = await this.#key.whyUncertain();
    if (uncertain !== undefined) return notJudged(uncertain);
    const { most, least } = this.#isTimed ? timedRuns : lastingRuns;
    const again: ClientRun[] = [];
    for (let time = 1; time <= most && time - again.length <= 1 + most - least; time++) {
      const trial = await this.#repeat(at, time);
      if (trial.kind === "not_judged") return trial;
      if (trial.kind === "again") again.push(trial.run);
      // One who waits fails if everything from the time on is rejected as well.
      else if (again.length === 0 && time > most - least && this.waits === 0) return trial;
    }
    if (again.length < least)
      return notJudged(this.#whyOpen(first, this.#isTimed ? onlySometimes : notShown));
    const others = await this.#whyOthers(at, again);
    if (others !== undefined) return notJudged(others);
    const isOfAny = await this.#isOfAny(at, first);
    if (typeof isOfAny === "object") return isOfAny;
    const request = this.#earlyOf(first, at) ?? { id: idOfHit(first) };
    return { kind: "proven", of: this.kind, request, isOfAny };
  }

  /** The same request rejected again, and with a time each later one from its time on. */
  async #repeat(at: number, time: number): Promise<Trial> {
    const run = await this.#reject(at, this.#isTimed ? { refusesAfter: true } : {}, time);
    // Who never gives up waits.
    return this.#isTimed && run?.result === "timed_out" ? { kind: "failed", run } : this.#read(run, at);
  }

  /** The requests that came before the time of a rejection; none if it lasts. */
  #earlyIn(run: ClientRun): readonly KeyRequest[] {
    return this.#isTimed ? this.#key.acceptedIn(run).filter(({ earlyMs }) => earlyMs !== undefined) : [];
  }

  /** The first request before the time that the client's own work does not send. */
  #earlyOf(run: ClientRun, at: number): KeyRequest | undefined {
    return this.#earlyIn(run)[this.#key.count - at];
  }

  /** Why requests before the time may be other callers', as from a cache that is still empty: as many come while a response is only late. */
  async #whyOthers(at: number, early: readonly ClientRun[]): Promise<Reason | undefined> {
    if (!this.#isTimed) return undefined;
    // A client that sends two requests at once may have read the other 503.
    if (this.kind.as === "fault.status" && this.#key.hasFaults) return ownFaults;
    const [first] = early as [ClientRun, ...ClientRun[]];
    const latest = Math.max(...early.map((run) => this.#earlyOf(run, at)?.earlyMs ?? 0));
    // In whole seconds, so that kinds share the runs.
    const seconds = Math.ceil((latest + marginMs) / 1000);
    for (let time = 1; time <= minPasses; time++) {
      const late = await this.#reject(at, { as: "late", seconds }, time);
      if (!isEnded(late)) return unended(late).reason;
      if (late.result === "failed")
        return this.#whyOpen(first, "and the command fails if a response is only late");
      if (this.#earlyOf(late, at) !== undefined)
        return this.#whyOpen(first, "and as many come while a response is only late");
    }
    const always = await this.#key.reject(this.kind);
    if (always === undefined) return notMade;
    return always.result === "passed"
      ? this.#whyOpen(first, "and the command passes if each one is rejected")
      : undefined;
  }

  /** Gives the request a 404: the command must fail, or send no more. Otherwise, the client sends each status but 200 again, or nothing is shown. */
  async #isOfAny(at: number, first: ClientRun): Promise<boolean | NotJudged> {
    let isOfAny = false;
    for (let time = 1; time <= minPasses && !isOfAny; time++) {
      const control = await this.#reject(at, controlled, time);
      if (!isEnded(control)) return unended(control);
      isOfAny = this.#isSentAgain(control);
    }
    const reason = isOfAny ? await this.#whyNotOfAny(at, first) : undefined;
    return reason === undefined ? isOfAny : notJudged(reason);
  }

  #isSentAgain = (run: ClientRun) => run.result === "passed" && this.#key.more(run) > 0;

  /** Why a client that sends a 404 again as well may not do so on its own; `undefined` if it sends each status but 200 again. */
  async #whyNotOfAny(at: number, run: ClientRun): Promise<Reason | undefined> {
    const { client, count, variable, sentOnce } = this.#key;
    const why = `after ${this.kind.after} and a 404 alike, ${variable} was sent again (${idOfHit(run)})`;
    if (count === 1) return { ...sentOnce, why };
    // A test that polls until a 200 does so for no key with another response.
    const rejected = rejectedIfRepeated(client.plain);
    if (rejected === undefined || !(await survives404(client, rejected))) return { why, whatToDo: noPolling };
    // What repeats a test sends more if each of these requests gets a 404, and such a client as many.
    const answer = { outcome: rejected, as: controlled.as };
    const each = await client.run(`answer.${rejected}`, { answer });
    if (!isEnded(each)) return unended(each).reason;
    if (requestsIn(each, rejected) > requestsIn(client.plain, rejected)) return { why, whatToDo: noPolling };
    for (const position of this.#firstOf(maxOfAny).filter((one) => one !== at))
      if ((await this.#repeat(position, 1)).kind !== "again") return { why, whatToDo: noPolling };
    const empty = await this.#reject(at, { as: "empty" });
    if (!isEnded(empty)) return unended(empty).reason;
    if (!this.#isSentAgain(empty)) return undefined;
    return { why: `${why}, and after a 200 without data`, whatToDo: noPolling };
  }

  /** Rejects each request: more than in the plain run are some that were sent again, or what follows a failure. */
  async #whyLasting(): Promise<Seen | undefined> {
    if (this.#isTimed) return undefined;
    const run = await this.#key.reject(this.kind);
    if (run === undefined) return notJudged(notMade);
    if (this.#key.more(run) <= 0) return undefined;
    await this.#tryEach(this.#firstOf(maxPositions));
    const proven = await this.#prove();
    if (proven !== undefined) return proven;
    const control = await this.#key.reject(this.kind, controlled);
    if (control === undefined) return notJudged(notMade);
    const lasting = this.#key.acceptedIn(run).length;
    const usual = this.#key.acceptedIn(control).length;
    if (lasting <= usual) return undefined;
    return notJudged({
      why: `with ${this.kind.after} each time, the command sent ${this.#key.variable} ${lasting} times, with a 404 ${usual} times, and in the plain run ${this.#key.count} times`,
      whatToDo: this.kind.whatToDo,
    });
  }

  #whyOpen(run: ClientRun, what: string): Reason {
    const [early] = this.#earlyIn(run);
    const time = early === undefined ? "after" : `${early.earlyMs} ms after`;
    return {
      why: `${time} ${this.kind.after}, ${this.#key.variable} was sent again (${early?.id ?? idOfHit(run)}), ${what}`,
      whatToDo: `${this.kind.whatToDo} If it is another test's request, send the key in one test at a time, and make a test fail when it is rejected.`,
    };
  }

  /** Which requests a test uses, and which not. */
  #whyUnused(): Reason {
    const { count, variable } = this.#key;
    const wordsOf = (numbers: readonly number[]) =>
      `${numbers.length === 1 ? "request" : "one of requests"} ${listed(numbers.map(String), "and")}`;
    const [used, unused] = [this.#requests("failed"), this.#requests("unused")];
    const happens = `of ${count} with ${variable} is rejected`;
    const passes =
      used.length === 0
        ? `the command passes when ${wordsOf(unused)} ${happens}`
        : `the command fails when ${wordsOf(used)} ${happens}, and passes when ${wordsOf(unused)} is`;
    return {
      why: `${passes}, and does not send it more often`,
      whatToDo:
        "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
    };
  }
}

const notShown = "and the runs do not show whether a test uses the response";
const onlySometimes = "but only in some runs: your client waits sometimes";
const thenFailed = "and the command then failed";

const elsewhere: Reason = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
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
