import { attestationsOf, stateOf } from "../../sandbox/preview/consent-views.js";
import type { AttestationEntry, ConsentEntry } from "../../sandbox/preview/consents.js";
import type { KeyEntry } from "../../sandbox/registry.js";
import type { World } from "../../sandbox/world.js";

/**
 * The records that a key can see. A test key sees synthetic farmers and the requests of its organization, a live key
 * sees nothing (R44, R45). Endpoints read records of farmers only through this function.
 */
export function visibleTo({ key }: KeyEntry, world: World) {
  const { consents, farmers } = world;
  const isTest = key.environment === "test";
  const isVisible = ({ organization }: ConsentEntry) => isTest && organization === key.organization;
  return {
    farmer: (id: string): number | undefined => (isTest ? farmers.indexOf(id) : undefined),
    consent(id: string): ConsentEntry | undefined {
      const entry = consents.find(id);
      return entry !== undefined && isVisible(entry) ? entry : undefined;
    },
    attestations: (now: number) => attestationsOf(consents.all.filter(isVisible), now),
    attestation(id: string, now: number): AttestationEntry | undefined {
      const attestation = consents.attestation(id);
      const exists = attestation !== undefined && stateOf(attestation, world, now) !== undefined;
      return exists && isVisible(attestation.consent) ? attestation : undefined;
    },
  };
}

/** The first sentences of every description of the preview. */
export const guess =
  "Preview: announced, not released. Its shape is this project's guess, made from public consent and credential APIs.";
