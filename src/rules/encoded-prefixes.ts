// How the prefix of a key is found in an encoded text, whose other bytes are not known.

/**
 * Where a prefix can start in Base64, which writes three bytes as a group of four letters: behind none, one or two bytes of a
 * group. Their bits are in the first letters of the group, which so are not of the prefix alone.
 */
const base64Starts: readonly { readonly bytesBefore: number; readonly lettersBefore: number }[] = [
  { bytesBefore: 0, lettersBefore: 0 },
  { bytesBefore: 1, lettersBefore: 2 },
  { bytesBefore: 2, lettersBefore: 3 },
];

/**
 * The three forms of a prefix in Base64, one for each start: the letters that depend only on the prefix. Any other is `?` here.
 *
 * @example
 * // bytes    SVC  _te  st_
 * // letters  U1ZD X3Rl c3Rf       from letter 0
 *
 * // bytes    ?SV  C_t  est  _
 * // letters  ??NW Q190 ZXN0 X?    from letter 2; the last letter would also have bits of the next byte
 */
export function base64Forms(prefix: string): string[] {
  const forms: string[] = [];
  for (const { bytesBefore, lettersBefore } of base64Starts) {
    const letters = btoa("\0".repeat(bytesBefore) + prefix);
    // A byte has 8 bits, a letter 6.
    const bits = (bytesBefore + prefix.length) * 8;
    const fullLetters = Math.floor(bits / 6);
    forms.push(letters.slice(lettersBefore, fullLetters));
  }
  return forms;
}

/** A prefix in hex, in lower and upper case, and its three forms in Base64. */
export function encodingsOf(prefix: string): string[] {
  let hex = "";
  for (const character of prefix) hex += character.charCodeAt(0).toString(16);
  return [hex, hex.toUpperCase(), ...base64Forms(prefix)];
}
