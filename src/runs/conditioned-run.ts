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
import type { RunMark } from "../sandbox/run-trace.js";
import type { ConditionedRun, OwnResponse, SandboxState } from "../sandbox/sandbox-state.js";
import { isAnsweredWrongly, type OnRequest, type RejectionOfRun, type RunConditions } from "./conditions.js";

/** Claims a name for this process. Returns whether no process of the run had claimed it before. */
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
    intercept(sandbox, call, own) {
      const fired = fire(sandbox, call, own.facts);
      if (fired !== undefined) {
        // Before a late response, which counts the request.
        const mark = { replaced: own.facts.expectedOutcome() };
        return { ...faultyResult(sandbox, call, fired, true), mark };
      }
      if (replacer === undefined) return own.respond();
      return replacer.resultOf(sandbox, call, own);
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
  // Each start makes a registry.
  const activeIn = cachedBy(
    (_registry: SandboxState["registry"], { seed, startedAt }: SandboxState): readonly ActiveFault[] =>
      activateFaults(faults, seed, startedAt),
  );
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined => {
    if (faults.length === 0) return undefined;
    return fireFault(activeIn(sandbox.registry, sandbox), call.number, facts);
  };
}

/** Gives the request of a run what its conditions say, and marks it and what follows it. */
class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: ClaimOnce;
  /** The number of the latest candidate that this process knows of, over all processes: each claims the number of its own. */
  #latestNumber = 0;
  /** When this process has replaced what a request gets; `undefined` if it has not. */
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: ClaimOnce) {
    this.#onRequest = onRequest;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, own: OwnResponse): CallResult {
    // A fault of the run comes before the sandbox's own, and nothing else does.
    if (own.fault !== undefined && this.#onRequest.gets.kind !== "fault") return own.respond();
    const outcome = own.facts.expectedOutcome();
    if (!this.#isCandidate(call, outcome)) return own.respond();
    if (!this.#claimIt()) {
      const mark = this.#markOfLater(sandbox, call);
      return { ...own.respond(), mark };
    }

    this.#replacedAt = momentOf(sandbox, call);
    return { ...this.#replacement(sandbox, call, own), mark: { replaced: outcome } };
  }

  /** Whether it is one of those that are counted. */
  #isCandidate({ entry, endpoint, request }: ApiCall, outcome: OutcomeId): boolean {
    const { which, gets } = this.#onRequest;
    if (which.kind === "nth") return entry?.key.ref === which.key && isSuccess(outcome);
    if (outcome !== which.outcome || endpoint === undefined) return false;
    // After a fault it must be possible to send it again, and a response to HEAD has no body that could break.
    return gets.kind !== "fault" || (isIdempotent(request.method) && request.method !== "HEAD");
  }

  /** Claims a candidate. Returns whether it is the one that the conditions mean. */
  #claimIt(): boolean {
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

  /** Claims the first number that no process has claimed, and returns it; `undefined` if it is more than `last`. */
  #claimNumber(last: number): number | undefined {
    while (this.#latestNumber < last) {
      this.#latestNumber += 1;
      if (this.#claim(`request-${this.#latestNumber}`)) return this.#latestNumber;
    }
    return undefined;
  }

  #markOfLater(sandbox: SandboxState, call: ApiCall): RunMark | undefined {
    const { which, gets } = this.#onRequest;
    if (which.kind !== "nth") return undefined;
    if (this.#replacedAt !== undefined) {
      const seconds = "seconds" in gets ? gets.seconds : undefined;
      return { earlyMs: earlyMs(this.#replacedAt, momentOf(sandbox, call), seconds) };
    }
    // Another process has claimed the number of the one that is replaced.
    if (this.#latestNumber === which.nth) return { isElsewhere: true };
    return undefined;
  }

  #replacement(sandbox: SandboxState, call: ApiCall, own: OwnResponse): CallResult {
    const { gets } = this.#onRequest;
    switch (gets.kind) {
      case "fault": {
        const then = gets.effect;
        const active = activateFaults([{ then }], sandbox.seed, sandbox.startedAt);
        const fault = fireFault(active, call.number, own.facts);
        if (fault === undefined) return own.respond();
        return faultyResult(sandbox, call, fault, true);
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
        return rejectionOf(gets, sandbox, call);
    }
  }
}

/** The wrong response of a result, which keeps its outcome. */
function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  const wrong = isSuccess(result.outcome)
    ? renderRejection(sandbox, call, { outcome: "401.unknown" })
    : { response: acceptance(sandbox, call), code: null };
  // Nobody gets the response that varied.
  return { ...result, response: wrong.response, code: wrong.code, points: [] };
}

/** The success of a call, as if its key had passed each check. */
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  const caller = entry && { ...entry, usage: { ...entry.usage, dayCount: entry.usage.dayCount + 1 } };
  return renderSuccess(sandbox, call, endpoint, endpoint.respond(caller));
}

function rejectionOf(rejection: RejectionOfRun, sandbox: SandboxState, call: ApiCall): CallResult {
  const { as, seconds, asDate = false } = rejection;
  if (as === "fault.status") return unavailable(sandbox, call, seconds, asDate);

  const { response, ...rejected } = renderRejection(sandbox, call, { outcome: as });
  const headers: string[] = [];
  for (const [name, value] of headerPairs(response.headers)) {
    if (name !== "Retry-After") headers.push(name, value);
  }
  if (seconds === undefined) return { ...rejected, response: { ...response, headers } };

  // The client reads the wall clock, and subtracts `Date` from a date: both are of that clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const now = date ?? call.now;
  headers.push(...retryAfterHeader(now + seconds * 1000, asDate, now));
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

function momentOf({ clock, platform }: SandboxState, { now, started }: ApiCall): Moment {
  return { clock, now, wall: platform.time(), stopwatch: started };
}

/**
 * How long after a rejection a request came, if that was before its time on every clock. Without seconds, the minute must end.
 * A sandbox that starts again knows of no rejection that a client must wait for.
 */
function earlyMs(from: Moment, to: Moment, seconds: number | undefined): number | undefined {
  if (from.clock !== to.clock) return undefined;
  const now = to.now - from.now;
  const wall = to.wall - from.wall;
  const stopwatch = to.stopwatch - from.stopwatch;

  // How long to wait, and on the wall clock, where another minute may end first.
  let due: number;
  let dueOnWall: number;
  if (seconds === undefined) {
    due = minuteEnd(from.now) - from.now;
    dueOnWall = Math.min(due, minuteEnd(from.wall) - from.wall);
  } else {
    due = seconds * 1000;
    dueOnWall = due;
  }

  // On the clock by which it came last.
  const overdue = Math.max(now - due, wall - dueOnWall, stopwatch - due);
  if (overdue >= -toleranceMs) return undefined;
  return Math.round(Math.max(now, wall, stopwatch));
}
