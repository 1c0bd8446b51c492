// How the prefix of a key is found in an encoded text, whose other bytes are not known.

/** The letters that a prefix has in Base64, whatever is before and after it. */
interface Base64Prefix {
  readonly letters: string;
  /** How many letters are before them in the group of four in which the prefix starts. */
  readonly lettersBefore: number;
}

/** Where a prefix can start in a group of three bytes: the letters before it have bits of the bytes before it. */
const startsInGroup = [
  { bytesBefore: 0, lettersBefore: 0 },
  { bytesBefore: 1, lettersBefore: 2 },
  { bytesBefore: 2, lettersBefore: 3 },
];

/**
 * The three forms of a prefix in Base64, which writes groups of three bytes as groups of four letters. A prefix starts at
 * the first, second or third byte of a group. A letter has six bits: one that also has bits of another byte is left out.
 *
 * @example
 * // SVC  _te  st_
 * // U1ZD X3Rl c3Rf       all 12 letters
 *
 * // ?SV  C_t  est  _??
 * // ??NW Q190 ZXN0 X???  11 letters, 2 before them
 */
export function base64Prefixes(prefix: string): Base64Prefix[] {
  const forms: Base64Prefix[] = [];
  for (const { bytesBefore, lettersBefore } of startsInGroup) {
    const encoded = btoa("\0".repeat(bytesBefore) + prefix);
    // A letter has six bits: only whole letters of the prefix count.
    const end = Math.floor(((bytesBefore + prefix.length) * 8) / 6);
    forms.push({ letters: encoded.slice(lettersBefore, end), lettersBefore });
  }
  return forms;
}

/** A prefix in hex, in lower and upper case, and its three forms in Base64. */
export function encodingsOf(prefix: string): string[] {
  let hex = "";
  for (const character of prefix) hex += character.charCodeAt(0).toString(16);
  const encodings = [hex, hex.toUpperCase()];
  for (const { letters } of base64Prefixes(prefix)) encodings.push(letters);
  return encodings;
}
