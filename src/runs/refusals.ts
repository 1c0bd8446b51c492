import { unavailable } from "../api/fault-responses.js";
import { headerPairs } from "../api/http-messages.js";
import { retryAfterHeader } from "../api/limits.js";
import { renderRejection, respondToCall } from "../api/respond.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { minuteEnd } from "../rules/time.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { Refusal } from "./conditions.js";

/** Timers may end a little early. */
const toleranceMs = 50;

/** A point in time on each clock that a client can wait by, in milliseconds: a test may move the first, fake timers the second. */
interface Moment {
  /** A new one with each start of a sandbox. */
  readonly clock: object;
  readonly now: number;
  readonly wall: number;
  readonly stopwatch: number;
}

/** Gives one request with a key that its sandboxes would accept another response. */
export class Refusals {
  readonly #refusal: Refusal;
  readonly #claim: (name: string) => boolean;
  /** The last number that was claimed in the run, as far as this process knows. */
  #number = 0;
  /** When this process has refused it. */
  #refused: Moment | undefined;

  /** `claim`: whether it is the first one of this name in all processes of the run. */
  constructor(refusal: Refusal, claim: (name: string) => boolean) {
    this.#refusal = refusal;
    this.#claim = claim;
  }

  /** Returns the refusal of a call with this outcome; `undefined` if it keeps its own. */
  refuse(sandbox: SandboxState, call: ApiCall, outcome: OutcomeId): CallResult | undefined {
    const { key, seconds } = this.#refusal;
    if (call.entry?.key.ref !== key || !isSuccess(outcome)) return undefined;
    const moment: Moment = {
      clock: sandbox.clock,
      now: call.now,
      wall: sandbox.platform.time(),
      stopwatch: call.started,
    };
    if (this.#isMeant()) {
      this.#refused = moment;
      return refusedResult(this.#refusal, sandbox, call);
    }
    if (call.trace !== undefined) {
      call.trace.earlyMs = this.#refused && earlyMs(this.#refused, moment, seconds);
      if (this.#refused === undefined && this.#number === this.#refusal.nth) call.trace.isElsewhere = true;
    }
    return undefined;
  }

  #isMeant(): boolean {
    const { nth } = this.#refusal;
    while (this.#number < nth) {
      this.#number += 1;
      if (this.#claim(`request-${this.#number}`)) return this.#number === nth;
    }
    return false;
  }
}

const lateBy = (seconds = 0): Delivery => ({
  delayMs: seconds * 1000,
  kind: "send",
  isWhole: true,
  cutAfter: undefined,
  bytesPerSecond: undefined,
});

function refusedResult(
  { as, seconds, asDate = false }: Refusal,
  sandbox: SandboxState,
  call: ApiCall,
): CallResult {
  if (as === "late") return { ...respondToCall(sandbox, call), delivery: lateBy(seconds) };
  if (as === "fault.status") return unavailable(sandbox, call, seconds, asDate);
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

/**
 * How long after a refusal a request came, if that was before its time on every clock. Without seconds, the minute must end.
 * A sandbox that starts again knows of no refusal that a client must wait for.
 */
function earlyMs(from: Moment, to: Moment, seconds: number | undefined): number | undefined {
  const untilNextMinute = (time: number) => minuteEnd(time) - time;
  const due = seconds === undefined ? untilNextMinute(from.now) : seconds * 1000;
  const dueOnWall = seconds === undefined ? Math.min(due, untilNextMinute(from.wall)) : due;
  const now = to.now - from.now;
  const wall = to.wall - from.wall;
  const stopwatch = to.stopwatch - from.stopwatch;
  const overdue = Math.max(now - due, wall - dueOnWall, stopwatch - due);
  const isEarly = from.clock === to.clock && overdue < -toleranceMs;
  return isEarly ? Math.round(Math.max(now, wall, stopwatch)) : undefined;
}
