// SHA-256 (FIPS 180-4) for every modern JavaScript runtime: keys are short, and this is made for one block of short text.

import { hexOf } from "../domain/seed.js";

const primes: number[] = [];
for (let number = 2; primes.length < 64; number++) {
  if (primes.every((prime) => number % prime !== 0)) primes.push(number);
}
// The first 32 bits behind the point; in no root is what follows them so near to the next value that an engine's last bit
// would matter.
const bitsBehindPoint = (root: number) => ((root % 1) * 2 ** 32) | 0;
const start = Int32Array.from(primes.slice(0, 8), (prime) => bitsBehindPoint(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => bitsBehindPoint(Math.cbrt(prime)));

const blockBytes = 64;
// Used by every call: to make them anew takes as long as the hash.
const shortText = new Uint8Array(4 * blockBytes);
const words = new Int32Array(64);
const state = new Int32Array(8);

/** SHA-256 of bytes, or of a text's UTF-8 bytes, as 64 lower-case hex digits. */
export function sha256(text: string | Uint8Array): string {
  // A unit is at most three bytes; behind the text come a bit and its length, which may take another block.
  const room = text.length * 3 + blockBytes + 9;
  const bytes = room <= shortText.length ? shortText : new Uint8Array(room);
  const length = typeof text === "string" ? writeUtf8(text, bytes) : text.length;
  if (typeof text !== "string") bytes.set(text);
  const end = Math.ceil((length + 9) / blockBytes) * blockBytes;
  bytes[length] = 0x80;
  for (let at = end - 1, bits = length * 8; bits > 0; at--, bits = Math.floor(bits / 256)) bytes[at] = bits;
  state.set(start);
  for (let offset = 0; offset < end; offset += blockBytes) addBlock(bytes, offset);
  // Keys are kept nowhere (R35).
  bytes.fill(0, 0, end);
  words.fill(0);
  let digits = "";
  for (let i = 0; i < 8; i++) digits += hexOf(state[i] as number);
  return digits;
}

// Some test environments have no `TextEncoder`, and keys do not need one.
function writeUtf8(text: string, bytes: Uint8Array): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return new TextEncoder().encodeInto(text, bytes).written;
    bytes[i] = unit;
  }
  return text.length;
}

function addBlock(bytes: Uint8Array, offset: number): void {
  const w = words;
  for (let i = 0; i < 16; i++) {
    const at = offset + i * 4;
    w[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  }
  for (let i = 16; i < 64; i++) {
    const early = w[i - 15] as number;
    const late = w[i - 2] as number;
    const one = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const other = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    w[i] = ((w[i - 16] as number) + one + (w[i - 7] as number) + other) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let i = 0; i < 64; i++) {
    const mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const one = (h + mixed + chosen + (constants[i] as number) + (w[i] as number)) | 0;
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
