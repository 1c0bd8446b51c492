import type { ApiOutcomeId } from "../rules/outcomes.js";
import type { ApiCall, RoutedCall } from "../sandbox/api-call.js";
import type { CallResult } from "../sandbox/journal/call-result.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { decide } from "./decide.js";
import { respondToCall } from "./respond.js";

// To decide a call is to count it, in the usage of its key (R24). A prediction decides with a copy of the key's entry: the copy is
// counted, so that a success shows the usage with this call, and the sandbox's own entry stays as it is.

/** The outcome that a call would have. Counts and changes nothing. */
export function predictOutcome(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  return decide(sandbox, withCopiedEntry(call)).outcome;
}

/**
 * Responds to a call without counting it for its key: for a response that a fault cuts, so that the client does not get it. A run
 * of a client still counts it among the responses that it varies.
 */
export function respondUncounted(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  return respondToCall(sandbox, withCopiedEntry(call));
}

function withCopiedEntry<Call extends RoutedCall>(call: Call): Call {
  const { entry } = call;
  if (entry === undefined) return call;
  return { ...call, entry: { ...entry, usage: structuredClone(entry.usage) } };
}
