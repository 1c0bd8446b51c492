import { defaultConsentTime, effectiveDeeds } from "../domain/consent.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { parseWhen } from "../scenario/when.js";
import { isoOf } from "./clock.js";
import { type ConsentEntry, type Consents, createConsents } from "./consents.js";

type DescribedConsent = NonNullable<Scenario["consents"]>[number];

const defaultPurpose = { code: "credit_assessment", text: "To assess an application for credit." } as const;

/** The consent requests that a scenario describes, in a world whose clock starts at `start` (epoch milliseconds). */
export function buildConsents({ consents = [] }: Scenario, seed: number, start: number): Consents {
  const store = createConsents(seed);
  const instant = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : (parseWhen(text, start) ?? otherwise);
  for (const given of consents) {
    const createdAt = instant(given.created_at, start);
    const entry = store.draft({
      organization: given.organization,
      farmer: given.farmer,
      purpose: given.purpose ?? defaultPurpose,
      permissions: given.permissions ?? ["identity"],
      createdAt,
      expiresAt: instant(given.expires_at, createdAt + defaultConsentTime),
      idempotency: given.idempotency,
    });
    const deeds = (given.deeds ?? []).map(({ at, do: action }) => ({ at: instant(at, start), action }));
    entry.record = { ...entry.record, deeds };
    entry.suspensions = (given.suspensions ?? []).map((one) => ({ ...one, at: instant(one.at, start) }));
    store.add(entry);
  }
  return store;
}

/** The consent requests of a store as a scenario describes them. */
export function describeConsents({ all }: Consents): DescribedConsent[] {
  return all.map(described);
}

function described(entry: ConsentEntry): DescribedConsent {
  const { organization, farmer, purpose, permissions, record, suspensions, idempotency } = entry;
  // Scenarios refuse what changes nothing.
  const deeds = effectiveDeeds(record);
  return {
    organization,
    farmer,
    purpose: { ...purpose },
    permissions: [...permissions],
    created_at: isoOf(record.createdAt),
    expires_at: isoOf(record.expiresAt),
    ...(deeds.length > 0 && {
      deeds: deeds.map(({ at, action }) => ({ at: isoOf(at), do: action })),
    }),
    ...(suspensions.length > 0 && {
      suspensions: suspensions.map(({ at, ...rest }) => ({ at: isoOf(at), ...rest })),
    }),
    ...(idempotency !== undefined && { idempotency: { ...idempotency } }),
  };
}
