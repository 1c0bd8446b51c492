import { SandboxError } from "../../domain/errors.js";
import { stateOf, viewConsent } from "../consent-views.js";
import type { AttestationPlace } from "../consents.js";
import type { World } from "../world.js";
import { unknownRecord } from "./decide-consent.js";
import { requirePreview } from "./require-preview.js";

/**
 * Suspends an active attestation, or ends its suspension.
 *
 * Throws `not_found` without the preview, `unknown_ref`, or `attestation_not_open` for one that is not active (or not
 * suspended); changes nothing then.
 */
export function suspendAttestation(world: World, id: string, suspended: boolean): AttestationPlace {
  requirePreview(world);
  const place = world.consents.attestation(id);
  const now = world.clock.now();
  const state = place && stateOf(place, world, now);
  if (place === undefined || state === undefined) throw unknownRecord("attestation", id);
  if (state.validity !== (suspended ? "active" : "suspended")) {
    const found = state.validity ?? state.production;
    throw new SandboxError(
      "attestation_not_open",
      `Failed to ${suspended ? "suspend" : "resume"} the attestation ${id}: it is ${found}.`,
      { id, production: state.production, validity: state.validity },
    );
  }
  const { consent, permission } = place;
  const at = Math.max(now, consent.suspensions.at(-1)?.at ?? now);
  consent.suspensions = [...consent.suspensions, { at, permission, suspended }];
  world.events.announce({ type: "consent.changed", consent: viewConsent(consent, world) });
  return place;
}
