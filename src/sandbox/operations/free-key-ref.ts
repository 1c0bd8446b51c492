import { freeRefIn } from "../../scenario/format/fields.js";
import type { Registry } from "../registry.js";

/**
 * A ref for a new key, which no key of the sandbox has: the given one, or with the next free number.
 *
 * | the ref     | of a key that replaces | the free ref  |
 * |-------------|------------------------|---------------|
 * | `main`      | none                   | `main-2`      |
 * | `main-2`    | `main`                 | `main-3`      |
 * | `bank-2024` | `old`                  | `bank-2024-2` |
 *
 * The number of `main-2` counts replacements. That of `bank-2024` is a part of its name.
 */
export function freeKeyRef(registry: Registry, ref: string): string {
  const isTaken = (candidate: string) => registry.keys.has(candidate);
  return freeRefIn(isTaken, withoutCount(registry, ref));
}

/** A ref without the number that counts replacements: `main` for `main-3`, which replaces `main-2`, which replaces `main`. */
function withoutCount({ keys }: Registry, ref: string): string {
  const withoutNumber = ref.replace(/-\d+$/, "");
  let earlier = keys.get(ref)?.key.replaces;
  while (earlier !== undefined) {
    if (earlier === withoutNumber) return earlier;
    earlier = keys.get(earlier)?.key.replaces;
  }
  return ref;
}
