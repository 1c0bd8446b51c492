import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Registry } from "../sandbox/keys.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { Experiment } from "../sandbox/variant.js";
import { fingerprintOf, minute, minuteStart } from "../spec/api-key.js";
import { outcomeOf, type PathId } from "../spec/outcomes.js";
import type { ApiCall } from "./call.js";
import { unavailable } from "./faults.js";
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
  { id, key, nth, last, pathId, retryAfter }: Experiment,
  placeIn: (key: string, registry: Registry) => number,
) {
  let sent = 0;
  let first: Moment | undefined;
  let latest: Moment | undefined;
  let total = 0;
  let isTried = false;
  // The minute ends on the sandbox's clock, which does not leave the minute by itself, or on the wall.
  const hasWaited = (one: Moment, limited: Moment): boolean => {
    const waited = elapsed(limited, one) + toleranceMs;
    if (retryAfter !== undefined)
      return Math.max(one.now - limited.now + toleranceMs, waited) >= retryAfter * 1000;
    const next = Math.max(minuteStart(one.now), minuteStart(limited.now + waited));
    return (
      waited >= minute || next > minuteStart(limited.now) || minuteStart(one.wall) > minuteStart(limited.wall)
    );
  };
  const respond = (sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult | undefined => {
    if (id === "outage") return unavailable(sandbox, call);
    if (id === "control") {
      const accepted = brokenPromises.find((one) => one.id === `${pathId}:accepted`);
      return { ...result, ...accepted?.respond(result, call, sandbox) };
    }
    if (!mayFollow(pathId, retryAfter)) return rejectCall(sandbox, call, { path: pathId });
    if (first !== latest && hasWaited(latest as Moment, first as Moment)) return undefined;
    if (id === "503 with Retry-After") return unavailable(sandbox, call, retryAfter);
    if (id === "503 with a date") return unavailable(sandbox, call, retryAfter, true);
    const { response, ...rejected } = rejectCall(sandbox, call, { path: pathId });
    const others = response.headers.filter((_, i, all) => all[i - (i % 2)] !== "Retry-After");
    const headers = retryAfter === undefined ? others : [...others, "Retry-After", String(retryAfter)];
    return { ...rejected, response: { ...response, headers } };
  };
  return {
    /** Returns the result in place of a call's own; `undefined` leaves that unchanged. */
    replace(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult | undefined {
      isTried = false;
      const sentKey = call.entry?.key.ref ?? fingerprintOf(call.sha256);
      if (sentKey !== key || placeIn(sentKey, sandbox.registry) !== nth) return undefined;
      // A fault of the scenario hides the response, but not that the client sent the key again.
      if (result.fault !== undefined && sent < last) return undefined;
      sent += 1;
      if (sent < last) return undefined;
      const before = latest;
      latest = { now: call.now, wall: sandbox.platform.time(), stopwatch: call.started };
      first ??= latest;
      total += before === undefined ? 0 : elapsed(before, latest);
      isTried = true;
      return respond(sandbox, call, result);
    },
    /** Returns once the milliseconds from the first such request to the latest; `undefined` if the latest request is none. */
    takeTime(): number | undefined {
      const isTaken = !isTried;
      isTried = false;
      return isTaken ? undefined : total;
    },
  };
}

// A client that waits with fake timers moves only the wall clock.
function elapsed(from: Moment, to: Moment): number {
  return Math.max(to.stopwatch - from.stopwatch, to.wall - from.wall);
}
