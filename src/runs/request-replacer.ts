import { faultKindTable, mainFaultKind } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { minuteEnd } from "../rules/time.js";
import type { ApiCall } from "../sandbox/call.js";
import type { OwnResponse, SandboxState } from "../sandbox/sandbox-state.js";
import type { OnRequest, Replacement, WhichRequest } from "./conditions.js";
import { replacementFor } from "./replacements.js";
import type { AfterRejection, ConditionedResult } from "./run-trace.js";

// For each request, these questions come in this order:
// 1. Does the sandbox's own fault break its response? Then the fault comes first, and the request gets it.
// 2. Is it a request that the conditions choose, by its outcome or by its key?
// 3. Can it get what they give? A fault may be impossible, as with a POST.
// 4. Is it the first one, or the nth one, over all processes? They find out by claims, and a request that would get nothing claims nothing.
//    If it comes after the nth one: is it too early?

/** Claims a name for this process, one of several of the run. Returns whether no process had claimed it before. */
export type ClaimOnce = (name: string) => boolean;

export function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/** Gives the request that the conditions choose something in place of its response, and marks it. Any other request gets its own response. */
export class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: ClaimOnce;
  /** The lowest number of a request that may be free. */
  #nextNumber = 1;
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: ClaimOnce) {
    this.#onRequest = onRequest;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, ownResponse: OwnResponse): ConditionedResult {
    const { which, gets } = this.#onRequest;
    if (isBrokenByOwnFault(ownResponse, gets)) return { result: ownResponse.respond() };
    const outcome = ownResponse.facts.expectedOutcome();
    if (!chooses(which, call, outcome)) return { result: ownResponse.respond() };
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

  #claimPlace(which: WhichRequest): "its_turn" | "after_nth" | "other" {
    if (which.kind === "nth") {
      const number = this.#claimNumber(which.nth);
      if (number === undefined) return "after_nth";
      return number === which.nth ? "its_turn" : "other";
    }
    if (which.kind === "every_other") {
      const number = this.#claimNumber(Number.POSITIVE_INFINITY) as number; // there is no last one
      return number % 2 === 1 ? "its_turn" : "other";
    }
    const isChosen = which.kind === "each" || this.#claim("first");
    return isChosen ? "its_turn" : "other";
  }

  /** Claims the first number that is free, from 1, over all processes; `undefined` after the last one. If A has 1 and B has 2, A tries 2, and then 3. */
  #claimNumber(last: number): number | undefined {
    while (this.#nextNumber <= last) {
      const number = this.#nextNumber;
      this.#nextNumber += 1;
      if (this.#claim(`request-${number}`)) return number;
    }
    return undefined;
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

function chooses(which: WhichRequest, { entry, endpoint }: ApiCall, outcome: OutcomeId): boolean {
  if ("key" in which) return entry?.key.ref === which.key && isSuccess(outcome);
  return outcome === which.outcome && endpoint !== undefined;
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
