import type { FaultEffects } from "../rules/fault-effects.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { ActiveFault } from "./active-faults.js";
import { chanceFrom, drawLatency } from "./fault-chances.js";

// Each request asks all active faults in order, and has the first that fires.
//
// What a fault does to a request depends on its own count, on the number of the request and on its position in the list, never on
// what another fault does. So a fault also counts the requests on which an earlier fault fires, and its chances come from salts of
// its position: a fault that is added or removed behind it does not change them. A question about the next request
// (`effectsAhead`) counts nothing.

/** What a fault does to one request. */
export interface FiredFault {
  readonly effect: FaultEffects;
  /** Milliseconds of real time. */
  readonly latency: number;
}

/** What a fault does to requests that are still to come. */
interface EffectAhead {
  readonly effect: FaultEffects;
  /** Whether the fault fires on each of them, and not only on some. */
  readonly isCertain: boolean;
}

/** What decides which faults match a request. */
export interface FaultFacts {
  /** The refs of its key and of that key's organization. */
  readonly key: string | undefined;
  readonly organization: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The outcome of the request without a fault; computed only if needed. */
  readonly expectedOutcome: () => OutcomeId;
  /** Whether its method is HEAD, to which no response has a body. */
  readonly isHead: boolean;
  /** Whether its response without a fault has a body, unless it is HEAD; computed only if needed. */
  readonly hasUsualBody: () => boolean;
}

/** The first fault that fires on a request. Each fault counts the request if it has an effect on it, also after another fault has fired. */
export function fireFault(
  active: readonly ActiveFault[],
  requestNumber: number,
  facts: FaultFacts,
): FiredFault | undefined {
  let fired: FiredFault | undefined;
  for (const fault of active) {
    const effect = matchingEffect(fault, facts);
    if (effect === undefined) continue;
    fault.matched += 1;
    if (fired !== undefined) continue;

    const drawn = chanceFrom(fault.salts.chance, requestNumber);
    if (drawn < probabilityOn(fault.when, fault.matched)) {
      fired = { effect, latency: drawLatency(fault, requestNumber) };
    }
  }
  return fired;
}

/** The effects that a request with these facts may get, the next one or a later one. None comes after a certain one. */
export function effectsAhead(active: readonly ActiveFault[], facts: FaultFacts): EffectAhead[] {
  const ahead: EffectAhead[] = [];
  for (const fault of active) {
    if (isUsedUp(fault)) continue;
    const effect = matchingEffect(fault, facts);
    if (effect === undefined) continue;

    const { every = 1, requests, probability = 1 } = fault.when;
    const isCertain = every === 1 && requests === undefined && probability === 1;
    ahead.push({ effect, isCertain });
    if (isCertain) break;
  }
  return ahead;
}

/**
 * The effect that a fault has on a request if it fires; `undefined` if the request does not match its condition, or if the fault
 * only breaks bodies and the response has none. Such a request is not counted by the fault.
 */
function matchingEffect(fault: ActiveFault, facts: FaultFacts): FaultEffects | undefined {
  if (!isMatching(fault.when, facts)) return undefined;
  const { effect } = fault;
  const breaksBody = effect.truncate || effect.malformed;
  if (!breaksBody || hasBody(effect, facts)) return effect;

  // There is no body to break. The other effects are left, if there are any.
  const { truncate, malformed, ...otherEffects } = effect;
  const isAnyLeft = Object.values(otherEffects).some(Boolean);
  return isAnyLeft ? otherEffects : undefined;
}

/** Whether the response to a request has a body: its usual one, or the error of an effect that sets the status. */
function hasBody({ status }: FaultEffects, { isHead, hasUsualBody }: FaultFacts): boolean {
  if (isHead) return false;
  const isErrorOfFault = status !== undefined;
  return isErrorOfFault || hasUsualBody();
}

/** Whether the request itself matches: its key, its time, its outcome. */
function isMatching(when: ActiveFault["when"], facts: FaultFacts): boolean {
  if (when.key !== undefined && when.key !== facts.key) return false;
  if (when.organization !== undefined && when.organization !== facts.organization) return false;
  if (when.after !== undefined && facts.now < when.after) return false;
  if (when.until !== undefined && facts.now >= when.until) return false;
  // Last, because the outcome is computed for it.
  return when.outcome === undefined || when.outcome === facts.expectedOutcome();
}

/** How probable it is, from 0 to 1, that a fault fires on its `nth` matching request. */
function probabilityOn(when: ActiveFault["when"], nth: number): number {
  const { every, requests, probability = 1 } = when;
  if (every !== undefined && nth % every !== 0) return 0;
  if (requests !== undefined && !requests.includes(nth)) return 0;
  return probability;
}

/** Whether a fault fires on no later request: its probability is 0, or each of its `requests` has come. */
function isUsedUp(fault: ActiveFault): boolean {
  const { probability, requests, every = 1 } = fault.when;
  if (probability === 0) return true;
  if (requests === undefined) return false;
  const isComing = requests.some((number) => number > fault.matched && number % every === 0);
  return !isComing;
}
