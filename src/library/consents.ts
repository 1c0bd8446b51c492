import {
  type AttestationView,
  attestationsOf,
  viewAttestation,
  viewConsent,
} from "../api/endpoints/consents/consents.js";
import {
  consentsOf,
  type Decision,
  decideConsent,
  suspendAttestation,
} from "../api/endpoints/consents/decisions.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ConsentView } from "../sandbox/view-shapes.js";

/** The consent requests of clients, and the decisions of farmers. Preview: shapes may change. */
export interface SandboxConsents {
  /** Oldest first. */
  list(): ConsentView[];
  /** Throws `unknown_ref`, or `consent_not_open` unless it is pending. */
  grant(id: string): ConsentView;
  /** Throws `unknown_ref`, or `consent_not_open` unless it is pending. */
  reject(id: string): ConsentView;
  /** Throws `unknown_ref`, or `consent_not_open` unless it is granted. */
  revoke(id: string): ConsentView;
}

/** The attestations with a farmer's consent. Preview: shapes may change. */
export interface SandboxAttestations {
  /** In the order of their consent requests. */
  list(): AttestationView[];
  /** Throws `unknown_ref`, or `attestation_not_open` unless it is ready and active. */
  suspend(id: string): AttestationView;
  /** Throws `unknown_ref`, or `attestation_not_open` unless it is suspended. */
  resume(id: string): AttestationView;
}

/** The members of a sandbox for its consent requests and attestations. */
export interface ConsentMembers {
  /** Requires `preview: true` in the scenario; otherwise calls throw `not_found`. */
  readonly consents: SandboxConsents;
  /** Requires `preview: true` in the scenario; otherwise calls throw `not_found`. */
  readonly attestations: SandboxAttestations;
}

export function consentMembers(world: () => SandboxState): ConsentMembers {
  const decide = (decision: Decision) => (id: string) => decideConsent(world(), { id, do: decision }).consent;
  const change = (does: "suspend" | "resume") => (id: string) =>
    suspendAttestation(world(), { id, do: does }).attestation;
  return {
    consents: {
      list() {
        const running = world();
        return consentsOf(running).map((entry) => viewConsent(entry, running));
      },
      grant: decide("grant"),
      reject: decide("reject"),
      revoke: decide("revoke"),
    },
    attestations: {
      list() {
        const running = world();
        const now = running.clock.now();
        return attestationsOf(consentsOf(running), now).flatMap(
          (attestation) => viewAttestation(attestation, running, now) ?? [],
        );
      },
      suspend: change("suspend"),
      resume: change("resume"),
    },
  };
}
