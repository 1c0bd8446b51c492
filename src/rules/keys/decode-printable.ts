/** How often a text is decoded: each proxy on its way may have encoded it once. */
const maxDecodings = 10;

/** Decodes printable ASCII repeatedly: a key that three proxies encoded is still a key. */
export function decodePrintable(text: string): string {
  let decoded = text;
  for (let round = 0; round < maxDecodings; round++) {
    const mayBeEncoded = decoded.includes("%") || decoded.includes("\\u00");
    if (!mayBeEncoded) break;
    const next = decodeOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

/** What is before the two hex digits of an encoded character. The first that fits counts: `%` comes last of its kind. */
const escapeStarts: readonly string[] = [
  "%u00", // of %u0053
  "%U00", // of %U0053
  "%", // of %53
  "\\\\u00", // of \\u0053, in JSON that is a text in JSON
  "\\u00", // of \u0053, in JSON
];

/** Decodes `%53`, `%u0053` and `\u0053`. What is no printable character stays as it is encoded. */
function decodeOnce(encoded: string): string {
  // No regular expression: the text may have a key (R35).
  let decoded = "";
  /** The text before this position is in `decoded`. */
  let copiedTo = 0;
  let at = 0;
  while (at < encoded.length) {
    const escapeStart = escapeStartAt(encoded, at);
    if (escapeStart === undefined) {
      at += 1;
      continue;
    }
    const byte = readHexByte(encoded, at + escapeStart.length);
    // Only printable characters: a decoded line break could forge a line of a log.
    if (byte === undefined || byte < 0x20 || byte >= 0x7f) {
      at += 1;
      continue;
    }

    decoded += encoded.slice(copiedTo, at) + String.fromCharCode(byte);
    at += escapeStart.length + "53".length;
    copiedTo = at;
  }
  return decoded + encoded.slice(copiedTo);
}

/** Which start of an escape is at a position; `undefined` if none is. */
function escapeStartAt(text: string, at: number): string | undefined {
  const first = text[at];
  if (first !== "%" && first !== "\\") return undefined;
  for (const escapeStart of escapeStarts) {
    if (text.startsWith(escapeStart, at)) return escapeStart;
  }
  return undefined;
}

/** The byte of the two hex digits at a position; `undefined` if there are none. */
function readHexByte(text: string, at: number): number | undefined {
  const high = hexDigit(text.charCodeAt(at));
  const low = hexDigit(text.charCodeAt(at + 1));
  if (high === undefined || low === undefined) return undefined;
  return high * 16 + low;
}

/** The value of a hex digit by its character code; `undefined` for another character. */
function hexDigit(code: number): number | undefined {
  if (code >= 48 && code < 58) return code - 48; // 0 to 9
  const lowerCase = code | 32;
  return lowerCase >= 97 && lowerCase < 103 ? lowerCase - 87 : undefined; // a to f
}
