import { type KeyRecord, keyStateAt, keyStateTable } from "../rules/api-key.js";
import { SandboxError } from "../rules/errors.js";
import type { Organization } from "../rules/organization.js";
import { didYouMean, type KnownRefs } from "../rules/schema/words.js";
import type { Usage } from "./usage.js";

/** An organization's entry in the registry. A change replaces its record. */
export interface OrganizationEntry {
  organization: Organization;
  readonly keys: KeyEntry[];
  /** At least the keys that are not over; `undefined` until somebody looks. */
  open?: Set<KeyEntry>;
}

/** A key's entry in the registry. A change replaces its record. */
export interface KeyEntry {
  key: KeyRecord;
  readonly owner: OrganizationEntry;
  /** As of the last request that counted; `usageAt` returns the usage now. */
  usage: Usage;
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

/** Returns the keys that are not over at `now`, and removes the others from the set. */
export function withoutOver(keys: Set<KeyEntry>, now: number): KeyEntry[] {
  for (const entry of keys) if (keyStateTable[keyStateAt(entry.key, now)].isOver) keys.delete(entry);
  return [...keys];
}

export type UsedKey = Pick<KeyEntry, "key" | "usage">;

/** Creates the registry of a sandbox. It contains hashes of keys, never keys (R35). */
export function createRegistry(records: Iterable<Organization>, newKeys: Iterable<UsedKey>) {
  const organizations = new Map<string, OrganizationEntry>();
  const keys = new Map<string, KeyEntry>();
  const byHash = new Map<string, KeyEntry>();
  const dated = new Set<KeyEntry>();
  const track = (entry: KeyEntry) => {
    entry.owner.open?.add(entry);
    if ((entry.key.expiresAt ?? entry.key.overlapEndsAt) !== undefined) dated.add(entry);
  };

  const organization = (ref: string): OrganizationEntry =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);

  /** Its organization must exist. */
  function addKey({ key, usage }: UsedKey): KeyEntry {
    const owner = organization(key.organization);
    const entry: KeyEntry = { key, owner, usage };
    owner.keys.push(entry);
    track(entry);
    keys.set(key.ref, entry);
    // A pinned hash may be of a secret of the scenario: `find` returns the first key.
    if (!byHash.has(key.sha256)) byHash.set(key.sha256, entry);
    return entry;
  }

  for (const record of records) organizations.set(record.ref, { organization: record, keys: [] });
  for (const newKey of newKeys) addKey(newKey);
  return {
    organizations: organizations as ReadonlyMap<string, OrganizationEntry>,
    organization,
    /** By ref, in the scenario's order, then in order of creation. */
    keys: keys as ReadonlyMap<string, KeyEntry>,
    key: (ref: string): KeyEntry => keys.get(ref) ?? unknownRef("key", ref, keys),
    find: (sha256: string): KeyEntry | undefined => byHash.get(sha256),
    /** At least the keys whose end is known. */
    dated,
    /** The next number to try for a ref, by its first part: those before it are taken for good. */
    numbers: new Map<string, number>(),
    addKey,
    /** Lists the keys in this order. */
    sort(refs: readonly string[]): void {
      for (const ref of refs) {
        const entry = keys.get(ref) ?? unknownRef("key", ref, keys);
        keys.delete(ref);
        keys.set(ref, entry);
      }
    },
    change(entry: KeyEntry, changes: Partial<KeyRecord>): void {
      entry.key = { ...entry.key, ...changes };
      track(entry);
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

function unknownRef(kind: "key" | "organization", ref: string, known: KnownRefs): never {
  const refs = [...known.keys()];
  const shownRefs = refs.length > 20 ? [...refs.slice(0, 20), `… ${refs.length - 20} more`] : refs;
  // HTTP and JavaScript may pass anything.
  const hint = didYouMean(String(ref), refs);
  const message = `Unknown ${kind} ${JSON.stringify(ref)}: this scenario has ${shownRefs.join(", ") || "none"}.${hint}`;
  throw new SandboxError("unknown_ref", message, { kind, ref, known: refs });
}
