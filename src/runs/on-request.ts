import { me } from "../api/endpoints/me.js";
import { faultyResult, unavailable } from "../api/fault-responses.js";
import { headerPairs } from "../api/http-messages.js";
import { retryAfterHeader } from "../api/limits.js";
import { renderRejection, renderSuccess, respondToCall } from "../api/respond.js";
import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { activateFaults, fireFault } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Next, SandboxState } from "../sandbox/sandbox-state.js";
import type { OnRequest, Rejection } from "./conditions.js";
import { earlyMs, type Moment, momentOf } from "./early.js";

/** Whether a claim is the first one of its name, in all processes of the run. */
export type ClaimOnce = (name: string) => boolean;

/** Gives the request of a run what its conditions say, and marks it and what follows it. */
export class RequestReplacer {
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

export function markReplaced({ trace }: ApiCall, outcome: OutcomeId): void {
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
  { as, seconds, asDate = false }: Rejection,
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
