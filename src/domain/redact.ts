import { isKeyCharacter, keyPrefixes } from "./api-key.js";

/**
 * Everything in a text that looks like a key: one of the four prefixes and at least one character after it, also when it
 * is percent-encoded, wholly or in part.
 *
 * @example
 * findKeys("?key=SVC_test_sbx0abc&about=SVC_test_"); // ["SVC_test_sbx0abc"]
 */
export function findKeys(text: string): string[] {
  // Not a regular expression: V8 keeps the last string that one was tried on, and this one may hold a key (R46).
  const plain = decodePrintable(text);
  const found: string[] = [];
  for (const { prefix } of keyPrefixes) findPrefixed(plain, prefix, found);
  return found;
}

/** Whether a text holds something that looks like a key, as `findKeys` finds it. */
export function containsKey(text: string): boolean {
  return findKeys(text).length > 0;
}

function findPrefixed(text: string, prefix: string, found: string[]): void {
  let end = 0;
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, end)) {
    end = at + prefix.length;
    while (isKeyCharacter(text.charCodeAt(end))) end += 1;
    if (end > at + prefix.length) found.push(text.slice(at, end));
  }
}

const mostDecodings = 10;

/**
 * A text with every percent-encoded printable ASCII character decoded, however often it was encoded.
 *
 * A key that was encoded by three proxies is still a key. Byte by byte, because what is beside the key need not be valid
 * encoding. Only printable ASCII: keys have no other letters, and a line break in a log would be a forged line.
 */
export function decodePrintable(text: string): string {
  let decoded = text;
  for (let i = 0; i < mostDecodings && decoded.includes("%"); i++) {
    const next = decodeOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

function decodeOnce(text: string): string {
  let decoded = "";
  let from = 0;
  for (let at = text.indexOf("%"); at !== -1; at = text.indexOf("%", at + 1)) {
    const code = hexDigit(text.charCodeAt(at + 1)) * 16 + hexDigit(text.charCodeAt(at + 2));
    if (!(code >= 0x20 && code < 0x7f)) continue;
    decoded += text.slice(from, at) + String.fromCharCode(code);
    from = at + 3;
    at = from - 1;
  }
  return decoded + text.slice(from);
}

/** The value of a digit's character code; `NaN` for what is none. */
function hexDigit(code: number): number {
  if (code >= 48 && code < 58) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter < 103 ? letter - 87 : Number.NaN;
}

const anyKey = /(legacysvc|svc)(_|%5f)(test|live)(_|%5f)[\w%~.-]+/gi;

/**
 * Replaces everything in a text that looks like a key by its prefix and `…` (R46).
 *
 * Keys are found in any letter case and when their underscores are percent-encoded.
 *
 * @example
 * redactKeys("/v1?key=SVC_test_sbx123"); // "/v1?key=SVC_test_…"
 */
export function redactKeys(text: string): string {
  return text.replace(anyKey, (_match, product, a, environment, b) => `${product}${a}${environment}${b}…`);
}

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

// Finds keys at the beginning of an encoded text; a key further in has no fixed form.
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
