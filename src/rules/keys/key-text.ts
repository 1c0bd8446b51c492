import { base62From, type RandomStream } from "../seed.js";

// A key as text: its parts, how they are recognized, and how a new key is made.

export const environments = ["test", "live"] as const;
export type Environment = (typeof environments)[number];

/** The prefix of a key, with its environment and kind (R3, R16). */
interface KeyPrefix {
  readonly prefix: string;
  readonly environment: Environment;
  readonly legacy: boolean;
}

/** The four prefixes of the specification (section 2.2), in the order they are tried. */
export const keyPrefixes: readonly KeyPrefix[] = [
  { prefix: "SVC_test_", environment: "test", legacy: false },
  { prefix: "SVC_live_", environment: "live", legacy: false },
  { prefix: "legacysvc_test_", environment: "test", legacy: true },
  { prefix: "legacysvc_live_", environment: "live", legacy: true },
];

/** The mark between the prefix and the random part of every key that a sandbox creates. */
export const sandboxMark = "sbx";

/** The number of random characters at the end of every key that a sandbox creates. */
export const randomLength = 29;

/** The maximum length of a key in characters, including its prefix. Longer keys are malformed. */
const maximumKeyLength = 256;

export function findPrefix(text: string): KeyPrefix | undefined {
  for (const row of keyPrefixes) {
    if (text.startsWith(row.prefix)) return row;
  }
  return undefined;
}

export function prefixOf(environment: Environment, legacy: boolean): string {
  const isWanted = (row: KeyPrefix) => row.environment === environment && row.legacy === legacy;
  const row = keyPrefixes.find(isWanted) as KeyPrefix; // there is one for each pair
  return row.prefix;
}

/** What a request has as its key: no header, a text that is no key, or a key, known or not. */
export type PresentedKind = "missing" | "malformed" | "well_formed";

/**
 * Whether a text has the form of a key (R10): a prefix, then letters, digits, `_` and `-`, at most 256 characters. The
 * specification does not describe more.
 */
export function isWellFormedKey(text: string): boolean {
  const prefix = findPrefix(text)?.prefix;
  if (prefix === undefined || text.length > maximumKeyLength) return false;
  return /^[\w-]+$/.test(text.slice(prefix.length));
}

export function hasSandboxMark(text: string): boolean {
  const row = findPrefix(text);
  return row !== undefined && text.startsWith(sandboxMark, row.prefix.length);
}

/** What the prefix of a well-formed key says, and whether it has the mark of a sandbox; `undefined` for any other text. */
export function parseApiKey(text: string): (KeyPrefix & { readonly hasMark: boolean }) | undefined {
  if (!isWellFormedKey(text)) return undefined;
  const row = findPrefix(text) as KeyPrefix; // a well-formed key has one
  return { ...row, hasMark: hasSandboxMark(text) };
}

/** Whether a text has the form of the keys that sandboxes create: a prefix, the mark and a random part of its length. */
export function isSandboxKey(text: string): boolean {
  const key = parseApiKey(text);
  if (key === undefined || !key.hasMark) return false;
  return text.length === key.prefix.length + sandboxMark.length + randomLength;
}

/** Creates a full key: prefix, `sbx`, and 29 base62 characters from the stream. */
export function makeSecret(
  random: RandomStream,
  key: { readonly environment: Environment; readonly legacy: boolean },
): string {
  const prefix = prefixOf(key.environment, key.legacy);
  return prefix + sandboxMark + base62From(random, randomLength);
}

/** The part of a key's hash that names a key in logs and reports. */
export function fingerprintOf(sha256: string): string {
  return sha256.slice(0, 12);
}

/** The environment variable with the key of this ref, for clients: `SVC_KEY_REVOKED`. */
export function keyVariable(ref: string): string {
  return `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`;
}

/** Describes a presented key without any of its characters (R46): `18 characters, a quotation mark first`. */
export function describeKeyForm(presented: string): string {
  if (presented === "") return "empty";
  const length = presented.length === 1 ? "1 character" : `${presented.length} characters`;

  const prefix = findPrefix(presented)?.prefix;
  if (prefix === undefined) {
    if (presented.startsWith('"') || presented.startsWith("'")) return `${length}, a quotation mark first`;
    if (presented.includes(" ")) return `${length}, no prefix of a key, a space in it`;
    return `${length}, no prefix of a key`;
  }
  if (prefix === presented) return `${length}, nothing behind the prefix`;
  if (presented.length > maximumKeyLength) return `${length}, more than a key can have`;
  if (!isWellFormedKey(presented)) return `${length}, some of which no key has`;
  if (!hasSandboxMark(presented)) return `${length}, without the mark of a sandbox`;

  // A sandbox's key, perhaps cut or extended.
  const excess = presented.length - prefix.length - sandboxMark.length - randomLength;
  if (excess === 0) return length;
  const comparison = excess > 0 ? `${excess} more` : `${-excess} less`;
  return `${length}: ${comparison} than a key of this sandbox has`;
}
