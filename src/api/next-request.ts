import type { FaultOutcomeId } from "../rules/fault-effects.js";
import type { PresentedKind } from "../rules/keys/key-text.js";
import { type ApiOutcomeId, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { RoutedCall } from "../sandbox/api-call.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import { profileInEffect } from "../sandbox/profile.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { isReserved } from "../scenario/format/refs.js";
import { me } from "./endpoints/me.js";
import { faultsAhead } from "./fault-facts.js";
import { codeOf } from "./http-messages.js";
import { predictOutcome } from "./predict.js";
import { type RejectionReason, rejectionReason } from "./rejection-reason.js";

/** What the next request with a key gets. */
export interface NextResult extends RejectionReason {
  /** The status without a fault. */
  readonly status: number;
  /** Its error code; `null` on success, and if it varies between responses. */
  readonly code: string | null;
  readonly outcome: ApiOutcomeId;
  /** The faults that may hit this request or a later one like it, each once. */
  readonly faultOutcomes: readonly FaultOutcomeId[];
  /** All this for people: `429 until 09:01:00, or a fault`. */
  readonly sentence: string;
}

/**
 * What the next request with a key would get, and the faults that may hit it: counts and changes nothing.
 * Its ref may also be `none`, `malformed` or `unknown`. Throws `unknown_ref`.
 */
export function nextRequest(sandbox: SandboxState, ref: string, endpoint: Endpoint = me): NextResult {
  const entry = isReserved(ref) ? undefined : sandbox.registry.key(ref);
  const now = sandbox.clock.now();
  const call: RoutedCall = { presented: presentedByRef(ref), entry, now, route: undefined, endpoint };
  const outcome = predictOutcome(sandbox, call);
  const { status } = outcomeRow(outcome);
  const code = predictedCode(sandbox, outcome);

  const faults = faultsAhead(sandbox, call, endpoint.method, outcome);
  const faultOutcomes = [...new Set(faults.map((fault) => fault.outcome))];
  const { why, until } = rejectionReason(sandbox, call, outcome);

  let sentence = String(status);
  // The status says the code, unless it is a 403.
  if (status === 403) sentence += ` ${code}:`;
  if (why !== null) sentence += ` ${why}`;
  if (faultOutcomes.length > 0) sentence += ", or a fault";
  return { status, code, outcome, why, faultOutcomes, sentence, until };
}

function presentedByRef(ref: string): PresentedKind {
  if (ref === "none") return "missing";
  return ref === "malformed" ? "malformed" : "well_formed";
}

/** The error code of an outcome; `null` on success, and for a 429 whose code the profile varies. */
function predictedCode(sandbox: SandboxState, outcome: OutcomeId): string | null {
  const isOfLimit = outcomeRow(outcome).status === 429;
  const isCodeVaried =
    profileInEffect(sandbox) === "varied" && sandbox.ownAssumptions.rate_limit_code === undefined;
  if (isOfLimit && isCodeVaried) return null;
  return codeOf(outcome, sandbox.assumptions);
}
