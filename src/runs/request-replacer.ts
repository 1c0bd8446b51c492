import { isIdempotent } from "../rules/after-fault.js";
import { faultKindTable, mainFaultKind } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { activateFaults } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { fireFault } from "../sandbox/fire-faults.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { ConditionEffect } from "../sandbox/run-trace.js";
import type { SandboxState, WithoutRun } from "../sandbox/sandbox-state.js";
import { ClaimedNumbers, type ClaimOnce } from "./claims.js";
import type { OnRequest } from "./conditions.js";
import { lateResponse, rejectCall, resultOfFault, wrongAnswer } from "./replacements.js";
import { type Moment, momentOf, msTooEarly } from "./too-early.js";

/** What the conditions do with one of the requests that they choose from. `after_nth`: it came after the nth one, of this process or another one. */
type Choice = "chosen" | "not_chosen" | "after_nth";

/**
 * Gives the request that the conditions choose something in place of its response, and marks it. For the nth request of a key, it
 * also marks the later ones of that key.
 */
export class RequestReplacer {
  readonly #onRequest: OnRequest;
  readonly #claim: ClaimOnce;
  /** The numbers of the requests with a key, up to the nth; `undefined` if the conditions choose by the outcome. */
  readonly #numbers: ClaimedNumbers | undefined;
  /** When this process replaced the response to a request; `undefined` if it has not. */
  #replacedAt: Moment | undefined;

  constructor(onRequest: OnRequest, claim: ClaimOnce) {
    this.#onRequest = onRequest;
    this.#claim = claim;
    const { which } = onRequest;
    if (which.kind === "nth") this.#numbers = new ClaimedNumbers(claim, which.nth);
  }

  resultOf(sandbox: SandboxState, call: ApiCall, withoutRun: WithoutRun): CallResult {
    if (this.#isBrokenByOwnFault(withoutRun)) return withoutRun.respond();
    const outcome = withoutRun.facts.expectedOutcome();
    if (!this.#isCandidate(call, outcome)) return withoutRun.respond();

    const choice = this.#choose();
    if (choice === "chosen") {
      this.#replacedAt = momentOf(sandbox, call);
      return { ...this.#replace(sandbox, call, withoutRun), conditionEffect: { replaced: outcome } };
    }

    // Read before the response, which takes time.
    const conditionEffect = choice === "after_nth" ? this.#effectAfterNth(sandbox, call) : undefined;
    return { ...withoutRun.respond(), conditionEffect };
  }

  /** Whether the sandbox's own fault breaks the response. It then comes before the conditions, unless they have a fault as well. */
  #isBrokenByOwnFault({ fault }: WithoutRun): boolean {
    if (fault === undefined || this.#onRequest.gets.kind === "fault") return false;
    const { onlyDelays } = faultKindTable[mainFaultKind(fault.effect)];
    return !onlyDelays;
  }

  /** Whether the conditions choose among requests like this one. */
  #isCandidate({ entry, endpoint, request }: ApiCall, outcome: OutcomeId): boolean {
    const { which, gets } = this.#onRequest;
    if (which.kind === "nth") return entry?.key.ref === which.key && isSuccess(outcome);
    if (outcome !== which.outcome || endpoint === undefined) return false;
    // After a fault it must be possible to send it again, and a response to HEAD has no body that could break.
    return gets.kind !== "fault" || (isIdempotent(request.method) && request.method !== "HEAD");
  }

  #choose(): Choice {
    const { which } = this.#onRequest;
    switch (which.kind) {
      case "each":
        return "chosen";
      case "first":
        return this.#claim("first") ? "chosen" : "not_chosen";
      case "nth": {
        const number = this.#numbers?.claimNext();
        if (number === undefined) return "after_nth";
        return number === which.nth ? "chosen" : "not_chosen";
      }
    }
  }

  /** What the run shows with a request after the nth: whether it came too early. */
  #effectAfterNth(sandbox: SandboxState, call: ApiCall): ConditionEffect {
    // Another process has replaced the response to the nth: only there is known when.
    if (this.#replacedAt === undefined) return { isElsewhere: true };
    const { gets } = this.#onRequest;
    const seconds = "seconds" in gets ? gets.seconds : undefined;
    return { earlyMs: msTooEarly(this.#replacedAt, momentOf(sandbox, call), seconds) };
  }

  /** What the request gets in place of its own response. */
  #replace(sandbox: SandboxState, call: ApiCall, withoutRun: WithoutRun): CallResult {
    const { gets } = this.#onRequest;
    switch (gets.kind) {
      case "fault": {
        const then = gets.effect;
        const active = activateFaults([{ then }], sandbox.seed, sandbox.startedAt);
        const fired = fireFault(active, call.number, withoutRun.facts);
        // What breaks a body does not fire on a response without one.
        return fired === undefined ? withoutRun.respond() : resultOfFault(sandbox, call, fired);
      }
      case "wrong_answer":
        return wrongAnswer(sandbox, call, withoutRun.respond());
      case "late":
        return lateResponse(withoutRun.respond(), gets.seconds);
      case "rejection":
        return rejectCall(sandbox, call, gets);
    }
  }
}
