import { freeRefIn } from "../../scenario/ref.js";
import type { World } from "../world.js";

/** The first of `ref`, `ref-2`, `ref-3` … that no key of the world has. */
export function freeRef({ registry }: World, ref: string): string {
  return freeRefIn((taken) => registry.keys.has(taken), ref);
}
