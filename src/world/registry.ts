import type { KeyRecord } from "../domain/api-key.js";
import { SandboxError } from "../domain/errors.js";
import type { Organization } from "../domain/organization.js";
import type { PathId } from "../domain/outcomes.js";
import { didYouMean, type KnownRefs } from "../schema/words.js";
import type { Usage } from "./counters.js";
import type { KnownAnswer } from "./known-answers.js";

/** What the clients of one key have seen. */
interface KeyBehaviour {
  /** The 429, when the latest one arrived, and how long to wait: on the sandbox's clock and on the wall clock. */
  limit?: {
    readonly answer: KnownAnswer;
    readonly since: number;
    readonly until: number;
    readonly untilOnWall: number;
  };
  /** The 403 that applies until an administrator acts. */
  denial?: { readonly pathId: PathId; readonly answer: KnownAnswer } | undefined;
  /** The first 5xx of a series without a pause, its time, and the repeats by clients that knew it. */
  failure?: { readonly answer: KnownAnswer; readonly since: number; repeats: number } | undefined;
  /** The first 200, if the key replaced another. */
  worked?: KnownAnswer;
  /** The keys that replaced this one, directly or indirectly, and worked. */
  replacements?: readonly UsedKey[];
}

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
  /** What its clients have seen; `undefined` if nothing matters yet. */
  behaviour?: KeyBehaviour;
  /** The prepared part of a response, valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** A key with what its clients have seen. */
export type UsedKey = Pick<KeyEntry, "key" | "usage" | "behaviour">;

/** Creates the registry of a sandbox. It contains hashes of keys, never keys (R35). */
export function createRegistry(records: Iterable<Organization>, newKeys: Iterable<UsedKey>) {
  const organizations = new Map<string, OrganizationEntry>();
  const keys = new Map<string, KeyEntry>();
  const byHash = new Map<string, KeyEntry>();
  const entries: KeyEntry[] = [];
  const lookup = { read: 0 };

  /** Throws `unknown_ref`, with the known refs. */
  const organization = (ref: string): OrganizationEntry =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);

  /** Its organization must exist. */
  function addKey({ key, usage }: UsedKey): KeyEntry {
    const holder = organization(key.organization);
    const entry: KeyEntry = { key, holder, usage };
    holder.keys.push(entry);
    keys.set(key.ref, entry);
    entries.push(entry);
    // A pinned hash may be of a secret of the scenario: `find` returns the first key.
    if (!byHash.has(key.sha256)) byHash.set(key.sha256, entry);
    return entry;
  }

  // Reads everything that the checks read of a key: memory access dominates a first lookup (R14).
  function equalizeLookup({ key, usage, holder }: KeyEntry, sha256: string): void {
    const { revokedAt = 0, expiresAt = 0, overlapEndsAt = 0 } = key;
    const texts = Number(key.sha256.endsWith(sha256)) + Number(holder.organization.status === "active");
    // Stored, so that the compiler does not remove the reads.
    lookup.read = revokedAt + expiresAt + overlapEndsAt + texts;
    lookup.read += usage.minuteEndsAt + usage.dayEndsAt + usage.recent.length;
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
    /** Returns the key with this SHA-256, or `undefined` after reading another key, so that both take as long (R14). */
    find(sha256: string): KeyEntry | undefined {
      const found = byHash.get(sha256);
      const read = found ?? entries[Number.parseInt(sha256.slice(0, 8), 16) % entries.length];
      if (read !== undefined) equalizeLookup(read, sha256);
      return found;
    },
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
