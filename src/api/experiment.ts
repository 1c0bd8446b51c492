import { fingerprintOf, minute, minuteStart } from "../rules/api-key.js";
import { outcomeOf, type PathId } from "../rules/outcomes.js";
import type { Experiment } from "../sandbox/conditions.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Registry } from "../sandbox/keys.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ApiCall } from "./call.js";
import { unavailable } from "./faults.js";
import { retryAfterHeader } from "./limits.js";
import { brokenPromises } from "./promises.js";
import { rejectCall } from "./response.js";

/** Timers may end a little early. */
export const toleranceMs = 50;

/** Whether a request may follow such a response, after a wait. */
export function mayFollow(pathId: PathId, retryAfter: number | undefined): boolean {
  return retryAfter !== undefined || outcomeOf(pathId).status === 429;
}

/** A point in time on each clock that a client can wait by, in milliseconds. */
interface Moment {
  /** The sandbox's clock, which a test may move. */
  readonly now: number;
  /** The wall clock, which fake timers move. */
  readonly wall: number;
  readonly stopwatch: number;
}

/** Starts an experiment with the requests of one key in one sandbox. */
export function startExperiment(
  experiment: Experiment,
  placeIn: (key: string, registry: Registry) => number,
) {
  const { id, key, nth, last, pathId, retryAfter } = experiment;
  let count = 0;
  let first: Moment | undefined;
  let latest: Moment | undefined;
  let total = 0;
  let isTried = false;
  return {
    /** Returns the result in place of a call's own; `undefined` leaves that unchanged. */
    replace(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult | undefined {
      isTried = false;
      const sentKey = call.entry?.key.ref ?? fingerprintOf(call.sha256);
      if (sentKey !== key || placeIn(sentKey, sandbox.registry) !== nth) return undefined;
      // A fault of the scenario hides the response, but not that the client sent the key again.
      if (result.fault !== undefined && count < last) return undefined;
      count += 1;
      if (count < last) return undefined;
      const before = latest;
      latest = { now: call.now, wall: sandbox.platform.time(), stopwatch: call.started };
      first ??= latest;
      total += before === undefined ? 0 : elapsed(before, latest);
      isTried = true;
      const mayPass = id !== "control" && mayFollow(pathId, retryAfter) && first !== latest;
      if (mayPass && hasWaited(retryAfter, first, latest)) return undefined;
      return respond(experiment, sandbox, call, result);
    },
    /** Returns once the milliseconds from the first such request to the latest; `undefined` if the latest request is none. */
    takeTime(): number | undefined {
      const isTaken = !isTried;
      isTried = false;
      return isTaken ? undefined : total;
    },
  };
}

function respond(
  { id, pathId, retryAfter }: Experiment,
  sandbox: SandboxState,
  call: ApiCall,
  result: CallResult,
): CallResult {
  if (id === "outage") return unavailable(sandbox, call);
  const asDate = id.endsWith(" with a date");
  if (id.startsWith("503")) return unavailable(sandbox, call, retryAfter, asDate);
  if (id === "control") {
    const accepted = brokenPromises.find((one) => one.id === `${pathId}:accepted`);
    return { ...result, ...accepted?.respond(result, call, sandbox) };
  }
  const { response, ...rejected } = rejectCall(sandbox, call, { path: pathId });
  if (!mayFollow(pathId, retryAfter)) return { ...rejected, response };
  const others = response.headers.filter((_, i, all) => all[i - (i % 2)] !== "Retry-After");
  if (retryAfter === undefined) return { ...rejected, response: { ...response, headers: others } };
  // The client reads the wall clock, and subtracts `Date` from a date: both are of that clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const now = date ?? call.now;
  const headers = [...others, ...retryAfterHeader(now + retryAfter * 1000, asDate, now)];
  return { ...rejected, response: { ...response, headers }, date };
}

/** Whether a client has waited as long as its first rejection asks for. */
function hasWaited(retryAfter: number | undefined, first: Moment, latest: Moment): boolean {
  const waited = elapsed(first, latest) + toleranceMs;
  if (retryAfter !== undefined)
    return Math.max(latest.now - first.now + toleranceMs, waited) >= retryAfter * 1000;
  // The minute ends on the sandbox's clock, which may be frozen, or on the wall.
  const next = Math.max(minuteStart(latest.now), minuteStart(first.now + waited));
  const isNextOnWall = minuteStart(latest.wall) > minuteStart(first.wall);
  return waited >= minute || next > minuteStart(first.now) || isNextOnWall;
}

// A client that waits with fake timers moves only the wall clock.
function elapsed(from: Moment, to: Moment): number {
  return Math.max(to.stopwatch - from.stopwatch, to.wall - from.wall);
}
