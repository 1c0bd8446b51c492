import type { ApiCall } from "../api/call.js";
import { unavailable } from "../api/faults.js";
import { retryAfterHeader } from "../api/limits.js";
import { headerPairs } from "../api/messages.js";
import { rejectCall } from "../api/response.js";
import { isSuccess } from "../rules/outcomes.js";
import { minute, minuteStart } from "../rules/time.js";
import type { CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { Resend } from "./conditions.js";

/** Timers may end a little early. */
const toleranceMs = 50;
/** After the time of a `Retry-After`, a client that waits is rejected again. */
const graceMs = 1500;
/** How late the responses of an outage come. */
const outageDelayMs = 50;
const maxRejections = 5;
/** A request so much later is a new one, and not another attempt. */
const staleMs = 30_000;
/** More pauses in a row that are shorter than a second, or more requests, are what a client must not send in an outage. */
const [maxShortPauses, maxRequests] = [5, 19];

/** A point in time on each clock that a client can wait by, in milliseconds: a test may move the first, fake timers the second. */
interface Moment {
  /** A new one with each start of a sandbox. */
  readonly clock: object;
  readonly now: number;
  readonly wall: number;
  readonly stopwatch: number;
}

type Ruling = "rejected" | "rewarded" | undefined;

/** Decides about each request after the first ones. */
interface Rule {
  readonly decide: (moment: Moment) => Ruling;
}

const rules: Readonly<Record<Resend["when"], new (resend: Resend) => Rule>> = {
  /** Of each two requests, the first is rejected. */
  always: class {
    readonly #lasts: boolean;
    #isOpen = false;

    constructor({ lasts }: Resend) {
      this.#lasts = lasts === true;
    }

    decide(): Ruling {
      this.#isOpen = this.#lasts || !this.#isOpen;
      return this.#isOpen ? "rejected" : "rewarded";
    }
  },
  /** Accepts a request before the time of the last rejection, and rejects one in time again. */
  "too soon": class {
    readonly #resend: Resend;
    #last: Moment | undefined;
    #inTime = 0;

    constructor(resend: Resend) {
      this.#resend = resend;
    }

    decide(moment: Moment): Ruling {
      // A sandbox that starts again knows of no rejection.
      if (this.#last?.clock !== moment.clock) this.#last = undefined;
      const lateMs = this.#last && pastDue(this.#last, moment, this.#resend.seconds);
      const { ruling, isOver } = this.#resend.lasts ? rejectUntilDue(lateMs) : this.#rewardHaste(lateMs);
      if (isOver) this.#last = ruling === "rejected" ? moment : undefined;
      return ruling;
    }

    /** Accepts a request that is sent too soon. The request after it is rejected, as is the one after a request that waited longer. */
    #rewardHaste(lateMs: number | undefined): TimedRuling {
      const when = lateMs === undefined ? undefined : dueness(lateMs);
      this.#inTime = when === "in time" ? this.#inTime + 1 : 1;
      const isRejected = when === undefined || (when === "in time" && this.#inTime <= maxRejections);
      const ruling = when === "soon" ? "rewarded" : undefined;
      return { ruling: isRejected ? "rejected" : ruling, isOver: true };
    }
  },
  /** Only a client that does not pause, or does not give up, gets a response. */
  hasty: class {
    readonly #lasts: boolean;
    #last: Moment | undefined;
    #count = 0;
    #short = 0;

    constructor({ lasts }: Resend) {
      this.#lasts = lasts === true;
    }

    decide(moment: Moment): Ruling {
      const pause = this.#last === undefined ? undefined : elapsed(this.#last, moment);
      // It came before a response: a client that sends two requests at once has one pause for both.
      if (pause !== undefined && pause < outageDelayMs) return "rejected";
      this.#short = pause !== undefined && pause < 1000 ? this.#short + 1 : 0;
      this.#count += 1;
      this.#last = moment;
      if (this.#lasts || (this.#short <= maxShortPauses && this.#count <= maxRequests + 1)) return "rejected";
      [this.#last, this.#count, this.#short] = [undefined, 0, 0];
      return "rewarded";
    }
  },
};

/** What `too soon` decides, and whether the rejection that it knows of is over. */
interface TimedRuling {
  readonly ruling: Ruling;
  readonly isOver: boolean;
}

/** Rejects a request before the time of the last rejection, and one so much later that it is a new one. */
function rejectUntilDue(lateMs: number | undefined): TimedRuling {
  const isNew = lateMs === undefined || lateMs > staleMs;
  return { ruling: isNew || dueness(lateMs) === "soon" ? "rejected" : undefined, isOver: isNew };
}

/** Rejects requests of one key that its sandboxes would accept. */
export class Rejections {
  readonly #resend: Resend;
  readonly #say: (afterMs: number) => void;
  readonly #rule: Rule;
  #count = 0;
  #clock: object | undefined;
  #rejected: Moment | undefined;

  /** `say` gets the milliseconds since the last rejection of a request that is accepted although it must not follow. */
  constructor(resend: Resend, say: (afterMs: number) => void) {
    this.#resend = resend;
    this.#say = say;
    this.#rule = new rules[resend.when](resend);
  }

  /** Returns the rejection that replaces a call's result; `undefined` if it keeps its own. */
  replace(sandbox: SandboxState, call: ApiCall, { outcome, fault }: CallResult): CallResult | undefined {
    const { key, when, after } = this.#resend;
    if (call.entry?.key.ref !== key || fault !== undefined || !isSuccess(outcome)) return undefined;
    // A sandbox that starts again knows of no rejection that a client must wait for.
    this.#count = when === "too soon" && this.#clock !== sandbox.clock ? 1 : this.#count + 1;
    this.#clock = sandbox.clock;
    if (this.#count <= after) return undefined;
    const moment: Moment = {
      clock: sandbox.clock,
      now: call.now,
      wall: sandbox.platform.time(),
      stopwatch: call.started,
    };
    const ruling = this.#rule.decide(moment);
    const last = this.#rejected;
    if (ruling === "rewarded") this.#say(last === undefined ? 0 : Math.round(elapsed(last, moment)));
    if (ruling !== "rejected") return undefined;
    this.#rejected = moment;
    return rejection(this.#resend, sandbox, call);
  }
}

const late: Delivery = {
  delayMs: outageDelayMs,
  kind: "send",
  cutAfter: undefined,
  bytesPerSecond: undefined,
};

function rejection(
  { outcome, when, seconds, asDate = false }: Resend,
  sandbox: SandboxState,
  call: ApiCall,
): CallResult {
  if (outcome === "fault.status") {
    const result = unavailable(sandbox, call, seconds, asDate);
    return when === "hasty" ? { ...result, delivery: late } : result;
  }
  const { response, ...rejected } = rejectCall(sandbox, call, { outcome });
  const others = headerPairs(response.headers)
    .filter(([name]) => name !== "Retry-After")
    .flat();
  if (seconds === undefined) return { ...rejected, response: { ...response, headers: others } };
  // The client reads the wall clock, and subtracts `Date` from a date: both are of that clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const now = date ?? call.now;
  const headers = [...others, ...retryAfterHeader(now + seconds * 1000, asDate, now)];
  return { ...rejected, response: { ...response, headers }, date };
}

/** How late a request is on the clock that has passed the most; below zero, it is too soon. Without seconds, the minute must end. */
function pastDue(from: Moment, to: Moment, seconds: number | undefined): number {
  const untilNextMinute = (time: number) => minuteStart(time) + minute - time;
  const due = seconds === undefined ? untilNextMinute(from.now) : seconds * 1000;
  const dueOnWall = seconds === undefined ? Math.min(due, untilNextMinute(from.wall)) : due;
  return Math.max(
    to.now - from.now - due,
    to.wall - from.wall - dueOnWall,
    to.stopwatch - from.stopwatch - due,
  );
}

function dueness(lateMs: number): "soon" | "in time" | "late" {
  if (lateMs < -toleranceMs) return "soon";
  return lateMs <= graceMs ? "in time" : "late";
}

function elapsed(from: Moment, to: Moment): number {
  return Math.max(sandboxTime(from, to), to.wall - from.wall, to.stopwatch - from.stopwatch);
}

const sandboxTime = (from: Moment, to: Moment) => (from.clock === to.clock ? to.now - from.now : 0);
