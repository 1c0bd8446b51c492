import { permissions } from "../../domain/attestation.js";
import { attestationsOf, stateOf } from "../../sandbox/preview/consent-views.js";
import type { AttestationPlace, ConsentEntry } from "../../sandbox/preview/consents.js";
import type { KeyEntry } from "../../sandbox/registry.js";
import type { World } from "../../sandbox/world.js";
import type { JsonSchema } from "../endpoint.js";
import { type JsonBody, utf8Length } from "../messages.js";

/**
 * The records that a key can see. A test key sees synthetic farmers and the requests of its own organization, a live key
 * nothing at all (R44, R45). Everything that endpoints show of farmers goes through here.
 */
export interface VisibleRecords {
  /** The index of the farmer with this id. */
  readonly farmer: (id: string) => number | undefined;
  readonly consent: (id: string) => ConsentEntry | undefined;
  readonly attestations: (now: number) => readonly AttestationPlace[];
  readonly attestation: (id: string, now: number) => AttestationPlace | undefined;
}

/** The records of a world that the holder of this key can see. */
export function visibleTo({ key }: KeyEntry, world: World): VisibleRecords {
  if (key.environment === "live") return nothing;
  const { consents, farmers } = world;
  const isOwn = ({ organization }: ConsentEntry) => organization === key.organization;
  return {
    farmer: farmers.indexOf,
    consent(id) {
      const entry = consents.find(id);
      return entry !== undefined && isOwn(entry) ? entry : undefined;
    },
    attestations: (now) => attestationsOf(consents.all.filter(isOwn), now),
    attestation(id, now) {
      const place = consents.attestation(id);
      if (place === undefined || !isOwn(place.consent)) return undefined;
      return stateOf(place, world, now) === undefined ? undefined : place;
    },
  };
}

const nothing: VisibleRecords = {
  farmer: () => undefined,
  consent: () => undefined,
  attestations: () => [],
  attestation: () => undefined,
};

/** The first sentences of every description of the preview. */
export const guess =
  "Preview: announced, not released. Its shape is this project's guess, made from public consent and credential APIs.";

export const time = { type: "string", format: "date-time" };
export const timeOrNull = { type: ["string", "null"], format: "date-time" };
export const permissionNames = { type: "string", enum: permissions };

/** An object that requires each member and allows no other. */
export function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: Object.keys(properties), additionalProperties: false, properties };
}

/** A value as the body of an answer. */
export function jsonOf(value: unknown): JsonBody {
  const text = JSON.stringify(value);
  return { text, bytes: utf8Length(text) };
}
