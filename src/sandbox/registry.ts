import { type KeyEnds, type KeyRecord, type KeyState, keyStateAt, keyStates } from "../domain/api-key.js";
import { SandboxError } from "../domain/errors.js";
import type { Organization } from "../domain/organization.js";
import { didYouMean, type KnownRefs } from "../schema/words.js";
import type { KnownAnswer } from "./behaviour/known-answers.js";
import type { Usage } from "./counters.js";
import type { Described, DescribedKeyList } from "./described.js";

/** The memory of the clients of one key. */
interface KeyBehaviour {
  /** The 429, when the latest one came and until when it tells to wait: on the sandbox's clock, or on the wall clock. */
  limit?: {
    readonly answer: KnownAnswer;
    readonly since: number;
    readonly until: number;
    readonly untilOnWall: number;
  };
  /** The 403 or 5xx that began a row of them without a pause, when, and the repeats in knowledge of it. */
  failure?: { readonly answer: KnownAnswer; readonly since: number; repeats: number } | undefined;
  /** The first 200, if the key has replaced another one. */
  worked?: KnownAnswer;
  /** The keys that replaced this one, at once or by way of others, and worked. */
  replacements?: readonly UsedKey[];
}

/** An organization's place in the registry; the record in it is replaced when the organization changes. */
export interface OrganizationEntry {
  organization: Organization;
}

/** A key's place in the registry; the record in it is replaced when the key changes. */
export interface KeyEntry {
  key: KeyRecord;
  readonly holder: OrganizationEntry;
  readonly usage: Usage;
  /** The memory of its clients; left out until there is something. */
  behaviour?: KeyBehaviour;
  /** The prepared part of an answer, valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** A key with the memory of its clients. */
export type UsedKey = Pick<KeyEntry, "key" | "usage" | "behaviour">;

/** The keys or the organizations of one world by their refs, in the order in which the scenario lists them and then in which they came. */
export interface Entries<Entry> {
  readonly size: number;
  readonly has: (ref: string) => boolean;
  readonly get: (ref: string) => Entry | undefined;
  readonly keys: () => Iterable<string>;
  readonly values: () => Iterable<Entry>;
}

/** The described keys of a world. */
export interface KeySource {
  readonly described: DescribedKeyList;
  /** Their places by their hashes; worlds share it. */
  readonly hashes: Pick<HashIndex, "find">;
  /** The SHA-256 of the one at a place. */
  readonly hashAt: (place: number) => string;
  /** Makes the one at a place, which has this SHA-256, as it was when the world started. */
  readonly make: (place: number, sha256: string) => UsedKey;
  /** What ends the one at a place, without making it. */
  readonly endsAt: (place: number) => KeyEnds;
  /** An ended key of no organization: an unknown key takes the same work as a known one (R14). */
  readonly decoy: UsedKey;
}

/** The described organizations of a world. */
export interface OrganizationSource {
  readonly described: Described<{ readonly ref: string }>;
  /** Makes the one at a place, as it was when the world started. */
  readonly make: (place: number) => Organization;
}

/**
 * Makes the registry of a world, which holds hashes of keys, never keys (R35).
 *
 * Of a million keys a client uses a few: the others are some bytes of a hash, which cost little memory and no time.
 */
export function createRegistry(
  { described: describedOrganizations, make: makeOrganization }: OrganizationSource,
  { described, hashes, hashAt, make, endsAt, decoy }: KeySource,
) {
  const organizations = createEntries<OrganizationEntry>(describedOrganizations, (place) => ({
    organization: makeOrganization(place),
  }));
  // Those that are written out are made now: who sends the first key of one must not be told from others by the time (R14).
  // All keys of a population are active.
  for (let place = 0; place < describedOrganizations.written; place++) {
    organizations.get(describedOrganizations.at(place).ref);
  }
  const keys = createEntries<KeyEntry>(described, (place) => makeEntry(place, hashAt(place)));
  // Those of the keys made at run time; most worlds have none.
  let addedHashes: HashIndex | undefined;
  const isAt = (place: number, sha256: string) =>
    (keys.made.get(place)?.key.sha256 ?? hashAt(place)) === sha256;
  const isAddedAt = (index: number, sha256: string) => isAt(described.size + index, sha256);

  /** Throws `unknown_ref`, with the refs there are. */
  const organization = (ref: string): OrganizationEntry =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);

  function makeEntry(place: number, sha256: string): KeyEntry {
    const { key, usage } = make(place, sha256);
    return { key, holder: organization(key.organization), usage };
  }

  return {
    organizations: organizations as Entries<OrganizationEntry>,
    organization,
    keys: keys as Entries<KeyEntry>,
    /** Throws `unknown_ref`, with the refs there are. */
    key: (ref: string): KeyEntry => keys.get(ref) ?? unknownRef("key", ref, keys),
    /** The keys of one organization. */
    keysOf(ref: string): KeyEntry[] {
      const ofScenario = described.placesOf(ref).map(keys.at);
      return [...ofScenario, ...keys.added().filter(({ key }) => key.organization === ref)];
    },
    /** The key with this SHA-256, if the world has it. */
    find(sha256: string): KeyEntry | undefined {
      // Sought in both in every case, so that a key takes as long as one that is not there (R14).
      const added = addedHashes?.find(sha256, isAddedAt);
      const place = hashes.find(sha256, isAt) ?? (added === undefined ? undefined : described.size + added);
      if (place === undefined) return undefined;
      const entry = keys.made.get(place);
      if (entry !== undefined) return entry;
      const made = makeEntry(place, sha256);
      keys.made.set(place, made);
      return made;
    },
    /** The number of keys in each state at an instant; makes none. */
    countStates(now: number): Readonly<Record<KeyState, number>> {
      const counts = Object.fromEntries(keyStates.map((state) => [state, 0])) as Record<KeyState, number>;
      let counted = 0;
      for (let place = 0; place < described.written; place++) {
        if (keys.made.has(place)) continue;
        counts[keyStateAt(endsAt(place), now)] += 1;
        counted += 1;
      }
      for (const { key } of keys.made.values()) {
        counts[keyStateAt(key, now)] += 1;
        counted += 1;
      }
      // The others are of the population, and nothing has ended one of them.
      counts.active += keys.size - counted;
      return counts;
    },
    /** The number of keys made so far. */
    made: () => keys.made.size,
    decoy,
    /**
     * Does what the lookup of this key did not: makes a key, unless it made one, and reads another one, unless it read
     * an old one. So an unknown key takes as long as one that is used for the first time, or after a long time (R14).
     */
    workInVain(sha256: string, lookup: { entry: KeyEntry | undefined; isNewEntry: boolean }): void {
      if (described.size === 0) return;
      const place = Number.parseInt(sha256.slice(0, 8), 16) % described.size;
      if (!lookup.isNewEntry) make(place, hashAt(place));
      const { key, usage } = (lookup.isNewEntry ? undefined : lookup.entry) ?? keys.made.get(place) ?? decoy;
      // Written down, or a compiler would not read it.
      decoy.usage.dayCount = usage.dayCount + (key.revokedAt ?? 0);
    },
    /** Its organization must be there. */
    addKey(key: KeyRecord, usage: Usage): void {
      addedHashes ??= createHashIndex(0);
      addedHashes.add(key.sha256);
      keys.add(key.ref, { key, holder: organization(key.organization), usage });
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

/** Makes the entries of a scenario, each when it is first asked for, and those that are added. */
function createEntries<Entry>(
  described: Described<{ readonly ref: string }>,
  make: (place: number) => Entry,
) {
  const made = new Map<number, Entry>();
  const added = new Map<string, number>();
  const size = () => described.size + added.size;
  const placeOf = (ref: string) => described.placeOf(ref) ?? added.get(ref);

  function at(place: number): Entry {
    let entry = made.get(place);
    if (entry === undefined) {
      entry = make(place);
      made.set(place, entry);
    }
    return entry;
  }

  return {
    get size() {
      return size();
    },
    has: (ref: string) => placeOf(ref) !== undefined,
    get(ref: string): Entry | undefined {
      const place = placeOf(ref);
      return place === undefined ? undefined : at(place);
    },
    *keys() {
      for (const { ref } of described) yield ref;
      yield* added.keys();
    },
    *values() {
      for (let place = 0; place < size(); place++) yield at(place);
    },
    /** The one at a place. */
    at,
    /** Those that were made, by their places. */
    made,
    /** Those that the scenario does not have. */
    added: () => Array.from(added.values(), at),
    add(ref: string, entry: Entry): void {
      const place = size();
      added.set(ref, place);
      made.set(place, entry);
    },
  };
}

/** Refuses a ref that this world does not have, with the nearest one it has. */
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

/** The first half of a slot says how the hash in it begins, the second one is its place + 1, or 0 in a free one. */
const slotSize = 2;

/**
 * Makes an index of the SHA-256 of each key at its place: 0, 1, 2 … in the order in which they came. It has room for as
 * many as are expected, and grows when there are more.
 *
 * A typed array of 17 to 34 bytes a key: nothing in it is an object that a garbage collector has to go through, and a
 * lookup reads one place of it.
 */
export function createHashIndex(expected: number) {
  let slots = emptySlots(expected);
  let last = slots.length / slotSize - 1;
  let size = 0;

  // The hash of a key is as good a hash as there is: its first word says where to begin.
  function enter(start: number, place: number): void {
    let slot = start & last;
    while (slots[slot * slotSize + 1] !== 0) slot = (slot + 1) & last;
    slots[slot * slotSize] = start;
    slots[slot * slotSize + 1] = place + 1;
  }

  function grow(): void {
    const smaller = slots;
    slots = emptySlots(size * 2);
    last = slots.length / slotSize - 1;
    for (let at = 0; at < smaller.length; at += slotSize) {
      const place = smaller[at + 1] as number;
      if (place !== 0) enter(smaller[at] as number, place - 1);
    }
  }

  return {
    /** Puts one more at the next place; 64 lower-case hex digits. */
    add(sha256: string): void {
      if (size * 2 > last) grow();
      enter(firstWord(sha256), size);
      size += 1;
    },
    /** The place of a hash; `undefined` when it is not there. `isAt` says whether it is that of the key at a place. */
    find(sha256: string, isAt: (place: number, sha256: string) => boolean): number | undefined {
      const start = firstWord(sha256);
      for (let slot = start & last; ; slot = (slot + 1) & last) {
        const next = slots[slot * slotSize + 1] as number;
        if (next === 0) return undefined;
        if (slots[slot * slotSize] === start && isAt(next - 1, sha256)) return next - 1;
      }
    },
  };
}

export type HashIndex = ReturnType<typeof createHashIndex>;

// A power of two, at most half of them taken: a search ends after one or two steps.
function emptySlots(room: number): Uint32Array {
  return new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(room, 8) * 2)) * slotSize);
}

function firstWord(sha256: string): number {
  let value = 0;
  for (let digit = 0; digit < 8; digit++) {
    const code = sha256.charCodeAt(digit);
    value = (value << 4) | (code < 97 ? code - 48 : code - 87);
  }
  return value >>> 0;
}
