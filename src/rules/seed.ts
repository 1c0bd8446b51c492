/** A source of numbers: each call gives the next unsigned 32-bit integer. */
export type RandomStream = () => number;

export const defaultSeed = 1;

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const hexByte = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

/**
 * A stream of numbers that depends only on the seed and the labels.
 *
 * Each named thing (a key's secret, an organization's id) has its own stream, so adding one thing changes no other. Not
 * for secrets that must resist an attacker: anyone with the seed can compute the stream.
 *
 * @example
 * const draw = randomStream(1, "organization.id", "harvest-bank");
 * draw(); // the same number in every process
 */
export function randomStream(seed: number, ...labels: readonly string[]): RandomStream {
  return sfc32(hash128([String(seed), ...labels].join("\u0000")));
}

/** One of the items, each equally likely; takes one number. */
export function pick<Item>(draw: RandomStream, items: readonly Item[]): Item {
  return items[Math.floor((draw() / 4_294_967_296) * items.length)] as Item;
}

/** `length` characters of `0-9A-Za-z`, each equally likely. */
export function base62From(draw: RandomStream, length: number): string {
  let text = "";
  while (text.length < length) {
    // Six bits are 0–63; `charAt` drops the two extra values, so that no character is favored.
    text += base62.charAt(draw() >>> 26);
  }
  return text;
}

/** Mixes a 32-bit integer into another one; different inputs have different outputs (MurmurHash3's finalizer). */
export function mix32(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * The hash of a text: four hashes of 32 bits, like FNV-1a, each with a multiplier of its own and all but the first with a
 * shift, then mixed with each other: the four words of a generator's state. It spreads short labels well, and keeps no secret. A change of any number here changes all seeded data.
 */
function hash128(text: string): readonly [number, number, number, number] {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  let c = 0x85ebca6b;
  let d = 0xc2b2ae35;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca77) ^ (b >>> 15);
    c = Math.imul(c ^ unit, 0xc2b2ae3d) ^ (c >>> 13);
    d = Math.imul(d ^ unit, 0x27d4eb2f) ^ (d >>> 16);
  }
  a ^= text.length;
  return [mix32(a ^ d), mix32(b ^ a), mix32(c ^ b), mix32(d ^ c)];
}

/** The generator sfc32 of Chris Doty-Humphrey (PractRand, public domain): three words are mixed, and the fourth counts. */
function sfc32(state: ReturnType<typeof hash128>): RandomStream {
  // Signed, like all later values: V8 is slow if the representation of a number changes.
  let a = state[0] | 0;
  let b = state[1] | 0;
  let c = state[2] | 0;
  let d = state[3] | 0;
  const draw = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  // The first draws of related states are similar; a dozen rounds separate them.
  for (let round = 0; round < 12; round++) draw();
  return draw;
}

/** A 32-bit integer as eight hex digits, built from bytes: `toString` is slower. */
export function hexOf(word: number): string {
  return (
    (hexByte[word >>> 24] as string) +
    hexByte[(word >>> 16) & 255] +
    hexByte[(word >>> 8) & 255] +
    hexByte[word & 255]
  );
}
