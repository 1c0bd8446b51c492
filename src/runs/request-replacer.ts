import { faultKindTable, isIdempotent, mainFaultKind } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { activateFaults } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { fireFault } from "../sandbox/fire-faults.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { SandboxState, UsualCourse } from "../sandbox/sandbox-state.js";
import type { OnRequest } from "./conditions.js";
import { lateResponse, rejectCall, resultOfFault, wrongAnswer } from "./replacements.js";
import { type Moment, momentOf, msTooEarly } from "./too-early.js";

// A client's run may have several processes, such as the workers of a test runner, each with its own sandboxes. Its conditions
// mean one request over all of them. The processes agree on it by claims: a name that only one of them can claim.

/** Claims a name for this process. Returns whether no process of the run had claimed it before. */
export type ClaimOnce = (name: string) => boolean;

/** Where a request stands among those that the conditions choose from. `after_nth`: it came after the nth one, of this process or another one. */
type Standing = "meant" | "not_meant" | "after_nth";

/**
 * Gives the request that the conditions mean something in place of its response, and marks it. For the nth request of a key, it
 * also marks the later ones of that key.
 */
export class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: ClaimOnce;
  /** The lowest number that may be free. Each request with the key claims one, over all processes, up to the nth. */
  #nextNumber = 1;
  /** When this process replaced the response to a request; `undefined` if it has not. */
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: ClaimOnce) {
    this.#onRequest = onRequest;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, usualCourse: UsualCourse): CallResult {
    if (this.#isLeftToOwnFault(usualCourse)) return usualCourse.respond();
    const outcome = usualCourse.facts.expectedOutcome();
    if (!this.#isCandidate(call, outcome)) return usualCourse.respond();

    const standing = this.#claimStanding();
    if (standing === "meant") {
      this.#replacedAt = momentOf(sandbox, call);
      return { ...this.#replace(sandbox, call, usualCourse), conditionEffect: { replaced: outcome } };
    }

    // Read before the response, which takes time.
    const conditionEffect = standing === "after_nth" ? this.#effectAfterNth(sandbox, call) : undefined;
    return { ...usualCourse.respond(), conditionEffect };
  }

  /** Whether the sandbox's own fault hits the request: only a fault of the run comes before it. One that only delays leaves the outcome. */
  #isLeftToOwnFault({ fault }: UsualCourse): boolean {
    if (fault === undefined || this.#onRequest.gets.kind === "fault") return false;
    return !faultKindTable[mainFaultKind(fault.effect)].onlyDelays;
  }

  /** Whether the conditions choose among requests like this one. */
  #isCandidate({ entry, endpoint, request }: ApiCall, outcome: OutcomeId): boolean {
    const { which, gets } = this.#onRequest;
    if (which.kind === "nth") return entry?.key.ref === which.key && isSuccess(outcome);
    if (outcome !== which.outcome || endpoint === undefined) return false;
    // After a fault it must be possible to send it again, and a response to HEAD has no body that could break.
    return gets.kind !== "fault" || (isIdempotent(request.method) && request.method !== "HEAD");
  }

  #claimStanding(): Standing {
    const { which } = this.#onRequest;
    switch (which.kind) {
      case "each":
        return "meant";
      case "first":
        return this.#claim("first") ? "meant" : "not_meant";
      case "nth":
        return this.#claimNumber(which.nth);
    }
  }

  /** Claims the first number from 1 to `nth` that no process has. The request that gets `nth` is meant; one that gets none came later. */
  #claimNumber(nth: number): Standing {
    while (this.#nextNumber <= nth) {
      const number = this.#nextNumber;
      this.#nextNumber += 1;
      if (!this.#claim(`request-${number}`)) continue;
      return number === nth ? "meant" : "not_meant";
    }
    return "after_nth";
  }

  /** What the run shows with a request after the nth: whether it came too early. */
  #effectAfterNth(sandbox: SandboxState, call: ApiCall): NonNullable<CallResult["conditionEffect"]> {
    // Another process has replaced the response to the nth.
    if (this.#replacedAt === undefined) return { isElsewhere: true };
    const { gets } = this.#onRequest;
    const seconds = "seconds" in gets ? gets.seconds : undefined;
    return { earlyMs: msTooEarly(this.#replacedAt, momentOf(sandbox, call), seconds) };
  }

  /** What the request gets in place of its own response. */
  #replace(sandbox: SandboxState, call: ApiCall, usualCourse: UsualCourse): CallResult {
    const { gets } = this.#onRequest;
    switch (gets.kind) {
      case "fault": {
        const then = gets.effect;
        const active = activateFaults([{ then }], sandbox.seed, sandbox.startedAt);
        const fault = fireFault(active, call.number, usualCourse.facts);
        return fault === undefined ? usualCourse.respond() : resultOfFault(sandbox, call, fault);
      }
      case "wrong_answer":
        return wrongAnswer(sandbox, call, usualCourse.respond());
      case "late":
        return lateResponse(usualCourse.respond(), gets.seconds);
      case "rejection":
        return rejectCall(sandbox, call, gets);
    }
  }
}
