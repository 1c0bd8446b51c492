import type { KeyRecord, Organization } from "../spec/api-key.js";
import { SandboxError } from "../spec/errors.js";
import { didYouMean, type KnownRefs } from "../spec/schema/words.js";
import type { Usage } from "./counters.js";

/** An organization's entry in the registry. A change replaces its record. */
export interface OrganizationEntry {
  organization: Organization;
  /** In order of creation. */
  readonly keys: KeyEntry[];
}

/** A key's entry in the registry. A change replaces its record. */
export interface KeyEntry {
  key: KeyRecord;
  readonly holder: OrganizationEntry;
  readonly usage: Usage;
  /** The key that replaced it since the start. */
  replacement?: KeyEntry;
  /** Whether a client got a 200 with it, if advice depends on that. */
  hasWorked?: boolean;
  /** The prepared part of a response, valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** A key with its usage. */
export type UsedKey = Pick<KeyEntry, "key" | "usage">;

/** Creates the registry of a sandbox. It contains hashes of keys, never keys (R35). */
export function createRegistry(records: Iterable<Organization>, newKeys: Iterable<UsedKey>) {
  const organizations = new Map<string, OrganizationEntry>();
  const keys = new Map<string, KeyEntry>();
  const byHash = new Map<string, KeyEntry>();

  /** Throws `unknown_ref`, with the known refs. */
  const organization = (ref: string): OrganizationEntry =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);

  /** Its organization must exist. */
  function addKey({ key, usage }: UsedKey): KeyEntry {
    const holder = organization(key.organization);
    const entry: KeyEntry = { key, holder, usage };
    holder.keys.push(entry);
    keys.set(key.ref, entry);
    // A pinned hash may be of a secret of the scenario: `find` returns the first key.
    if (!byHash.has(key.sha256)) byHash.set(key.sha256, entry);
    return entry;
  }

  for (const record of records) organizations.set(record.ref, { organization: record, keys: [] });
  for (const one of newKeys) addKey(one);
  return {
    /** By ref, in the scenario's order. */
    organizations: organizations as ReadonlyMap<string, OrganizationEntry>,
    organization,
    /** By ref, in the scenario's order, then in order of creation. */
    keys: keys as ReadonlyMap<string, KeyEntry>,
    /** Throws `unknown_ref`, with the known refs. */
    key: (ref: string): KeyEntry => keys.get(ref) ?? unknownRef("key", ref, keys),
    /** Returns the key with this SHA-256. */
    find: (sha256: string): KeyEntry | undefined => byHash.get(sha256),
    addKey,
  };
}

export type Registry = ReturnType<typeof createRegistry>;

/** Rejects an unknown ref, and suggests the nearest known one. */
function unknownRef(kind: "key" | "organization", ref: string, known: KnownRefs): never {
  const refs = [...known.keys()];
  const shown = refs.length > 20 ? [...refs.slice(0, 20), `… ${refs.length - 20} more`] : refs;
  throw new SandboxError(
    "unknown_ref",
    `Unknown ${kind} ${JSON.stringify(ref)}: this scenario has ${shown.join(", ") || "none"}.${
      // HTTP and JavaScript may pass anything.
      didYouMean(String(ref), refs)
    }`,
    { kind, ref, known: refs },
  );
}
