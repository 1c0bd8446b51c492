import { isKeyCharacter, keyPrefixes, redactKeys } from "../domain/api-key.js";
import { decodePrintable } from "../domain/find-key.js";

const longestPath = 500;

/** A path as it may be shown: no keys, however often they are percent-encoded, and not endless (R46). */
export function redactPath(path: string): string {
  const shown = redactEncoded(path);
  return shown.length > longestPath ? `${shown.slice(0, longestPath)}…` : shown;
}

/** A text as it may be shown: no keys, however often they are percent-encoded (R46). */
export function redactEncoded(text: string): string {
  const decoded = decodePrintable(text);
  const redacted = redactBase64(redactKeys(decoded));
  // Only a text that hides a key is shown decoded: any other is shown as it was sent.
  return redacted === decoded ? text : redacted;
}

// Prefixes are of three, six, nine … letters, so that their Base64 is the same whatever comes behind them.
const base64Prefixes = keyPrefixes.map(({ prefix }) => btoa(prefix));

// What stands at the beginning of what was encoded; a key further in looks like anything.
function redactBase64(text: string): string {
  return base64Prefixes.reduce(redactBehind, text);
}

function redactBehind(text: string, prefix: string): string {
  let shown = "";
  let from = 0;
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, from)) {
    const start = at + prefix.length;
    let end = start;
    while (isBase64(text.charCodeAt(end))) end += 1;
    shown += text.slice(from, start) + (end > start ? "…" : "");
    from = end;
  }
  return shown + text.slice(from);
}

// Both alphabets; what pads it tells nothing.
function isBase64(code: number): boolean {
  return isKeyCharacter(code) || code === 43 || code === 47;
}
