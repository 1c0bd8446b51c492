import type { KeyRecord } from "../domain/api-key.js";
import { SandboxError } from "../domain/errors.js";
import type { Organization } from "../domain/organization.js";
import type { PathId } from "../domain/outcomes.js";
import { didYouMean, type KnownRefs } from "../schema/words.js";
import type { Usage } from "./counters.js";
import type { KnownAnswer } from "./known-answers.js";

/** The memory of the clients of one key. */
interface KeyBehaviour {
  /** The 429, when the latest one came and until when it tells to wait: on the sandbox's clock, or on the wall clock. */
  limit?: {
    readonly answer: KnownAnswer;
    readonly since: number;
    readonly until: number;
    readonly untilOnWall: number;
  };
  /** The 403 that holds until an administrator acts. */
  denial?: { readonly pathId: PathId; readonly answer: KnownAnswer } | undefined;
  /** The 5xx that began a row of them without a pause, when, and the repeats in knowledge of it. */
  failure?: { readonly answer: KnownAnswer; readonly since: number; repeats: number } | undefined;
  /** The first 200, if the key has replaced another one. */
  worked?: KnownAnswer;
  /** The keys that replaced this one, at once or by way of others, and worked. */
  replacements?: readonly UsedKey[];
}

/** An organization's entry in the registry; the record in it is replaced when the organization changes. */
export interface OrganizationEntry {
  organization: Organization;
  /** In the order in which they came. */
  readonly keys: KeyEntry[];
}

/** A key's entry in the registry; the record in it is replaced when the key changes. */
export interface KeyEntry {
  key: KeyRecord;
  readonly holder: OrganizationEntry;
  readonly usage: Usage;
  /** The memory of its clients; left out until there is something. */
  behaviour?: KeyBehaviour;
  /** The prepared part of a response, valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** A key with the memory of its clients. */
export type UsedKey = Pick<KeyEntry, "key" | "usage" | "behaviour">;

/** Makes the registry of a world, which contains hashes of keys, never keys (R35). */
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
    // A pinned secret may be the one that the seed gives another key: the first of them is found.
    if (!byHash.has(key.sha256)) byHash.set(key.sha256, entry);
    return entry;
  }

  // Reads all that the checks read of a key: most of a first lookup is the time that memory takes (R14).
  function equalizeLookup({ key, usage, holder }: KeyEntry, sha256: string): void {
    const { revokedAt = 0, expiresAt = 0, overlapEndsAt = 0 } = key;
    const texts = Number(key.sha256.endsWith(sha256)) + Number(holder.organization.status === "active");
    // Stored, or a compiler would leave the reading out.
    lookup.read = revokedAt + expiresAt + overlapEndsAt + texts;
    lookup.read += usage.minuteEndsAt + usage.dayEndsAt + usage.recent.length;
  }

  for (const record of records) organizations.set(record.ref, { organization: record, keys: [] });
  for (const one of newKeys) addKey(one);
  return {
    /** By ref, in the scenario's order. */
    organizations: organizations as ReadonlyMap<string, OrganizationEntry>,
    organization,
    /** By ref, in the scenario's order and then in the order in which they came. */
    keys: keys as ReadonlyMap<string, KeyEntry>,
    /** Throws `unknown_ref`, with the known refs. */
    key: (ref: string): KeyEntry => keys.get(ref) ?? unknownRef("key", ref, keys),
    /** The key with this SHA-256; `undefined` if the world has none, for which another key is read instead (R14). */
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

/** Rejects a ref that this world does not have, with the nearest one it has. */
function unknownRef(kind: "key" | "organization", ref: string, known: KnownRefs): never {
  const refs = [...known.keys()];
  const shown = refs.length > 20 ? [...refs.slice(0, 20), `… ${refs.length - 20} more`] : refs;
  throw new SandboxError(
    "unknown_ref",
    `Failed to find the ${kind} ${JSON.stringify(ref)}: this scenario has ${shown.join(", ") || "none"}.${
      // Over HTTP and from JavaScript anything may come in.
      didYouMean(String(ref), refs)
    }`,
    { kind, ref, known: refs },
  );
}
