import { minute, minuteStart } from "../rules/api-key.js";
import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess, type PathId } from "../rules/outcomes.js";
import {
  type ChooseVariant,
  idOfPoint,
  type Resend,
  type RunConditions,
  type VariedPoint,
} from "../sandbox/conditions.js";
import { type ActiveFault, activateFaults, fireFault } from "../sandbox/faults.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Registry } from "../sandbox/registry.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox.js";
import type { ApiCall } from "./call.js";
import { me } from "./endpoints/me.js";
import { unavailable } from "./faults.js";
import { retryAfterHeader } from "./limits.js";
import { headerPairs } from "./messages.js";
import { rejectCall, successResponse } from "./response.js";
import { unvariedAssumptions } from "./variation/vary.js";

/** Returns whether it is the first claim of this name in the whole run. */
type ClaimOnce = (name: string) => boolean;

/** Returns a claim for the sandboxes of one process. */
function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => !claimed.has(name) && claimed.add(name).size > 0;
}

/** Starts to apply the conditions of a run, and to describe what its sandboxes show. */
export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { points: wanted, answer, resend } = conditions;
  const choose = chooser(conditions);
  const fire = startFaults(conditions, claim);
  let points: VariedPoint[] = [];
  let hit: PathId | undefined;
  let isRewarded = false;
  const reject =
    resend &&
    startRejecting(resend, (decision) => {
      isRewarded = decision === "rewarded";
    });
  /** What a hook returns of a client's call, whose own path is kept as the one that was hit. */
  const replacing =
    (replace: ReplaceResult): ReplaceResult =>
    (sandbox, call, result) => {
      const replacement = call.request.fromStory ? undefined : replace(sandbox, call, result);
      if (replacement !== undefined) hit = result.pathId;
      return replacement;
    };
  const isOutage = resend?.path === "fault.status";
  return {
    profile: conditions.profile,
    hidesCauses: (answer ?? resend) !== undefined,
    choose(row, usual, status) {
      const variant = choose(row, usual, status);
      points.push({ row, variant, status });
      return variant;
    },
    fireFault(sandbox, call, facts) {
      const fired = fire(sandbox, call, facts);
      hit = fired && facts.expectedPath();
      return fired;
    },
    ...(reject && isOutage && { failInstead: replacing(reject) }),
    ...(((reject && !isOutage) || answer) && {
      replaceResult: replacing(reject ?? startAnswering(answer, claim)),
    }),
    observe(sandbox) {
      const unvaried = wanted === undefined ? unvariedAssumptions(sandbox) : [];
      const observation = {
        points,
        scenario: sandbox.name,
        hit,
        unvaried,
        ...(isRewarded && { isRewarded }),
      };
      [points, hit, isRewarded] = [[], undefined, false];
      return observation;
    },
  };
}

/** Starts to give the requests of a path, or the first of them, the wrong answer. */
function startAnswering(answer: RunConditions["answer"], claim: ClaimOnce): ReplaceResult {
  return (sandbox, call, result) => {
    const isWrong =
      result.pathId === answer?.path && result.fault === undefined && call.endpoint !== undefined;
    return isWrong && (!answer.once || claim("answer")) ? wrongAnswer(sandbox, call, result) : undefined;
  };
}

/** Returns a result with the wrong response: 401 for a key that works, 200 for any other. It keeps its path id. */
function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  if (!isSuccess(result.pathId)) return { ...result, response: acceptance(sandbox, call), code: null };
  const { response, code } = rejectCall(sandbox, call, { path: "401.unknown" });
  return { ...result, response, code };
}

// As if the key had passed each check.
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  const caller = entry && { ...entry, usage: { ...entry.usage, dayCount: entry.usage.dayCount + 1 } };
  return successResponse(sandbox, call, endpoint, endpoint.respond(caller));
}

function chooser({ points }: RunConditions): ChooseVariant {
  if (points === undefined) return (_row, usual) => usual;
  const ids = new Set(points.map(idOfPoint));
  return (row, usual, status) => (ids.has(idOfPoint({ row, status, variant: usual })) ? usual : "");
}

/** Starts the faults of a run, which count their requests again with each start of a scenario. */
function startFaults({ faults = [], once }: RunConditions, claim: ClaimOnce): ConditionedRun["fireFault"] {
  const started = new WeakMap<Registry, ActiveFault[]>();
  const faultsIn = ({ registry, seed, startedAt }: SandboxState): readonly ActiveFault[] => {
    const active = started.get(registry) ?? activateFaults(faults, seed, startedAt);
    started.set(registry, active);
    return active;
  };
  return (sandbox, call, facts) => {
    const isWanted = () => {
      if (once === undefined) return true;
      const path = facts.expectedPath();
      const isMeant = once.path === undefined ? isSuccess(path) : path === once.path;
      return isMeant && isIdempotent(call.request.method) && claim("fault");
    };
    return faults.length > 0 && isWanted() ? fireFault(faultsIn(sandbox), call.number, facts) : undefined;
  };
}

/** Timers may end a little early. */
const toleranceMs = 50;
/** After the time of a `Retry-After`, a client that waits is rejected again. */
const graceMs = 1500;
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

type Decision = "rejected" | "rewarded" | undefined;

const rewards: Readonly<Record<Resend["when"], (resend: Resend) => (moment: Moment) => Decision>> = {
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
  readonly decision: Decision;
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

/** Returns the result that replaces a call's. Default: none. */
type ReplaceResult = (sandbox: SandboxState, call: ApiCall, result: CallResult) => CallResult | undefined;

/** Starts to reject requests of one key that its sandboxes would accept. `say` gets each decision. */
function startRejecting(resend: Resend, say: (decision: Decision) => void): ReplaceResult {
  const decide = rewards[resend.when](resend);
  let count = 0;
  let clock: object | undefined;
  return (sandbox, call, { pathId, fault }) => {
    if (call.entry?.key.ref !== resend.key || fault !== undefined || !isSuccess(pathId)) return undefined;
    // A sandbox that starts again knows of no rejection that a client must wait for.
    count = resend.when === "too soon" && clock !== sandbox.clock ? 1 : count + 1;
    clock = sandbox.clock;
    if (count <= resend.after) return undefined;
    const decision = decide({
      clock: sandbox.clock,
      now: call.now,
      wall: sandbox.platform.time(),
      stopwatch: call.started,
    });
    say(decision);
    return decision === "rejected" ? rejection(resend, sandbox, call) : undefined;
  };
}

function rejection(
  { path, seconds, asDate = false }: Resend,
  sandbox: SandboxState,
  call: ApiCall,
): CallResult {
  if (path === "fault.status") return unavailable(sandbox, call, seconds, asDate);
  const { response, ...rejected } = rejectCall(sandbox, call, { path });
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
