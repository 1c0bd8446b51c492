// How the prefix of a key is found in an encoded text, whose other bytes are not known.

/** The letters that a prefix has in Base64, whatever is before and after it. */
interface Base64Prefix {
  readonly letters: string;
  /** How many letters are before them in the group of four in which the prefix starts. */
  readonly lettersBefore: number;
}

const bitsOfByte = 8;
const bitsOfLetter = 6;

/**
 * The three forms of a prefix in Base64, which writes three bytes as a group of four letters: the prefix starts at the
 * first, second or third byte of a group. A letter that also has bits of another byte (`?`) is not part of the form.
 *
 * @example
 * // bytes    SVC  _te  st_
 * // letters  U1ZD X3Rl c3Rf       all 12, none before them
 *
 * // bytes    ?SV  C_t  est  _??
 * // letters  ??NW Q190 ZXN0 X???  11, 2 before them
 */
export function base64Prefixes(prefix: string): Base64Prefix[] {
  const forms: Base64Prefix[] = [];
  for (const bytesBefore of [0, 1, 2]) {
    const encoded = btoa("\0".repeat(bytesBefore) + prefix);
    // The first letter without bits of the bytes before the prefix, and the last one without bits of those behind it.
    const start = Math.ceil((bytesBefore * bitsOfByte) / bitsOfLetter);
    const end = Math.floor(((bytesBefore + prefix.length) * bitsOfByte) / bitsOfLetter);
    forms.push({ letters: encoded.slice(start, end), lettersBefore: start });
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
