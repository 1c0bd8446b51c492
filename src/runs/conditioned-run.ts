import { headerPairs } from "../api/http-messages.js";
import { assumptionsKeptFromVarying } from "../api/variation/vary.js";
import { faultKindTable, mainFaultKind } from "../rules/fault-effects.js";
import { minuteEnd } from "../rules/time.js";
import type { ApiCall, CallResult } from "../sandbox/call.js";
import {
  type ActiveFault,
  activateFaults,
  type FaultFacts,
  type FiredFault,
  fireFault,
} from "../sandbox/faults.js";
import type { ConditionedRun, OwnResponse, SandboxState } from "../sandbox/sandbox-state.js";
import type { AfterRejection, ConditionEffect, RunTrace } from "./conditions.js";
import { hidesOutcomes, type OnRequest, type Replacement, type RunConditions } from "./conditions.js";
import { replacementFor, resultOfFault } from "./replacements.js";

// Which requests get something in place of their responses? For each request, these questions come in this order:
// 1. Is a fault of the run due? Then it comes first.
// 2. Does the sandbox's own fault break its response? Then the request gets that fault.
// 3. Is it a request that the conditions choose, by its outcome or by its key?
// 4. Can it get what they give? A fault may be impossible, as with a POST.
// 5. Is it the first one, or the nth one, over all processes? They find out by claims, and a request that would get nothing claims nothing.
//    If it comes after the nth one: is it too early?

/** What a call gets in a run, and what the conditions of the run have done to it. */
interface ConditionedResult {
  readonly result: CallResult;
  /** Default: nothing. */
  readonly effect?: ConditionEffect;
}

/**
 * Puts conditions in front of the sandboxes of a run. `claim`: claims a name for this process, one of several of the run, and returns whether
 * no process had claimed it before. Default: there is only this process.
 */
export function conditionedRun(
  conditions: RunConditions,
  claim: (name: string) => boolean = claimHere(),
): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fireDue = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);

  function conditionedResult(sandbox: SandboxState, call: ApiCall, own: OwnResponse): ConditionedResult {
    const { facts } = own;
    // The faults of the run come first.
    const fired = fireDue(sandbox, call, facts);
    if (fired !== undefined) {
      // Read before the fault's result: it goes by the counts of requests as they are now, and a fault that only delays counts this one.
      const replaced = facts.expectedOutcome();
      return { result: resultOfFault(sandbox, call, fired), effect: { replaced } };
    }

    if (replacer === undefined) return { result: own.respond() };
    return replacer.resultOf(sandbox, call, own);
  }

  return {
    profile,
    hidesOutcomes: hidesOutcomes(conditions),
    rows,
    takeVariantShift: startMixing(mixed),
    resultOf(sandbox, call, own) {
      const { result, effect } = conditionedResult(sandbox, call, own);
      // A client subtracts `Date`, or its own clock, from a date in `Retry-After`. Any other `Date` is of the sandbox's clock, whose minutes
      // clients wait for.
      const hasRetryDate = headerPairs(result.response.headers).some(([name, value]) => {
        return /^retry-after$/i.test(name) && !/^\d+$/.test(value);
      });
      const date = hasRetryDate ? call.date : undefined;
      return { ...result, date, trace: traceOf(sandbox, result, effect) };
    },
  };
}

/** What the run shows with a call. */
function traceOf(
  sandbox: SandboxState,
  { points = [] }: CallResult,
  { replaced, afterRejection }: ConditionEffect = {},
): RunTrace {
  return {
    replaced,
    afterRejection,
    points,
    scenario: sandbox.name,
    // Of the assumptions that the sandbox sets itself, those that the run would vary.
    ownAssumptions: assumptionsKeptFromVarying(sandbox),
  };
}

/** Counts the responses with each status. Each has other variants than the one before it: the first 200 is shifted by 0, the second one by 1. */
function startMixing(mixed: RunConditions["mixed"]): ConditionedRun["takeVariantShift"] {
  const counts = new Map<number, number>();
  return ({ request }, status) => {
    // A 401 must not depend on the requests before it (R14).
    if (!mixed || status === 401) return 0;
    const count = counts.get(status) ?? 0;
    // A request of a story does not count: no client sent it.
    if (!request.fromStory) counts.set(status, count + 1);
    return count;
  };
}

/** Starts the faults of a run. Returns a function that fires the one which is due for a call, if any. */
function startFaults(faults: RunConditions["faults"] = []) {
  // Each scenario that starts has a new registry of keys: the faults then count their requests from the first one again.
  const activeByRegistry = new WeakMap<SandboxState["registry"], ActiveFault[]>();
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined => {
    if (faults.length === 0) return undefined;
    const { registry, seed, startedAt } = sandbox;
    const active = activeByRegistry.get(registry) ?? activateFaults(faults, seed, startedAt);
    activeByRegistry.set(registry, active);
    return fireFault(active, call.number, facts);
  };
}

/** Claims names for a process that has the run for itself. */
function claimHere(): (name: string) => boolean {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/** Gives the request that the conditions choose something in place of its response, and marks it. Any other request gets its own response. */
class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: (name: string) => boolean;
  /** The lowest number of a request that may be free. */
  #nextNumber = 1;
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: (name: string) => boolean) {
    this.#onRequest = onRequest;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, ownResponse: OwnResponse): ConditionedResult {
    const { which, gets } = this.#onRequest;
    if (isBrokenByOwnFault(ownResponse, gets)) return { result: ownResponse.respond() };
    const outcome = ownResponse.facts.expectedOutcome();
    // A client may send a key again to another path, or by another method.
    const isOfKey = "key" in which && call.entry?.key.ref === which.key;
    const isOfOutcome = "outcome" in which && outcome === which.outcome && call.endpoint !== undefined;
    if (!isOfKey && !isOfOutcome) return { result: ownResponse.respond() };
    const replace = replacementFor(sandbox, call, ownResponse, gets);
    if (replace === undefined) return { result: ownResponse.respond() };

    switch (this.#claimPlace(which)) {
      case "other":
        return { result: ownResponse.respond() };
      case "its_turn":
        this.#replacedAt = momentOf(sandbox, call);
        return { result: replace(), effect: { replaced: outcome } };
      case "after_nth": {
        // Its time is read before it is answered, which may take a while.
        const afterRejection = this.#afterRejection(momentOf(sandbox, call));
        return { result: ownResponse.respond(), effect: { afterRejection } };
      }
    }
  }

  #claimPlace(which: OnRequest["which"]): "its_turn" | "after_nth" | "other" {
    if (which.kind !== "nth") {
      const isChosen = which.kind === "each" || this.#claim("first");
      return isChosen ? "its_turn" : "other";
    }
    // Over all processes, each request claims the first number that is free: if A has 1 and B has 2, A tries 2, and then 3.
    while (this.#nextNumber <= which.nth) {
      const number = this.#nextNumber;
      this.#nextNumber += 1;
      if (this.#claim(`request-${number}`)) return number === which.nth ? "its_turn" : "other";
    }
    return "after_nth";
  }

  /** How a request came after the nth one, whose response the run replaced; `undefined` if it came in time. */
  #afterRejection(sent: Moment): AfterRejection | undefined {
    if (this.#replacedAt === undefined) return { kind: "by_other_process" };
    const { gets } = this.#onRequest;
    const seconds = "seconds" in gets ? gets.seconds : undefined;
    const ms = msTooEarly(this.#replacedAt, sent, seconds);
    return ms === undefined ? undefined : { kind: "too_early", ms };
  }
}

/** Whether the sandbox's own fault breaks the response. A fault of the conditions comes in place of it, and anything else after it. */
function isBrokenByOwnFault({ fault }: OwnResponse, gets: Replacement): boolean {
  if (fault === undefined || gets.kind === "fault") return false;
  const { onlyDelays } = faultKindTable[mainFaultKind(fault.effect)];
  return !onlyDelays;
}

type Moment = ReturnType<typeof momentOf>;

/** The time on each clock that a client can wait by: the sandbox's, which a test may move; `Date`, which fake timers may move; and what really passes. */
function momentOf({ clock, platform }: SandboxState, { now, started }: ApiCall) {
  return { clock, now, wall: platform.time(), stopwatch: started };
}

/** Timers may end a little early. */
const toleranceMs = 50;

/**
 * Milliseconds between a rejection and the next request, if that came too early on every clock; `undefined` if it came in time on one. As in
 * 3,900 for a request 3.9 s after a 429 with `Retry-After: 4`. Without `seconds`, the client has to wait until the minute ends.
 */
function msTooEarly(rejected: Moment, sent: Moment, seconds: number | undefined): number | undefined {
  // A sandbox that has started again knows of no rejection.
  if (rejected.clock !== sent.clock) return undefined;

  let needed = minuteEnd(rejected.now) - rejected.now;
  // The client may go by the minute of its own wall clock, which may end earlier.
  let neededOnWall = Math.min(needed, minuteEnd(rejected.wall) - rejected.wall);
  if (seconds !== undefined) {
    needed = seconds * 1000;
    neededOnWall = needed;
  }

  const passed = sent.now - rejected.now;
  const passedOnWall = sent.wall - rejected.wall;
  const reallyPassed = sent.stopwatch - rejected.stopwatch;
  const isInTime =
    passed >= needed - toleranceMs ||
    passedOnWall >= neededOnWall - toleranceMs ||
    reallyPassed >= needed - toleranceMs;
  return isInTime ? undefined : Math.round(Math.max(passed, passedOnWall, reallyPassed));
}
