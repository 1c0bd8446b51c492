import { fingerprintOf, minute, minuteStart } from "../rules/api-key.js";
import { outcomeOf, type PathId } from "../rules/outcomes.js";
import type { ChooseVariant, Experiment, RunConditions, VariedPoint } from "../sandbox/conditions.js";
import { type ActiveFault, activateFaults, fireFault } from "../sandbox/faults.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Registry } from "../sandbox/keys.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox.js";
import type { ApiCall } from "./call.js";
import { unavailable } from "./faults.js";
import { retryAfterHeader } from "./limits.js";
import { breakPromise, brokenPromises, brokenPromisesOf } from "./promises.js";
import { rejectCall } from "./response.js";
import { endpointsOf } from "./routes.js";
import { unvariedAssumptions } from "./variation/vary.js";

/** Numbers the sandboxes of a run, for each key by their first request with it; `takePlace` returns the next number of a key. */
type TakePlace = (key: string) => number;

/** Numbers the sandboxes of one process. */
function placesHere(): TakePlace {
  const next = new Map<string, number>();
  return (key) => {
    const nth = next.get(key) ?? 0;
    next.set(key, nth + 1);
    return nth;
  };
}

/** Starts to apply the conditions of a run, and to describe what its sandboxes show. */
export function conditionedRun(
  conditions: RunConditions,
  takePlace: TakePlace = placesHere(),
): ConditionedRun {
  const placeIn = createPlaces(takePlace);
  const chosen = chooser(conditions);
  const faultsIn = createFaults(conditions.faults ?? []);
  const pointIds = new Set<string>();
  let points: VariedPoint[] = [];
  let hit: PathId | undefined;
  const experiment = conditions.experiment && startExperiment(conditions.experiment, placeIn);
  const broken = (sandbox: SandboxState, call: ApiCall, result: CallResult) => {
    const promise = brokenPromisesOf(endpointsOf(sandbox)).find(({ id }) => id === conditions.promise);
    return promise && breakPromise(promise, sandbox, call, result);
  };
  const replace = conditions.promise === undefined ? experiment?.replace : broken;
  return {
    conditions,
    choose(row, usual, status) {
      const point = { row, variant: chosen(row, usual, status), status };
      const id = `${row} ${status} ${point.variant}`;
      if (!pointIds.has(id)) points.push(point);
      pointIds.add(id);
      return point.variant;
    },
    fireFault(sandbox, requestNumber, facts) {
      const fired = fireFault(faultsIn(sandbox), requestNumber, facts);
      hit = fired && facts.expectedPath();
      return fired;
    },
    ...(replace && {
      replaceResult(sandbox, call: ApiCall, result) {
        const replacement = call.request.fromStory ? undefined : replace(sandbox, call, result);
        if (replacement !== undefined) hit = result.pathId;
        return replacement ?? result;
      },
    }),
    observe(sandbox, { key, fingerprint }) {
      const observation = {
        nth: placeIn(key ?? fingerprint ?? "", sandbox.registry),
        points,
        scenario: sandbox.name,
        hit,
        unvaried: unvariedAssumptions(sandbox),
        tried: experiment?.takeTime(),
      };
      [points, hit] = [[], undefined];
      return observation;
    },
  };
}

function chooser({ points, isEverywhere }: RunConditions): ChooseVariant {
  if (points === undefined) return (_row, usual) => usual;
  return (row, usual, status) => {
    const fitting = points.filter((point) => point.row === row && point.status === status);
    const same = fitting.find(({ variant }) => variant === usual);
    // The order of requests makes no difference for a point that applies everywhere.
    return (same ?? (isEverywhere ? fitting[0] : undefined))?.variant ?? "";
  };
}

/** Starts the faults of a run anew with each start of a scenario. */
function createFaults(faults: NonNullable<RunConditions["faults"]>) {
  const started = new WeakMap<Registry, ActiveFault[]>();
  return ({ registry, seed, startedAt }: SandboxState): readonly ActiveFault[] => {
    const active = started.get(registry) ?? activateFaults(faults, seed, startedAt);
    started.set(registry, active);
    return active;
  };
}

function createPlaces(takePlace: TakePlace) {
  const places = new WeakMap<Registry, Map<string, number>>();
  return (key: string, registry: Registry): number => {
    const nthByKey = places.get(registry) ?? new Map<string, number>();
    places.set(registry, nthByKey);
    const nth = nthByKey.get(key) ?? takePlace(key);
    nthByKey.set(key, nth);
    return nth;
  };
}

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
function startExperiment(experiment: Experiment, placeIn: (key: string, registry: Registry) => number) {
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
