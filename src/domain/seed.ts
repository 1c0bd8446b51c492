/** A source of numbers: each call gives the next unsigned 32-bit integer. */
export type RandomStream = () => number;

/** The seed when none is given. */
export const defaultSeed = 1;

/**
 * A stream of numbers that depends on nothing but the seed and the labels.
 *
 * Each named thing (a key's secret, an organization's id) draws from a stream of its own, so that adding one thing
 * changes no other. Not for secrets that must resist an attacker: the seed gives the stream.
 *
 * @example
 * const draw = drawsFor(1, "organization.id", "harvest-bank");
 * draw(); // the same number in every process
 */
export function randomStream(seed: number, ...labels: readonly string[]): RandomStream {
  return sfc32(finish(absorb(startOfHash, [String(seed), ...labels].join("\u0000"))));
}

/** Returns the streams of labels that begin alike, by the last of them: for many of them, the beginning is hashed once. */
export function randomStreams(seed: number, ...labels: readonly string[]): (label: string) => RandomStream {
  const begun = absorb(startOfHash, [String(seed), ...labels, ""].join("\u0000"));
  return (label) => sfc32(finish(absorb(begun, label)));
}

/** One of the items, each equally likely. */
export function pick<Item>(draw: RandomStream, items: readonly Item[]): Item {
  return items[Math.floor((draw() / 4_294_967_296) * items.length)] as Item;
}

const base62 = Uint8Array.from(
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  (character) => character.charCodeAt(0),
);

/** `length` characters of `0-9A-Za-z`, each equally likely. */
export function base62From(draw: RandomStream, length: number): string {
  const codes = new Uint8Array(length);
  fillBase62(draw, codes, 0);
  return String.fromCharCode(...codes);
}

/** Writes the codes of such characters from an index on, up to the end. */
export function fillBase62(draw: RandomStream, codes: Uint8Array, from: number): void {
  for (let index = from; index < codes.length; ) {
    // Six bits give 0–63; the two values too many are thrown away, so that no character is favoured.
    const value = draw() >>> 26;
    if (value < 62) codes[index++] = base62[value] as number;
  }
}

/** A UUID (version 4 in form) from the stream. */
export function uuidFrom(draw: RandomStream): string {
  const digits = [draw(), draw(), draw(), draw()].map(hexOf).join("");
  const variant = "89ab"[Number.parseInt(digits[16] as string, 16) & 3];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join("-");
}

/** Mixes a 32-bit integer into another one; different inputs give different outputs (MurmurHash3's finalizer). */
export function mix32(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The state of a hash: four lanes, and the number of characters so far. */
type HashState = readonly [a: number, b: number, c: number, d: number, length: number];

const startOfHash: HashState = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0];

// Four independent FNV-1a-like lanes over UTF-16 units, each finished with a full mix. Not cryptographic: it has to
// spread short labels well, not to resist an attacker.
function absorb(state: HashState, text: string): HashState {
  let [a, b, c, d] = state;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca77) ^ (b >>> 15);
    c = Math.imul(c ^ unit, 0xc2b2ae3d) ^ (c >>> 13);
    d = Math.imul(d ^ unit, 0x27d4eb2f) ^ (d >>> 16);
  }
  return [a, b, c, d, state[4] + text.length];
}

function finish([a, b, c, d, length]: HashState): [number, number, number, number] {
  const first = a ^ length;
  return [mix32(first ^ d), mix32(b ^ first), mix32(c ^ b), mix32(d ^ c)];
}

// Chris Doty-Humphrey's small fast counting generator (PractRand), 32-bit, public domain algorithm.
function sfc32(state: readonly [number, number, number, number]): RandomStream {
  // Signed, as all that follow: a number that changes its form is slow.
  let a = state[0] | 0;
  let b = state[1] | 0;
  let c = state[2] | 0;
  let d = state[3] | 0;
  const next = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  // The first draws of related states resemble each other; a dozen rounds part them.
  for (let i = 0; i < 12; i++) next();
  return next;
}

const hexByte = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

/** An integer of 32 bits as eight hex digits, put together of bytes: `toString` takes longer. */
export function hexOf(word: number): string {
  return (
    (hexByte[word >>> 24] as string) +
    hexByte[(word >>> 16) & 255] +
    hexByte[(word >>> 8) & 255] +
    hexByte[word & 255]
  );
}
