// How the prefix of a key is found in an encoded text, whose other bytes are not known.

const bitsOfByte = 8;
const bitsOfLetter = 6;

/**
 * The three forms of a prefix in Base64, which writes three bytes as a group of four letters: the prefix starts at the
 * first, second or third byte of a group. A letter that also has bits of another byte (`?`) is not part of the form.
 *
 * @example
 * // bytes    SVC  _te  st_
 * // letters  U1ZD X3Rl c3Rf       letters 0 to 12
 *
 * // bytes    ?SV  C_t  est  _??
 * // letters  ??NW Q190 ZXN0 X???  letters 2 to 13
 */
export function base64Forms(prefix: string): string[] {
  const forms: string[] = [];
  for (const bytesBefore of [0, 1, 2]) {
    const letters = btoa("\0".repeat(bytesBefore) + prefix);
    const bitsBefore = bytesBefore * bitsOfByte;
    const bitsToEnd = bitsBefore + prefix.length * bitsOfByte;
    const firstOwnLetter = Math.ceil(bitsBefore / bitsOfLetter);
    const endOfOwnLetters = Math.floor(bitsToEnd / bitsOfLetter);
    forms.push(letters.slice(firstOwnLetter, endOfOwnLetters));
  }
  return forms;
}

/** A prefix in hex, in lower and upper case, and its three forms in Base64. */
export function encodingsOf(prefix: string): string[] {
  let hex = "";
  for (const character of prefix) hex += character.charCodeAt(0).toString(16);
  return [hex, hex.toUpperCase(), ...base64Forms(prefix)];
}
