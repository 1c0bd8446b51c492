import { isRef, maximumRefLength } from "../../scenario/ref.js";
import type { World } from "../world.js";

/** A ref for a key of this name; not every name has letters to make one from. */
export function refOfName(name: string): string {
  const words = trimmed(name.toLowerCase().replace(/[^a-z0-9]+/g, "-"), maximumRefLength);
  if (isRef(words)) return words;
  return words === "" ? "key" : trimmed(`key-${words}`, maximumRefLength);
}

/** The first of `ref`, `ref-2`, `ref-3` … that no key of the world has; a long one is cut, so that it stays a ref. */
export function freeRef(world: World, ref: string): string {
  let free = ref;
  for (let i = 2; world.registry.keys.has(free); i++) {
    const suffix = `-${i}`;
    free = trimmed(ref, maximumRefLength - suffix.length) + suffix;
  }
  return free;
}

function trimmed(words: string, length: number): string {
  return words.replace(/^-+/, "").slice(0, length).replace(/-+$/, "");
}
