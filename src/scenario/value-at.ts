import type { FieldPath } from "../schema/field-path.js";

/** The part of a value at a path; `undefined` if it has none. */
export function valueAt(whole: unknown, path: FieldPath): unknown {
  let part = whole;
  for (const step of path) {
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, step)) return undefined;
    part = (part as Record<string | number, unknown>)[step]; // it has this member
  }
  return part;
}
