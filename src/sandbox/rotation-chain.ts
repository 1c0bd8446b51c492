import type { DescribedKey } from "./build-keys.js";

/** What every key of a rotation has in common (R37): what one of its keys says holds for all. */
export interface SharedByRotation {
  /** Ref of the key that the rotation began with. */
  readonly first: string;
  readonly name: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
}

/** A key's place in its rotation. */
export interface Rotated {
  /** Ref of the key that this one replaced; left out for the first. */
  readonly replaces?: string;
  readonly common: SharedByRotation;
}

/** By ref, the keys that were rotated or came from a rotation. */
export function rotationsOf(keys: readonly DescribedKey[]): ReadonlyMap<string, Rotated> {
  const rotated = new Map<string, Rotated>();
  const replacements = new Set<string>();
  for (const { given } of keys) if (given.replaced_by !== undefined) replacements.add(given.replaced_by);
  // Of most worlds, and of all large ones, there is nothing to go through.
  if (replacements.size === 0) return rotated;
  const byRef = new Map(keys.map((one) => [one.ref, one]));
  for (const one of keys) {
    if (one.given.replaced_by === undefined || replacements.has(one.ref)) continue;
    const chain = chainFrom(one, byRef);
    const common = sharedBy(chain);
    for (const [index, { ref }] of chain.entries()) {
      const replaces = chain[index - 1]?.ref;
      rotated.set(ref, { common, ...(replaces !== undefined && { replaces }) });
    }
  }
  return rotated;
}

/** What the keys of one rotation, oldest first, have in common. */
export function sharedBy(chain: readonly [DescribedKey, ...DescribedKey[]]): SharedByRotation {
  return {
    first: chain[0].ref,
    name: firstGiven(chain, ({ given }) => given.name),
    scopes: firstGiven(chain, ({ given }) => given.scopes),
    perMinute: firstGiven(chain, ({ given }) => given.limits?.per_minute),
    perDay: firstGiven(chain, ({ given }) => given.limits?.per_day),
  };
}

// The scenario's checks have seen that no key replaces two and that there is no circle.
function chainFrom(
  first: DescribedKey,
  byRef: ReadonlyMap<string, DescribedKey>,
): [DescribedKey, ...DescribedKey[]] {
  const chain: [DescribedKey, ...DescribedKey[]] = [first];
  for (let next = byRef.get(first.given.replaced_by ?? ""); next !== undefined; ) {
    chain.push(next);
    next = byRef.get(next.given.replaced_by ?? "");
  }
  return chain;
}

function firstGiven<Value>(
  chain: readonly DescribedKey[],
  read: (one: DescribedKey) => Value | undefined,
): Value | undefined {
  return chain.map(read).find((value) => value !== undefined);
}
