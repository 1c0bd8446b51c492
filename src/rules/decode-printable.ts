/** How often a text is decoded: each proxy on its way may have encoded it once. */
const maxDecodings = 10;

/** Decodes printable ASCII repeatedly: a key that three proxies encoded is still a key. A line break would forge a line of a log. */
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

/** What is before the two hex digits of an encoded character; in JSON in JSON, two backslashes. The longer ones first. */
const escapes: readonly string[] = ["%u00", "%U00", "%", "\\\\u00", "\\u00"];

/** Decodes `%53`, `%u0053` and `\u0053`. What is no printable character stays as it is encoded. */
function decodeOnce(encoded: string): string {
  let decoded = "";
  /** The end of what `decoded` stands for. */
  let done = 0;
  for (let at = 0; at < encoded.length; at++) {
    const digits = endOfEscape(encoded, at);
    if (digits === at) continue;
    const code = hexDigit(encoded.charCodeAt(digits)) * 16 + hexDigit(encoded.charCodeAt(digits + 1));
    const isPrintable = code >= 0x20 && code < 0x7f;
    if (!isPrintable) continue;
    decoded += encoded.slice(done, at) + String.fromCharCode(code);
    done = digits + 2;
    at = done - 1;
  }
  return decoded + encoded.slice(done);
}

/** The end of the escape that starts at a position; the position itself if none does. */
function endOfEscape(text: string, at: number): number {
  const first = text[at];
  if (first !== "%" && first !== "\\") return at;
  for (const opening of escapes) {
    if (text.startsWith(opening, at)) return at + opening.length;
  }
  return at;
}

/** The value of a hex digit by its character code; NaN for another character. */
function hexDigit(code: number): number {
  if (code >= 48 && code < 58) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter < 103 ? letter - 87 : Number.NaN;
}
