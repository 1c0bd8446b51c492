import { unavailable } from "../api/faults.js";
import { retryAfterHeader } from "../api/limits.js";
import { headerPairs, textBody } from "../api/messages.js";
import { renderRejection, responseOf } from "../api/respond.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { minuteEnd } from "../rules/time.js";
import type { ApiCall } from "../sandbox/call.js";
import type { CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { Arrival } from "../sandbox/run-trace.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { Resend } from "./conditions.js";

/** Timers may end a little early. */
const toleranceMs = 50;
/** How long after its time a request still comes in time. */
const graceMs = 2500;
const maxInTime = 5;
/** How late the responses of an outage come. */
export const outageDelayMs = 50;

/** A point in time on each clock that a client can wait by, in milliseconds: a test may move the first, fake timers the second. */
interface Moment {
  /** A new one with each start of a sandbox. */
  readonly clock: object;
  readonly now: number;
  readonly wall: number;
  readonly stopwatch: number;
}

/** Rejects requests of one key that its sandboxes would accept. */
export class Rejections {
  readonly #resend: Resend;
  readonly #claim: (name: string) => boolean;
  /** The last number that was claimed in the run, as far as this process knows. */
  #number = 0;
  #inTime = 0;
  #rejected: Moment | undefined;

  /** `claim`: whether it is the first one of this name in all processes of the run. */
  constructor(resend: Resend, claim: (name: string) => boolean) {
    this.#resend = resend;
    this.#claim = claim;
  }

  /** Returns the rejection of a call with this outcome; `undefined` if it keeps its own. */
  reject(sandbox: SandboxState, call: ApiCall, outcome: OutcomeId): CallResult | undefined {
    const { key, seconds } = this.#resend;
    if (call.entry?.key.ref !== key || !isSuccess(outcome)) return undefined;
    const moment: Moment = {
      clock: sandbox.clock,
      now: call.now,
      wall: sandbox.platform.time(),
      stopwatch: call.started,
    };
    const arrival = this.#rejected && arrivalOf(this.#rejected, moment, seconds);
    if (call.trace !== undefined) call.trace.arrival = arrival;
    if (!this.#isMeant() && !this.#isAgain(arrival)) return undefined;
    this.#rejected = moment;
    return rejection(this.#resend, sandbox, call, outcome);
  }

  #isMeant(): boolean {
    const { only } = this.#resend;
    if (only === undefined) return true;
    const [first, last] = only;
    while (this.#number < last) {
      this.#number += 1;
      if (this.#claim(`request-${this.#number}`)) return this.#number >= first;
    }
    return false;
  }

  #isAgain(arrival: Arrival | undefined): boolean {
    if (!this.#resend.rejectsInTime || arrival?.when !== "in time") return false;
    this.#inTime += 1;
    return this.#inTime <= maxInTime;
  }
}

const late: Delivery = {
  delayMs: outageDelayMs,
  kind: "send",
  cutAfter: undefined,
  bytesPerSecond: undefined,
};

function rejection(
  { as, seconds, asDate = false }: Resend,
  sandbox: SandboxState,
  call: ApiCall,
  outcome: CallResult["outcome"],
): CallResult {
  if (as === "empty") return { outcome, response: responseOf(200, textBody('{"data":{}}'), []), code: null };
  if (as === "fault.status") {
    const result = unavailable(sandbox, call, seconds, asDate);
    return seconds === undefined ? { ...result, delivery: late } : result;
  }
  const { response, ...rejected } = renderRejection(sandbox, call, { outcome: as });
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

/** How a request came after a rejection. A sandbox that starts again knows of none that a client must wait for. */
function arrivalOf(from: Moment, to: Moment, seconds: number | undefined): Arrival {
  const isSame = from.clock === to.clock;
  const [wall, stopwatch] = [to.wall - from.wall, to.stopwatch - from.stopwatch];
  const afterMs = Math.round(Math.max(isSame ? to.now - from.now : 0, wall, stopwatch));
  const lateMs = pastDue(from, to, seconds);
  if (!isSame || lateMs > graceMs) return { afterMs, when: "late" };
  return { afterMs, when: lateMs < -toleranceMs ? "early" : "in time" };
}

/** How late a request is on the clock that has passed the most; below zero, it is too soon. Without seconds, the minute must end. */
function pastDue(from: Moment, to: Moment, seconds: number | undefined): number {
  const untilNextMinute = (time: number) => minuteEnd(time) - time;
  const due = seconds === undefined ? untilNextMinute(from.now) : seconds * 1000;
  const dueOnWall = seconds === undefined ? Math.min(due, untilNextMinute(from.wall)) : due;
  return Math.max(
    to.now - from.now - due,
    to.wall - from.wall - dueOnWall,
    to.stopwatch - from.stopwatch - due,
  );
}
