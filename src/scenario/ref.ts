import { forbiddenNames } from "./forbidden-names.js";

/** A short name in kebab-case, which a scenario gives to a thing. */
// A ref of digits only would be sorted before all others by JavaScript objects, whatever its place in the file.
export const refPattern = /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const maximumRefLength = 64;

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
