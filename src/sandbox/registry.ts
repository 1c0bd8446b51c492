import { type KeyEnds, type KeyRecord, type KeyState, keyStateAt, keyStates } from "../domain/api-key.js";
import { SandboxError } from "../domain/errors.js";
import type { Organization } from "../domain/organization.js";
import { didYouMean, type KnownRefs } from "../scenario/problems/words.js";
import type { KnownAnswer } from "./behaviour/known-answers.js";
import type { Usage } from "./counters.js";

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

/** The keys of one world by their refs, in the order in which the scenario lists them and then in which they came. */
export interface Keys extends KnownRefs, Pick<ReadonlyMap<string, KeyEntry>, "get"> {
  readonly values: () => Iterable<KeyEntry>;
}

/** The described keys of a world, each of which is made when it is first used. */
export interface DescribedKeys {
  readonly described: readonly { readonly ref: string; readonly organization: string }[];
  /** Their places by their refs, and by their hashes; worlds share both. */
  readonly places: ReadonlyMap<string, number>;
  readonly hashes: HashIndex;
  /** Makes the one at a place, as it was when the world started. */
  readonly make: (place: number) => UsedKey;
  /** What ends the one at a place, without making it. */
  readonly endsAt: (place: number) => KeyEnds;
  /** An ended key of no organization: an unknown key takes the same work as a known one (R14). */
  readonly decoy: UsedKey;
}

/**
 * Makes the registry of a world, which holds hashes of keys, never keys (R35).
 *
 * Of a million keys a client uses a few: the others stay a place and a hash, which cost little memory and no time.
 */
export function createRegistry(
  records: readonly Organization[],
  { described, places, hashes, make, endsAt, decoy }: DescribedKeys,
) {
  const organizations: ReadonlyMap<string, OrganizationEntry> = new Map(
    records.map((record) => [record.ref, { organization: record }]),
  );
  // Those of the keys made at run time, behind the described ones; most worlds have none.
  let added: { places: Map<string, number>; hashes: ReturnType<typeof createHashIndex> } | undefined;
  const made = new Array<KeyEntry | undefined>(described.length);
  let madeCount = 0;

  /** Throws `unknown_ref`, with the refs there are. */
  const organization = (ref: string): OrganizationEntry =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);

  function entryAt(place: number): KeyEntry {
    return made[place] ?? enter(place, make(place));
  }

  function enter(place: number, { key, usage }: UsedKey): KeyEntry {
    const entry = { key, holder: organization(key.organization), usage };
    made[place] = entry;
    madeCount += 1;
    return entry;
  }

  const placeOf = (ref: string) => places.get(ref) ?? added?.places.get(ref);
  const holderAt = (place: number) => (made[place]?.key ?? described[place])?.organization;

  const keys: Keys = {
    get size() {
      return made.length;
    },
    has: (ref) => placeOf(ref) !== undefined,
    get(ref) {
      const place = placeOf(ref);
      return place === undefined ? undefined : entryAt(place);
    },
    *keys() {
      yield* places.keys();
      if (added !== undefined) yield* added.places.keys();
    },
    *values() {
      for (let place = 0; place < made.length; place++) yield entryAt(place);
    },
  };
  return {
    organizations,
    organization,
    keys,
    /** Throws `unknown_ref`, with the refs there are. */
    key: (ref: string): KeyEntry => keys.get(ref) ?? unknownRef("key", ref, keys),
    /** The keys of one organization. */
    keysOf(ref: string): KeyEntry[] {
      const found: KeyEntry[] = [];
      for (let place = 0; place < made.length; place++) {
        if (holderAt(place) === ref) found.push(entryAt(place));
      }
      return found;
    },
    /** The key with this SHA-256, if the world has it. */
    find(sha256: string): KeyEntry | undefined {
      // Sought in both in every case, so that a key takes as long as one that is not there (R14).
      const late = added?.hashes.find(sha256);
      const place = hashes.find(sha256) ?? (late === undefined ? undefined : described.length + late);
      return place === undefined ? undefined : entryAt(place);
    },
    /** The number of keys in each state at an instant; makes none. */
    countStates(now: number): Readonly<Record<KeyState, number>> {
      const counts = Object.fromEntries(keyStates.map((state) => [state, 0])) as Record<KeyState, number>;
      for (let place = 0; place < made.length; place++) {
        counts[keyStateAt(made[place]?.key ?? endsAt(place), now)] += 1;
      }
      return counts;
    },
    /** The number of keys made so far. */
    made: () => madeCount,
    decoy,
    /**
     * Does what the lookup of this key did not: makes a key, unless it made one, and reads another one, unless it read
     * an old one. So an unknown key takes as long as one that is used for the first time, or after a long time (R14).
     */
    workInVain(sha256: string, lookup: { entry: KeyEntry | undefined; isNewEntry: boolean }): void {
      if (described.length === 0) return;
      const place = Number.parseInt(sha256.slice(0, 8), 16) % described.length;
      if (!lookup.isNewEntry) make(place);
      const { key, usage } = (lookup.isNewEntry ? undefined : lookup.entry) ?? made[place] ?? decoy;
      // Written down, or a compiler would not read it.
      decoy.usage.dayCount = usage.dayCount + (key.revokedAt ?? 0);
    },
    /** Its organization must be there. */
    addKey(key: KeyRecord, usage: Usage): void {
      const place = made.length;
      added ??= { places: new Map(), hashes: createHashIndex(0) };
      added.hashes.add(key.sha256);
      added.places.set(key.ref, place);
      enter(place, { key, usage });
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

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

/** The places of hashes, to be read. */
export type HashIndex = Pick<ReturnType<typeof createHashIndex>, "find" | "at">;

const wordsEach = 8;
const digitsEach = 8;

/**
 * Makes an index of the SHA-256 of each key at its place: 0, 1, 2 … in the order in which they came. It has room for as
 * many as are expected, and grows when there are more.
 *
 * Typed arrays of about 45 bytes a key: nothing in them is an object that a garbage collector has to go through, so
 * that a world of a million keys answers like one of ten.
 */
export function createHashIndex(expected: number) {
  let room = Math.max(expected, 8);
  let hashes = new Uint32Array(room * wordsEach);
  let slots = emptySlots(room);
  let size = 0;

  // The hash of a key is as good a hash as there is: its first word says where to begin.
  function enter(place: number): void {
    const last = slots.length - 1;
    let slot = (hashes[place * wordsEach] as number) & last;
    while (slots[slot] !== 0) slot = (slot + 1) & last;
    slots[slot] = place + 1;
  }

  function grow(): void {
    room *= 2;
    const larger = new Uint32Array(room * wordsEach);
    larger.set(hashes);
    hashes = larger;
    slots = emptySlots(room);
    for (let place = 0; place < size; place++) enter(place);
  }

  function isAt(place: number, sha256: string): boolean {
    for (let word = 1; word < wordsEach; word++) {
      if (hashes[place * wordsEach + word] !== wordOf(sha256, word)) return false;
    }
    return true;
  }

  return {
    /** Puts one more at the next place; 64 lower-case hex digits. */
    add(sha256: string): void {
      if (size === room) grow();
      for (let word = 0; word < wordsEach; word++) hashes[size * wordsEach + word] = wordOf(sha256, word);
      enter(size);
      size += 1;
    },
    /** The one at a place. */
    at(place: number): string {
      const words = hashes.subarray(place * wordsEach, (place + 1) * wordsEach);
      return Array.from(words, (word) => word.toString(16).padStart(digitsEach, "0")).join("");
    },
    /** The place of a hash; `undefined` when it is not there. */
    find(sha256: string): number | undefined {
      const first = wordOf(sha256, 0);
      const last = slots.length - 1;
      for (let slot = first & last; slots[slot] !== 0; slot = (slot + 1) & last) {
        const place = (slots[slot] as number) - 1;
        if (hashes[place * wordsEach] === first && isAt(place, sha256)) return place;
      }
      return undefined;
    },
  };
}

// A power of two, at most half of them taken: a search ends after one or two steps. 0 stands for a free one.
function emptySlots(room: number): Uint32Array {
  return new Uint32Array(2 ** Math.ceil(Math.log2(room * 2)));
}

function wordOf(sha256: string, word: number): number {
  let value = 0;
  for (let digit = word * digitsEach; digit < (word + 1) * digitsEach; digit++) {
    const code = sha256.charCodeAt(digit);
    value = (value << 4) | (code < 97 ? code - 48 : code - 87);
  }
  return value >>> 0;
}
