/** Names that mean something to JavaScript objects; a scenario that used them could reach into the sandbox itself. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A placeholder for an id in a story's request: `{farmer.0}`, `{consent.1}`, `{attestation.1}`. */
export const storyPlaceholder = /\{(farmer|consent|attestation)\.(\d{1,9})\}/g;

/** A short name in kebab-case, which a scenario gives to a thing. */
// A ref of digits only would be sorted before all others by JavaScript objects, whatever its place in the file.
export const refPattern = /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const maximumRefLength = 64;

/** Words that a story sends instead of a key; no key can be called so. */
export const reservedKeyRefs = ["none", "malformed", "unknown"] as const;
type ReservedKeyRef = (typeof reservedKeyRefs)[number];

/** Whether a ref is one of the {@link reservedKeyRefs}. */
export function isReserved(ref: unknown): ref is ReservedKeyRef {
  return (reservedKeyRefs as readonly unknown[]).includes(ref);
}

/**
 * Whether a scenario could give this ref to a thing.
 *
 * @example
 * isRef("core-banking"); // true
 * isRef("Core banking"); // false
 */
export function isRef(text: string): boolean {
  return text.length <= maximumRefLength && refPattern.test(text) && !forbiddenNames.has(text);
}

/** Makes a ref for a key of this name; not every name has letters to make one from. */
export function refOfName(name: string): string {
  const words = trimmed(name.toLowerCase().replace(/[^a-z0-9]+/g, "-"), maximumRefLength);
  if (isRef(words)) return words;
  return words === "" ? "key" : trimmed(`key-${words}`, maximumRefLength);
}

/** The first of `ref`, `ref-2`, `ref-3` … that no key has or can have; a long one is cut, so that it stays a ref. */
export function freeRefIn(isTaken: (ref: string) => boolean, ref: string): string {
  let free = ref;
  for (let i = 2; isTaken(free) || isReserved(free); i++) {
    const suffix = `-${i}`;
    free = trimmed(ref, maximumRefLength - suffix.length) + suffix;
  }
  return free;
}

function trimmed(words: string, length: number): string {
  return words.replace(/^-+/, "").slice(0, length).replace(/-+$/, "");
}

/** Returns how to mend a text that should be a ref. */
export function refHint(text: string): string {
  if (text.length > maximumRefLength) {
    return `a ref has ${maximumRefLength} characters at most, and this one has ${text.length}`;
  }
  const kebab = text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  if (/[a-z]/.test(kebab)) return `refs are in kebab-case: ${kebab}`;
  return `a ref needs a letter: key-${kebab === "" ? "1" : kebab}`;
}
