import { me } from "../api/endpoints/me.js";
import { failureOf, faultyResult } from "../api/fault-responses.js";
import { headerPairs, utf8Length } from "../api/http-messages.js";
import { retryAfterHeader } from "../api/limits.js";
import { renderRejection, renderSuccess, respondToCall } from "../api/respond.js";
import { cachedByObject } from "../rules/cached-by.js";
import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { minuteEnd } from "../rules/time.js";
import {
  type ActiveFault,
  activateFaults,
  type FaultFacts,
  type FiredFault,
  fireFault,
} from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { ConditionEffect } from "../sandbox/run-trace.js";
import type { ConditionedRun, SandboxState, WithoutRun } from "../sandbox/sandbox-state.js";
import { isAnsweredWrongly, type OnRequest, type RejectionOfRun, type RunConditions } from "./conditions.js";

// A client's run may have several processes, such as the workers of a test runner, each with its own sandboxes. Its conditions
// mean one request over all of them. The processes agree on it by claims: a name that only one of them can claim.

/** Claims a name for this process. Returns whether no process of the run had claimed it before. */
type ClaimOnce = (name: string) => boolean;

/** Timers may end a little early. */
const toleranceMs = 50;

/** Starts to apply the conditions of a run. Default of `claim`: the run has only this process. */
export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fire = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);
  return {
    profile,
    hidesOutcomes: isAnsweredWrongly(conditions),
    rows,
    nextShift: startMixing(mixed),
    intercept(sandbox, call, own) {
      // The faults of the run come first.
      const fired = fire(sandbox, call, own.facts);
      if (fired !== undefined) {
        // Read before a late response, which counts the request.
        const conditionEffect = { replaced: own.facts.expectedOutcome() };
        return { ...resultOfFault(sandbox, call, fired), conditionEffect };
      }

      if (replacer === undefined) return own.respond();
      return replacer.resultOf(sandbox, call, own);
    },
  };
}

/** Returns a claim among the sandboxes of one process. */
function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/** Starts to count responses, so that each one with a status has the next variants. */
function startMixing(mixed: RunConditions["mixed"]): ConditionedRun["nextShift"] {
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
  // A scenario that starts has a new registry, and its faults count their requests again.
  const activeSinceStart = cachedByObject(
    (_registry: SandboxState["registry"], { seed, startedAt }: SandboxState): readonly ActiveFault[] =>
      activateFaults(faults, seed, startedAt),
  );
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined => {
    if (faults.length === 0) return undefined;
    return fireFault(activeSinceStart(sandbox.registry, sandbox), call.number, facts);
  };
}

/**
 * Gives the request that the conditions mean something in place of its response, and marks it. For the nth request of a key, it
 * also marks the later ones of that key: it knows whether this process has replaced the nth, or another one, or none so far.
 */
class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: ClaimOnce;
  /** The highest number of a candidate, over all processes, that this process knows of: each process claims the numbers of its own. */
  #latestNumber = 0;
  /** When this process has replaced what a request gets; `undefined` if it has not. */
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: ClaimOnce) {
    this.#onRequest = onRequest;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, own: WithoutRun): CallResult {
    // A fault of the run comes before the sandbox's own, and nothing else does.
    if (own.fault !== undefined && this.#onRequest.gets.kind !== "fault") return own.respond();
    const outcome = own.facts.expectedOutcome();
    if (!this.#isCandidate(call, outcome)) return own.respond();

    if (!this.#claimCandidate()) {
      // Read before the response, which takes time.
      const conditionEffect = this.#effectOnOther(sandbox, call);
      return { ...own.respond(), conditionEffect };
    }

    this.#replacedAt = momentOf(sandbox, call);
    return { ...this.#replace(sandbox, call, own), conditionEffect: { replaced: outcome } };
  }

  /** Whether the conditions choose among requests like this one. */
  #isCandidate({ entry, endpoint, request }: ApiCall, outcome: OutcomeId): boolean {
    const { which, gets } = this.#onRequest;
    if (which.kind === "nth") return entry?.key.ref === which.key && isSuccess(outcome);
    if (outcome !== which.outcome || endpoint === undefined) return false;
    // After a fault it must be possible to send it again, and a response to HEAD has no body that could break.
    return gets.kind !== "fault" || (isIdempotent(request.method) && request.method !== "HEAD");
  }

  /** Claims a candidate. Returns whether it is the request that the conditions mean. */
  #claimCandidate(): boolean {
    const { which } = this.#onRequest;
    switch (which.kind) {
      case "each":
        return true;
      case "first":
        return this.#claim("first");
      case "nth":
        return this.#claimNumber(which.nth) === which.nth;
    }
  }

  /** Claims the first number that no process has claimed, and returns it; `undefined` if all numbers up to `last` are claimed. */
  #claimNumber(last: number): number | undefined {
    while (this.#latestNumber < last) {
      this.#latestNumber += 1;
      if (this.#claim(`request-${this.#latestNumber}`)) return this.#latestNumber;
    }
    return undefined;
  }

  /** What the conditions do to a candidate that is not meant: whether it came too early after the one that is. */
  #effectOnOther(sandbox: SandboxState, call: ApiCall): ConditionEffect | undefined {
    const { which, gets } = this.#onRequest;
    if (which.kind !== "nth") return undefined;

    if (this.#replacedAt !== undefined) {
      const seconds = "seconds" in gets ? gets.seconds : undefined;
      return { earlyMs: msTooEarly(this.#replacedAt, momentOf(sandbox, call), seconds) };
    }
    // All numbers are claimed, and this process has replaced nothing: another one has.
    if (this.#latestNumber === which.nth) return { isElsewhere: true };
    return undefined;
  }

  /** What the request gets in place of its own response. */
  #replace(sandbox: SandboxState, call: ApiCall, own: WithoutRun): CallResult {
    const { gets } = this.#onRequest;
    switch (gets.kind) {
      case "fault": {
        const then = gets.effect;
        const active = activateFaults([{ then }], sandbox.seed, sandbox.startedAt);
        const fault = fireFault(active, call.number, own.facts);
        if (fault === undefined) return own.respond();
        return resultOfFault(sandbox, call, fault);
      }
      case "wrong_answer":
        return wrongAnswer(sandbox, call, own.respond());
      case "late":
        return {
          ...respondToCall(sandbox, call),
          delivery: {
            delayMs: gets.seconds * 1000,
            kind: "send",
            isWhole: true,
            cutAfter: undefined,
            bytesPerSecond: undefined,
          },
        };
      case "rejection":
        return rejectCall(sandbox, call, gets);
    }
  }
}

/** What a call gets from a fault of the run, which sends a slow body in about a second. */
function resultOfFault(sandbox: SandboxState, call: ApiCall, fired: FiredFault): CallResult {
  const result = faultyResult(sandbox, call, fired);
  const { delivery } = result;
  if (delivery?.bytesPerSecond === undefined) return result;
  // An empty body has no parts, so its rate of 0 does not matter.
  const bytesPerSecond = utf8Length(result.response.body);
  return { ...result, delivery: { ...delivery, bytesPerSecond } };
}

/** A wrong response in place of the one of a result, which keeps its outcome: a 401 for a success, a success for anything else. */
function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  const wrong = isSuccess(result.outcome)
    ? renderRejection(sandbox, call, { outcome: "401.unknown" })
    : { response: acceptance(sandbox, call), code: null };
  // Nobody gets the response that varied.
  return { ...result, response: wrong.response, code: wrong.code, points: [] };
}

/** The success of a call, as if its key had passed each check and the request was counted. */
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  if (entry === undefined) return renderSuccess(sandbox, call, endpoint, endpoint.example());
  const counted = { ...entry, usage: { ...entry.usage, dayCount: entry.usage.dayCount + 1 } };
  return renderSuccess(sandbox, call, endpoint, endpoint.respond(counted));
}

/** Rejects a call as the conditions say, with their `Retry-After` or without one. */
function rejectCall(sandbox: SandboxState, call: ApiCall, rejection: RejectionOfRun): CallResult {
  const { as, seconds, asDate = false } = rejection;
  // The client reads the wall clock, and subtracts `Date` from a date: both are of that clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const now = date ?? call.now;

  if (as === "fault.status") {
    const effect = seconds === undefined ? {} : { retryAfter: { seconds, asDate } };
    const { response, code } = failureOf({ ...call, now }, effect);
    return { response, code, date, outcome: as, fault: as };
  }

  const { response, ...rejected } = renderRejection(sandbox, call, { outcome: as });
  const headers: string[] = [];
  for (const [name, value] of headerPairs(response.headers)) {
    if (name !== "Retry-After") headers.push(name, value);
  }
  if (seconds !== undefined) headers.push(...retryAfterHeader(now + seconds * 1000, asDate, now));
  return { ...rejected, response: { ...response, headers }, date };
}

/** A point in time on each clock that a client can wait by, in milliseconds. */
interface Moment {
  /** The sandbox's clock, a new one with each start of a sandbox. */
  readonly clock: object;
  /** The time of that clock, which a test may move. */
  readonly now: number;
  /** The time of `Date`, which fake timers may move. */
  readonly wall: number;
  /** The time that really passes. */
  readonly stopwatch: number;
}

function momentOf({ clock, platform }: SandboxState, { now, started }: ApiCall): Moment {
  return { clock, now, wall: platform.time(), stopwatch: started };
}

/**
 * How long after a rejection a request came, if that was too early on every clock. The client has to wait for some seconds, or
 * without them until the minute ends. A sandbox that starts again knows of no rejection that a client must wait for.
 */
function msTooEarly(rejected: Moment, sent: Moment, seconds: number | undefined): number | undefined {
  if (rejected.clock !== sent.clock) return undefined;
  const passed = sent.now - rejected.now;
  const passedOnWall = sent.wall - rejected.wall;
  const passedReally = sent.stopwatch - rejected.stopwatch;

  // How long to wait, also on the wall clock, where another minute may end first.
  let wait: number;
  let waitOnWall: number;
  if (seconds === undefined) {
    wait = minuteEnd(rejected.now) - rejected.now;
    waitOnWall = Math.min(wait, minuteEnd(rejected.wall) - rejected.wall);
  } else {
    wait = seconds * 1000;
    waitOnWall = wait;
  }

  // The clock on which it came last decides: a client may wait by any of them.
  const overdue = Math.max(passed - wait, passedOnWall - waitOnWall, passedReally - wait);
  if (overdue >= -toleranceMs) return undefined;
  return Math.round(Math.max(passed, passedOnWall, passedReally));
}
