import { type ConsentAction, isAllowed } from "../../spec/consent.js";
import { SandboxError } from "../../spec/errors.js";
import {
  type AttestationView,
  attestationIn,
  type ConsentEntry,
  indexOf,
  stateOf,
  statusAt,
  viewAttestation,
  viewConsent,
  withDecision,
} from "../preview/consents.js";
import type { SandboxState } from "../sandbox.js";
import type { ConsentView } from "../view-shapes.js";

export type Decision = Exclude<ConsentAction, "cancel">;

/** One request by id, or a farmer's newest request that allows the decision, from one organization or any. */
type ChosenConsent =
  | { readonly id: string }
  | { readonly farmer: number; readonly organization?: string | undefined };

/**
 * Decides a consent request for the farmer, no matter what the farmer's persona would do. Throws `not_found` without
 * the preview, `unknown_ref`, or `consent_not_open` if the request's status does not allow the decision or the farmer
 * has no request. An error changes nothing.
 */
export function decideConsent(
  world: SandboxState,
  { do: decision, ...chosen }: ChosenConsent & { readonly do: Decision },
  now: number,
): { readonly consent: ConsentView } {
  requirePreview(world);
  const entry = chosenConsent(world, chosen, decision, now);
  const status = statusAt(entry, now);
  if (!isAllowed(decision, status)) {
    const message = `Failed to ${decision} the consent request ${entry.id}: it is ${status}.`;
    throw new SandboxError("consent_not_open", message, { id: entry.id, status });
  }
  return { consent: changeConsent(world, entry, withDecision(entry, decision, now), now) };
}

export function changeConsent(
  world: SandboxState,
  entry: ConsentEntry,
  record: ConsentEntry["record"],
  now: number,
): ConsentView {
  entry.record = record;
  const consent = viewConsent(entry, world, now);
  world.history.announce({ type: "consent.changed", consent });
  return consent;
}

/**
 * Suspends an active attestation, or ends its suspension. Throws `not_found` without the preview, `unknown_ref`, or
 * `attestation_not_open` if it is not active (or not suspended). An error changes nothing.
 */
export function suspendAttestation(
  world: SandboxState,
  { id, do: change }: { readonly id: string; readonly do: "suspend" | "resume" },
  now: number,
): { readonly attestation: AttestationView } {
  requirePreview(world);
  const suspended = change === "suspend";
  const attestation = attestationIn(world.consents, id);
  const state = attestation && stateOf(attestation, world, now);
  if (attestation === undefined || state === undefined) throw unknownRecord("attestation", id);
  const { production, validity } = state;
  if (validity !== (suspended ? "active" : "suspended")) {
    const message = `Failed to ${change} the attestation ${id}: it is ${validity ?? production}.`;
    throw new SandboxError("attestation_not_open", message, { id, production, validity });
  }
  const { consent, permission } = attestation;
  const at = Math.max(now, consent.suspensions.at(-1)?.at ?? now);
  consent.suspensions = [...consent.suspensions, { at, permission, suspended }];
  world.history.announce({ type: "consent.changed", consent: viewConsent(consent, world, now) });
  return { attestation: viewAttestation(attestation, world, now) as AttestationView };
}

// Returns a farmer's newest request that allows the decision, or the newest one, which is then rejected.
function chosenConsent(
  { consents }: SandboxState,
  chosen: ChosenConsent,
  decision: Decision,
  now: number,
): ConsentEntry {
  if ("id" in chosen) {
    const entry = indexOf(consents).byId.get(chosen.id);
    if (entry !== undefined) return entry;
    throw unknownRecord("consent request", chosen.id);
  }
  const { farmer, organization } = chosen;
  const requests = consents.filter(
    (entry) => entry.farmer === farmer && (organization === undefined || entry.organization === organization),
  );
  const entry = requests.findLast((one) => isAllowed(decision, statusAt(one, now))) ?? requests.at(-1);
  if (entry !== undefined) return entry;
  const message = `The farmer ${farmer} has no consent request to ${decision}.`;
  throw new SandboxError("consent_not_open", message, { farmer });
}

function unknownRecord(kind: "consent request" | "attestation", id: string): SandboxError {
  const message = `Unknown ${kind} ${JSON.stringify(id)}.`;
  return new SandboxError("unknown_ref", message, { kind, id });
}

/** Throws `not_found` without the preview of the announced endpoints (R49). */
export function requirePreview({ preview, name }: SandboxState): void {
  if (preview) return;
  const message = `The scenario ${JSON.stringify(name)} has no consent requests or attestations: the preview of the announced endpoints is off. Add preview: true to it.`;
  throw new SandboxError("not_found", message);
}
