import { recorded } from "../../../sandbox/operations/operations.js";
import { type SandboxState, type StatePart, stateOfPart } from "../../../sandbox/sandbox.js";
import type { ConsentView } from "../../../sandbox/view-shapes.js";
import { type ConsentAction, consentHistory, isAllowed } from "../../../spec/consent.js";
import { SandboxError } from "../../../spec/errors.js";
import {
  type AttestationView,
  attestationIn,
  attestationStateOf,
  attestationsOf,
  buildConsents,
  type ConsentEntry,
  describeConsents,
  indexOf,
  statusAt,
  viewAttestation,
  viewConsent,
  withDecision,
} from "./consents.js";

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
function decide(
  world: SandboxState,
  { do: decision, ...chosen }: ChosenConsent & { readonly do: Decision },
  now: number,
): { readonly consent: ConsentView } {
  const entry = chosenConsent(consentsOf(world), chosen, decision, now);
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
function suspend(
  world: SandboxState,
  { id, do: change }: { readonly id: string; readonly do: "suspend" | "resume" },
  now: number,
): { readonly attestation: AttestationView } {
  const suspended = change === "suspend";
  const attestation = attestationIn(consentsOf(world), id);
  const state = attestation && attestationStateOf(attestation, world, now);
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
  consents: readonly ConsentEntry[],
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

export const decideConsent = /* @__PURE__ */ recorded("consent", decide);
export const suspendAttestation = /* @__PURE__ */ recorded("attestation", suspend);

/** The consent requests of a sandbox, in order of creation. */
export const consentsPart: StatePart<ConsentEntry[]> = {
  start(scenario, { seed, farmers, start }) {
    // A browser page without the farmers' tables fails here, not in a response.
    farmers.idOf(0);
    return buildConsents(scenario, seed, start);
  },
  snapshot: (consents) => ({ consents: describeConsents(consents) }),
  // Includes the farmers' own decisions, which follow from the record.
  upcoming: (consents) =>
    consents.flatMap(({ id, organization, record }) =>
      consentHistory(record, Number.POSITIVE_INFINITY).map(({ at, status, by }) => {
        const who = by === "farmer" ? " by the farmer" : "";
        return { at, kind: "consent_changes", organization, text: `Consent ${id} is ${status}${who}` };
      }),
    ),
  operations: { consent: decideConsent, attestation: suspendAttestation },
  /** `{farmer.0}` is an index; `{consent.1}` and `{attestation.1}` are counted from 1. */
  idOf(world, kind, number) {
    const { farmers, clock } = world;
    if (kind === "farmer") return number < farmers.count ? farmers.idOf(number) : undefined;
    const consents = consentsOf(world);
    return (kind === "consent" ? consents : attestationsOf(consents, clock.now()))[number - 1]?.id;
  },
};

/** The consent requests of a sandbox. Throws `not_found` without the preview of the announced endpoints (R49). */
export function consentsOf(world: SandboxState): ConsentEntry[] {
  const consents = stateOfPart(world, consentsPart);
  if (consents !== undefined) return consents;
  const message = `The scenario ${JSON.stringify(world.name)} has no consent requests or attestations: the preview of the announced endpoints is off. Add preview: true to it.`;
  throw new SandboxError("not_found", message);
}
