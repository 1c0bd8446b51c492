import type { KeyRecord } from "../domain/key.js";
import type { Organization } from "../domain/organization.js";
import { SandboxError } from "../domain/sandbox-error.js";
import { didYouMean } from "../scenario/nearest.js";
import type { KnownRefs } from "../scenario/ref-rules.js";
import type { KeyConduct } from "./conduct-memory.js";
import type { HashIndex } from "./hash-index.js";
import type { Usage } from "./usage.js";

/** An organization's place in the registry; the record in it is replaced when the organization changes. */
export interface OrganizationEntry {
  organization: Organization;
}

/** A key's place in the registry; the record in it is replaced when the key changes. */
export interface KeyEntry {
  key: KeyRecord;
  readonly holder: OrganizationEntry;
  readonly usage: Usage;
  /** What its clients have learned; left out for as long as that is nothing. */
  conduct?: KeyConduct;
  /** What an endpoint may keep of its answer between two requests; valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** The keys of one world by their refs, in the order in which the scenario lists them and then in which they came. */
export interface Keys extends Pick<ReadonlyMap<string, KeyEntry>, "has" | "get" | "keys" | "size"> {
  readonly values: () => Iterable<KeyEntry>;
}

/** Keys that a world has and that are made only when one of them is asked for. */
export interface DescribedKeys {
  readonly described: readonly { readonly ref: string; readonly organization: string }[];
  readonly hashes: HashIndex;
  /** Makes the one at a place, as it was when the world started. */
  readonly make: (place: number) => Pick<KeyEntry, "key" | "usage">;
}

/** The organizations and keys of one world. Holds hashes of keys, never keys (R35). */
export interface Registry {
  readonly organizations: ReadonlyMap<string, OrganizationEntry>;
  readonly keys: Keys;
  /** The keys of one organization. */
  readonly keysOf: (organization: string) => KeyEntry[];
  /** The key with this SHA-256, if the world has it. */
  readonly find: (sha256: string) => KeyEntry | undefined;
  /** Throws `unknown_ref`, with the refs there are. */
  readonly key: (ref: string) => KeyEntry;
  /** Throws `unknown_ref`, with the refs there are. */
  readonly organization: (ref: string) => OrganizationEntry;
  /** Its organization must be there. */
  readonly addKey: (key: KeyRecord, usage: Usage) => void;
}

/**
 * Makes the registry of a world.
 *
 * Of a million keys a client uses a few: the others stay a place and a hash, which cost little memory and no time.
 */
export function createRegistry(
  records: readonly Organization[],
  { described, hashes, make }: DescribedKeys,
): Registry {
  const organizations = new Map(records.map((record) => [record.ref, { organization: record }]));
  const holders = described.map(({ organization }) => organization);
  const places = new Map(described.map(({ ref }, place) => [ref, place]));
  const made = new Array<KeyEntry | undefined>(described.length);

  const organization = (ref: string) =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);

  function entryAt(place: number): KeyEntry {
    return made[place] ?? enter(place, make(place));
  }

  function enter(place: number, { key, usage }: Pick<KeyEntry, "key" | "usage">): KeyEntry {
    const entry = { key, holder: organization(key.organization), usage };
    made[place] = entry;
    return entry;
  }

  const keys: Keys = {
    get size() {
      return places.size;
    },
    has: (ref) => places.has(ref),
    get(ref) {
      const place = places.get(ref);
      return place === undefined ? undefined : entryAt(place);
    },
    keys: () => places.keys(),
    *values() {
      for (const place of places.values()) yield entryAt(place);
    },
  };
  return {
    organizations,
    keys,
    keysOf: (ref) => holders.flatMap((holder, place) => (holder === ref ? [entryAt(place)] : [])),
    find(sha256) {
      const place = hashes.find(sha256);
      return place === undefined ? undefined : entryAt(place);
    },
    key: (ref) => keys.get(ref) ?? unknownRef("key", ref, keys),
    organization,
    addKey(key, usage) {
      const place = hashes.size();
      hashes.add(key.sha256);
      places.set(key.ref, place);
      holders.push(key.organization);
      enter(place, { key, usage });
    },
  };
}

/** Refuses a ref that this world does not have, with the nearest one it has. */
export function unknownRef(kind: "key" | "organization", ref: string, known: KnownRefs): never {
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
