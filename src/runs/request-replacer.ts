import { faultKindTable, mainFaultKind } from "../rules/fault-effects.js";
import { isSuccess } from "../rules/outcomes.js";
import type { ApiCall } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { ClaimedNumbers, type ClaimOnce } from "./claims.js";
import type { NthRequest, OnRequest, Replacement, RequestByOutcome } from "./conditions.js";
import { replacementFor } from "./replacements.js";
import type { AfterRejection, ConditionedResult, OwnResponse } from "./run-trace.js";
import { type Moment, momentOf, msTooEarly } from "./too-early.js";

// For each request, these questions come in this order:
// 1. Does the sandbox's own fault break its response? Then the fault comes first, and the request gets it.
// 2. Is it a request that the conditions choose, by its outcome or by its key?
// 3. Can it get what they give? A fault may be impossible, as with a POST.
// 4. Is it the first one, or the nth one, over all processes? They find out by claims, and a request that would get nothing claims nothing.

/** Gives the request that the conditions choose something in place of its response, and marks it. Any other request gets its own response. */
interface RequestReplacer {
  resultOf(sandbox: SandboxState, call: ApiCall, ownResponse: OwnResponse): ConditionedResult;
}

/** Makes the replacer of a run's conditions. */
export function requestReplacer({ which, gets }: OnRequest, claim: ClaimOnce): RequestReplacer {
  if (which.kind === "nth") return new NthReplacer(which, gets, claim);
  return new OutcomeReplacer(which, gets, claim);
}

/** Replaces the responses to requests with one outcome: each of them, or the first one. */
class OutcomeReplacer implements RequestReplacer {
  readonly #which: RequestByOutcome;
  readonly #gets: Replacement;
  readonly #claim: ClaimOnce;

  constructor(which: RequestByOutcome, gets: Replacement, claim: ClaimOnce) {
    this.#which = which;
    this.#gets = gets;
    this.#claim = claim;
  }

  resultOf(sandbox: SandboxState, call: ApiCall, ownResponse: OwnResponse): ConditionedResult {
    if (isBrokenByOwnFault(ownResponse, this.#gets)) return { result: ownResponse.respond() };
    const outcome = ownResponse.facts.expectedOutcome();
    const isChosen = outcome === this.#which.outcome && call.endpoint !== undefined;
    if (!isChosen) return { result: ownResponse.respond() };

    // A request that cannot get it leaves the place of the first one free.
    const replacement = replacementFor(sandbox, call, ownResponse, this.#gets);
    if (replacement.kind === "impossible") return { result: ownResponse.respond() };
    if (this.#which.kind === "first" && !this.#claim("first")) return { result: ownResponse.respond() };
    return { result: replacement.respond(), effect: { replaced: outcome } };
  }
}

/** Replaces the response to the nth accepted request with a key, and marks later requests with it that come too early. */
class NthReplacer implements RequestReplacer {
  readonly #which: NthRequest;
  readonly #gets: Replacement;
  /** The numbers of the accepted requests with the key, up to the nth. */
  readonly #numbers: ClaimedNumbers;
  /** When this process replaced the response to the nth one; `undefined` if it has not. */
  #replacedAt: Moment | undefined;

  constructor(which: NthRequest, gets: Replacement, claim: ClaimOnce) {
    this.#which = which;
    this.#gets = gets;
    this.#numbers = new ClaimedNumbers(claim, which.nth);
  }

  resultOf(sandbox: SandboxState, call: ApiCall, ownResponse: OwnResponse): ConditionedResult {
    if (isBrokenByOwnFault(ownResponse, this.#gets)) return { result: ownResponse.respond() };
    const outcome = ownResponse.facts.expectedOutcome();
    const isCounted = call.entry?.key.ref === this.#which.key && isSuccess(outcome);
    if (!isCounted) return { result: ownResponse.respond() };

    const replacement = replacementFor(sandbox, call, ownResponse, this.#gets);
    if (replacement.kind === "impossible") return { result: ownResponse.respond() };
    const number = this.#numbers.claimNext();
    if (number === undefined) {
      // All numbers are claimed: the request came after the nth one. Its time is read before it is answered, which may take a while.
      const afterRejection = this.#afterRejection(sandbox, call);
      return { result: ownResponse.respond(), effect: { afterRejection } };
    }

    if (number < this.#which.nth) return { result: ownResponse.respond() };
    this.#replacedAt = momentOf(sandbox, call);
    return { result: replacement.respond(), effect: { replaced: outcome } };
  }

  /** How a request came after the nth one, whose response the run replaced; `undefined` if it came in time. */
  #afterRejection(sandbox: SandboxState, call: ApiCall): AfterRejection | undefined {
    if (this.#replacedAt === undefined) return { kind: "by_other_process" };
    const gets = this.#gets;
    const seconds = "seconds" in gets ? gets.seconds : undefined;
    const ms = msTooEarly(this.#replacedAt, momentOf(sandbox, call), seconds);
    return ms === undefined ? undefined : { kind: "too_early", ms };
  }
}

/** Whether the sandbox's own fault breaks the response and comes before what the conditions give. */
function isBrokenByOwnFault({ fault }: OwnResponse, gets: Replacement): boolean {
  if (fault === undefined) return false;
  // A fault of the conditions comes in place of the sandbox's own one.
  if (gets.kind === "fault") return false;
  const { onlyDelays } = faultKindTable[mainFaultKind(fault.effect)];
  return !onlyDelays;
}
