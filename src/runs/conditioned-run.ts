import { me } from "../api/endpoints/me.js";
import { faultyResult, unavailable } from "../api/fault-responses.js";
import { headerPairs } from "../api/http-messages.js";
import { retryAfterHeader } from "../api/limits.js";
import { renderRejection, renderSuccess, respondToCall } from "../api/respond.js";
import { cachedBy } from "../rules/cached-by.js";
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
import type { ConditionedRun, Next, SandboxState } from "../sandbox/sandbox-state.js";
import { isAnsweredWrongly, type OnRequest, type RejectionOfRun, type RunConditions } from "./conditions.js";

/** Whether a claim is the first one of its name, in all processes of the run. */
type ClaimOnce = (name: string) => boolean;

/** Returns a claim for the sandboxes of one process. */
function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/** Starts to apply the conditions of a run. */
export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fire = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);
  return {
    profile,
    hidesOutcomes: isAnsweredWrongly(conditions),
    rows,
    shiftOf: startMixing(mixed),
    intercept(sandbox, call, next) {
      const fired = fire(sandbox, call, next.facts);
      if (fired === undefined) return replacer?.resultOf(sandbox, call, next) ?? next.respond();
      // Before a late response, which counts the request.
      markReplaced(call, next.facts.expectedOutcome());
      return faultyResult(sandbox, call, fired, true);
    },
  };
}

/** Starts to count responses, so that each one with a status has the next variants. */
function startMixing(mixed: RunConditions["mixed"]): ConditionedRun["shiftOf"] {
  const counts = new Map<number, number>();
  return ({ request }, status) => {
    // A 401 must not depend on the requests before it (R14).
    if (!mixed || status === 401) return 0;
    const count = counts.get(status) ?? 0;
    // No client sent a story's request.
    if (!request.fromStory) counts.set(status, count + 1);
    return count;
  };
}

/** Starts the faults of a run, which count their requests again with each start of a scenario. */
function startFaults(faults: RunConditions["faults"] = []) {
  const faultsIn = cachedBy(
    (_registry: SandboxState["registry"], { seed, startedAt }: SandboxState): readonly ActiveFault[] =>
      activateFaults(faults, seed, startedAt),
  );
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined =>
    faults.length === 0 ? undefined : fireFault(faultsIn(sandbox.registry, sandbox), call.number, facts);
}

/** Gives the request of a run what its conditions say, and marks it and what follows it. */
class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: ClaimOnce;
  /** The last number that was claimed in the run, as far as this process knows. */
  #number = 0;
  /** When this process has replaced what it gets. */
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: ClaimOnce) {
    this.#onRequest = onRequest;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, next: Next): CallResult {
    // A fault of the run comes before the sandbox's own, and nothing else does.
    if (next.fault !== undefined && this.#onRequest.gets.kind !== "fault") return next.respond();
    const outcome = next.facts.expectedOutcome();
    if (!this.#isCandidate(call, outcome)) return next.respond();
    if (!this.#claimIt()) {
      this.#markLater(sandbox, call);
      return next.respond();
    }
    this.#replacedAt = momentOf(sandbox, call);
    markReplaced(call, outcome);
    return this.#replacement(sandbox, call, next);
  }

  /** Whether it is one of those that are counted. */
  #isCandidate({ entry, endpoint, request: { method } }: ApiCall, outcome: OutcomeId): boolean {
    const { which, gets } = this.#onRequest;
    if (which.kind === "nth") return entry?.key.ref === which.key && isSuccess(outcome);
    if (outcome !== which.outcome || endpoint === undefined) return false;
    // After a fault it must be possible to send it again, and a response to HEAD has no body that could break.
    return gets.kind !== "fault" || (isIdempotent(method) && method !== "HEAD");
  }

  #claimIt(): boolean {
    const { which } = this.#onRequest;
    if (which.kind !== "nth") return which.kind === "each" || this.#claim("first");
    const { nth } = which;
    while (this.#number < nth) {
      this.#number += 1;
      if (this.#claim(`request-${this.#number}`)) return this.#number === nth;
    }
    return false;
  }

  #markLater(sandbox: SandboxState, call: ApiCall): void {
    const { which, gets } = this.#onRequest;
    if (call.trace === undefined || which.kind !== "nth") return;
    const seconds = "seconds" in gets ? gets.seconds : undefined;
    if (this.#replacedAt !== undefined)
      call.trace.earlyMs = earlyMs(this.#replacedAt, momentOf(sandbox, call), seconds);
    else if (this.#number === which.nth) call.trace.isElsewhere = true;
  }

  #replacement(sandbox: SandboxState, call: ApiCall, next: Next): CallResult {
    const { gets } = this.#onRequest;
    switch (gets.kind) {
      case "fault": {
        const { effect: then } = gets;
        const fault = fireFault(
          activateFaults([{ then }], sandbox.seed, sandbox.startedAt),
          call.number,
          next.facts,
        );
        return fault === undefined ? next.respond() : faultyResult(sandbox, call, fault, true);
      }
      case "wrong_answer":
        return wrongAnswer(sandbox, call, next.respond());
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
        return rejectionOf(gets, sandbox, call);
    }
  }
}

function markReplaced({ trace }: ApiCall, outcome: OutcomeId): void {
  if (trace !== undefined) trace.replaced = outcome;
}

/** The wrong response of a result, which keeps its outcome. */
function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  const { response, code } = isSuccess(result.outcome)
    ? renderRejection(sandbox, call, { outcome: "401.unknown" })
    : { response: acceptance(sandbox, call), code: null };
  // Nobody gets the response that varied.
  call.trace?.points.splice(0);
  return { ...result, response, code };
}

// As if the key had passed each check.
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  const caller = entry && { ...entry, usage: { ...entry.usage, dayCount: entry.usage.dayCount + 1 } };
  return renderSuccess(sandbox, call, endpoint, endpoint.respond(caller));
}

function rejectionOf(
  { as, seconds, asDate = false }: RejectionOfRun,
  sandbox: SandboxState,
  call: ApiCall,
): CallResult {
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

const momentOf = ({ clock, platform }: SandboxState, { now, started }: ApiCall): Moment => ({
  clock,
  now,
  wall: platform.time(),
  stopwatch: started,
});

/**
 * How long after a rejection a request came, if that was before its time on every clock. Without seconds, the minute must end.
 * A sandbox that starts again knows of no rejection that a client must wait for.
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
