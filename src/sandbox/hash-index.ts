/**
 * The SHA-256 of each key at its place: 0, 1, 2 … in the order in which they came.
 *
 * Typed arrays of about 45 bytes a key: nothing in them is an object that a garbage collector has to go through, so
 * that a world of a million keys answers like one of ten.
 */
export interface HashIndex {
  readonly size: () => number;
  /** Puts one more at the next place; 64 lower-case hex digits. */
  readonly add: (sha256: string) => void;
  /** The one at a place. */
  readonly at: (place: number) => string;
  /** Where it stands; `undefined` when it is not there. */
  readonly find: (sha256: string) => number | undefined;
}

const wordsEach = 8;
const digitsEach = 8;

/** Makes an empty index with room for as many; it grows when there are more. */
export function createHashIndex(expected: number): HashIndex {
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
    size: () => size,
    add(sha256) {
      if (size === room) grow();
      for (let word = 0; word < wordsEach; word++) hashes[size * wordsEach + word] = wordOf(sha256, word);
      enter(size);
      size += 1;
    },
    at(place) {
      const words = hashes.subarray(place * wordsEach, (place + 1) * wordsEach);
      return Array.from(words, (word) => word.toString(16).padStart(digitsEach, "0")).join("");
    },
    find(sha256) {
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
