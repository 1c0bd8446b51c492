import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { activateFaults, fireFault } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { ConditionEffect } from "../sandbox/run-trace.js";
import type { SandboxState, WithoutRun } from "../sandbox/sandbox-state.js";
import type { OnRequest } from "./conditions.js";
import { lateResponse, rejectCall, resultOfFault, wrongAnswer } from "./replacements.js";
import { type Moment, momentOf, msTooEarly } from "./too-early.js";

// A client's run may have several processes, such as the workers of a test runner, each with its own sandboxes. Its conditions
// mean one request over all of them. The processes agree on it by claims: a name that only one of them can claim.

/** Claims a name for this process. Returns whether no process of the run had claimed it before. */
export type ClaimOnce = (name: string) => boolean;

/**
 * Gives the request that the conditions mean something in place of its response, and marks it. For the nth request of a key, it
 * also marks the later ones of that key: it knows whether this process has replaced the nth, or another one, or none so far.
 */
export class RequestReplacer {
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
        return fault === undefined ? own.respond() : resultOfFault(sandbox, call, fault);
      }
      case "wrong_answer":
        return wrongAnswer(sandbox, call, own.respond());
      case "late":
        return lateResponse(sandbox, call, gets.seconds);
      case "rejection":
        return rejectCall(sandbox, call, gets);
    }
  }
}
