import type { ApiCall } from "../api/call.js";
import { unavailable } from "../api/faults.js";
import { retryAfterHeader } from "../api/limits.js";
import { headerPairs } from "../api/messages.js";
import { rejectCall } from "../api/response.js";
import { minute, minuteStart } from "../rules/api-key.js";
import { isSuccess } from "../rules/outcomes.js";
import type { CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { Resend } from "./conditions.js";
import type { ReplaceResult } from "./wrong-answers.js";

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

const rewards: Readonly<Record<Resend["when"], (resend: Resend) => (moment: Moment) => Ruling>> = {
  /** Of each two requests, the first is rejected. */
  always({ lasts }) {
    let isOpen = false;
    return () => {
      isOpen = lasts === true || !isOpen;
      return isOpen ? "rejected" : "rewarded";
    };
  },
  /** Accepts a request before the time of the last rejection, and rejects one in time again. */
  "too soon"(resend) {
    const decide = resend.lasts ? rejectUntilDue : rewardHaste();
    let last: Moment | undefined;
    return (moment) => {
      // A sandbox that starts again knows of no rejection.
      if (last?.clock !== moment.clock) last = undefined;
      const lateMs = last && pastDue(last, moment, resend.seconds);
      const { decision, isOver } = decide(lateMs);
      if (isOver) last = decision === "rejected" ? moment : undefined;
      return decision;
    };
  },
  /** Only a client that does not pause, or does not give up, gets a response. */
  hasty({ lasts }) {
    let last: Moment | undefined;
    let [count, short] = [0, 0];
    return (moment) => {
      // It came before a response: a client that sends two requests at once has one pause for both.
      if (last !== undefined && elapsed(last, moment) < outageDelayMs) return "rejected";
      short = last !== undefined && elapsed(last, moment) < 1000 ? short + 1 : 0;
      count += 1;
      last = moment;
      if (lasts || (short <= maxShortPauses && count <= maxRequests + 1)) return "rejected";
      [last, count, short] = [undefined, 0, 0];
      return "rewarded";
    };
  },
};

/** What `too soon` decides, and whether the rejection that it knows of is over. */
interface TimedDecision {
  readonly decision: Ruling;
  readonly isOver: boolean;
}

/** Rejects a request before the time of the last rejection, and one so much later that it is a new one. */
function rejectUntilDue(lateMs: number | undefined): TimedDecision {
  const isNew = lateMs === undefined || lateMs > staleMs;
  return { decision: isNew || dueness(lateMs) === "soon" ? "rejected" : undefined, isOver: isNew };
}

/** Accepts a request that is sent too soon. The request after it is rejected, as is the one after a request that waited longer. */
function rewardHaste(): (lateMs: number | undefined) => TimedDecision {
  let count = 0;
  return (lateMs) => {
    const when = lateMs === undefined ? undefined : dueness(lateMs);
    count = when === "in time" ? count + 1 : 1;
    const isRejected = when === undefined || (when === "in time" && count <= maxRejections);
    const decision = when === "soon" ? "rewarded" : undefined;
    return { decision: isRejected ? "rejected" : decision, isOver: true };
  };
}

/** Starts to reject requests of one key that its sandboxes would accept. `say` gets the milliseconds since the last rejection of a request that is accepted although it must not follow. */
export function startRejecting(resend: Resend, say: (afterMs: number) => void): ReplaceResult {
  const decide = rewards[resend.when](resend);
  let count = 0;
  let clock: object | undefined;
  let rejected: Moment | undefined;
  return (sandbox, call, { pathId, fault }) => {
    if (call.entry?.key.ref !== resend.key || fault !== undefined || !isSuccess(pathId)) return undefined;
    // A sandbox that starts again knows of no rejection that a client must wait for.
    count = resend.when === "too soon" && clock !== sandbox.clock ? 1 : count + 1;
    clock = sandbox.clock;
    if (count <= resend.after) return undefined;
    const moment: Moment = {
      clock: sandbox.clock,
      now: call.now,
      wall: sandbox.platform.time(),
      stopwatch: call.started,
    };
    const decision = decide(moment);
    if (decision === "rewarded") say(rejected === undefined ? 0 : Math.round(elapsed(rejected, moment)));
    if (decision !== "rejected") return undefined;
    rejected = moment;
    return rejection(resend, sandbox, call);
  };
}

const late: Delivery = {
  delayMs: outageDelayMs,
  kind: "send",
  cutAfter: undefined,
  bytesPerSecond: undefined,
};

function rejection(
  { pathId, when, seconds, asDate = false }: Resend,
  sandbox: SandboxState,
  call: ApiCall,
): CallResult {
  if (pathId === "fault.status") {
    const result = unavailable(sandbox, call, seconds, asDate);
    return when === "hasty" ? { ...result, delivery: late } : result;
  }
  const { response, ...rejected } = rejectCall(sandbox, call, { pathId });
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
