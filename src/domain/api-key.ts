/** The two worlds a key can belong to (R3). */
export const environments = ["test", "live"] as const;
export type Environment = (typeof environments)[number];

/** What the beginning of a key says: its environment, and whether it is of the legacy kind (R3, R16). */
export interface KeyPrefix {
  readonly prefix: string;
  readonly environment: Environment;
  readonly legacy: boolean;
}

/** The four prefixes of the specification (section 2.2), in the order in which they are tried. */
export const keyPrefixes: readonly KeyPrefix[] = [
  { prefix: "SVC_test_", environment: "test", legacy: false },
  { prefix: "SVC_live_", environment: "live", legacy: false },
  { prefix: "legacysvc_test_", environment: "test", legacy: true },
  { prefix: "legacysvc_live_", environment: "live", legacy: true },
];

/** What every key that the sandbox derives has between its prefix and its random part. */
export const sandboxMark = "sbx";

/** How many characters a key has at most, prefix included; longer ones are malformed. */
export const maximumKeyLength = 256;

// The specification does not describe the part after the prefix. We accept what URL-safe random
// strings are made of, so that a pinned secret may have the shape of the partner's own test data.
const keyBody = /^[A-Za-z0-9_-]+$/;

/** A well-formed key, taken apart. `marked` is true for keys that a sandbox made (or pretends to have made). */
export interface ParsedApiKey extends KeyPrefix {
  readonly marked: boolean;
}

/**
 * Reads the prefix of a key, or answers `undefined` when the string is not a well-formed key (R10).
 *
 * Never throws. Prefixes are case-sensitive.
 *
 * @example
 * parseApiKey("SVC_test_sbx0abc"); // { prefix: "SVC_test_", environment: "test", legacy: false, marked: true }
 * parseApiKey("Bearer abc"); // undefined
 */
export function parseApiKey(presented: string): ParsedApiKey | undefined {
  if (presented.length > maximumKeyLength) return undefined;
  for (const row of keyPrefixes) {
    if (!presented.startsWith(row.prefix)) continue;
    const body = presented.slice(row.prefix.length);
    if (!keyBody.test(body)) return undefined;
    return { ...row, marked: body.startsWith(sandboxMark) };
  }
  return undefined;
}

/** Whether the string is a well-formed key; the same answer as {@link parseApiKey}, without the parts. */
export function isWellFormedKey(presented: string): boolean {
  return wellFormedKey.test(presented) && presented.length <= maximumKeyLength;
}

const wellFormedKey = new RegExp(`^(?:${keyPrefixes.map((row) => row.prefix).join("|")})[A-Za-z0-9_-]+$`);

/** The prefix that a key of this environment and kind begins with. */
export function prefixOf(environment: Environment, legacy: boolean): string {
  const row = keyPrefixes.find((one) => one.environment === environment && one.legacy === legacy);
  // The table above holds all four combinations, so this only fails when it is edited wrongly.
  if (row === undefined) throw new Error(`no key prefix for ${environment}, legacy ${legacy}`);
  return row.prefix;
}

/** What may stand for a key in a list or a log: the first 12 hex digits of its SHA-256. */
export function fingerprintOf(sha256: string): string {
  return sha256.slice(0, 12);
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
