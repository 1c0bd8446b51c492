import { redactKeys } from "../domain/api-key.js";

const longestPath = 500;
const mostDecodings = 10;

/** A path as it may be shown: no keys, however often they are percent-encoded, and not endless (R46). */
export function redactPath(path: string): string {
  const shown = redactEncoded(path);
  return shown.length > longestPath ? `${shown.slice(0, longestPath)}…` : shown;
}

/** A text as it may be shown: no keys, however often they are percent-encoded (R46). */
export function redactEncoded(text: string): string {
  const decoded = decode(text);
  const redacted = redactKeys(decoded);
  // Only a text that hides a key is shown decoded: any other is shown as it was sent.
  return redacted === decoded ? text : redacted;
}

// A key that was encoded by three proxies is still a key. Byte by byte, because what is beside the key need not be
// valid encoding. Only printable ASCII: keys have no other letters, and a line break in a log would be a forged line.
function decode(path: string): string {
  let decoded = path;
  for (let i = 0; i < mostDecodings; i++) {
    const next = decoded.replace(/%(2[0-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi, (_match, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}
