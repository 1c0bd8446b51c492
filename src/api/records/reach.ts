import { attestationsOf, stateOf } from "../../sandbox/consent-views.js";
import type { AttestationPlace, ConsentEntry } from "../../sandbox/consents.js";
import type { KeyEntry } from "../../sandbox/registry.js";
import type { World } from "../../sandbox/world.js";

/**
 * What a caller can reach: synthetic farmers and what its own organization has asked of them, with a test key; with a
 * live key nothing at all (R44, R45). All that endpoints show of farmers goes through here.
 */
export interface Reach {
  /** The index of the farmer with this id. */
  readonly farmer: (id: string) => number | undefined;
  readonly consents: () => readonly ConsentEntry[];
  readonly consent: (id: string) => ConsentEntry | undefined;
  readonly attestations: (now: number) => readonly AttestationPlace[];
  readonly attestation: (id: string, now: number) => AttestationPlace | undefined;
}

/** What the holder of this key can reach in this world. */
export function reachOf({ key }: KeyEntry, world: World): Reach {
  if (key.environment === "live") return nothing;
  const { consents, farmers } = world;
  const isOwn = ({ organization }: ConsentEntry) => organization === key.organization;
  const own = () => consents.all.filter(isOwn);
  return {
    farmer: farmers.indexOf,
    consents: own,
    consent(id) {
      const entry = consents.find(id);
      return entry !== undefined && isOwn(entry) ? entry : undefined;
    },
    attestations: (now) => attestationsOf(own(), now),
    attestation(id, now) {
      const place = consents.attestation(id);
      if (place === undefined || !isOwn(place.consent)) return undefined;
      return stateOf(place, world, now) === undefined ? undefined : place;
    },
  };
}

const nothing: Reach = {
  farmer: () => undefined,
  consents: () => [],
  consent: () => undefined,
  attestations: () => [],
  attestation: () => undefined,
};
