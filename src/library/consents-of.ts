import {
  type AttestationView,
  attestationsOf,
  type ConsentView,
  viewAttestation,
  viewConsent,
} from "../sandbox/consent-views.js";
import { type Decision, decideConsent } from "../sandbox/lifecycle/decide-consent.js";
import { requirePreview } from "../sandbox/lifecycle/require-preview.js";
import { suspendAttestation } from "../sandbox/lifecycle/suspend-attestation.js";
import type { World } from "../sandbox/world.js";
import type { SandboxAttestations, SandboxConsents } from "./sandbox.js";

/** The consent requests of the world that runs at the time. */
export function consentsOf(world: () => World): SandboxConsents {
  const decide = (decision: Decision) => (id: string) => {
    const entry = decideConsent(world(), id, decision);
    return viewConsent(entry, world());
  };
  return {
    list(): ConsentView[] {
      const running = world();
      requirePreview(running);
      return running.consents.all.map((entry) => viewConsent(entry, running));
    },
    grant: decide("grant"),
    reject: decide("reject"),
    revoke: decide("revoke"),
  };
}

/** The attestations of the world that runs at the time. */
export function attestationsOn(world: () => World): SandboxAttestations {
  const suspend = (suspended: boolean) => (id: string) => {
    const place = suspendAttestation(world(), id, suspended);
    return viewAttestation(place, world()) as AttestationView;
  };
  return {
    list() {
      const running = world();
      requirePreview(running);
      const now = running.clock.now();
      return attestationsOf(running.consents.all, now).flatMap(
        (place) => viewAttestation(place, running, now) ?? [],
      );
    },
    suspend: suspend(true),
    resume: suspend(false),
  };
}
