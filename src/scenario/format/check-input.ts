import { redact } from "../../rules/keys/redact.js";
import { checkedCopy, validationError } from "../../rules/validation.js";
import type { FieldPath } from "../../schema/field-path.js";
import type { Notation } from "../../schema/notation.js";
import type { Shape, ValueOf } from "../../schema/shape.js";

interface LeakedKey {
  readonly field: FieldPath;
  readonly message: string;
}

/**
 * Checks an input of an operation. An API key in it is also a mistake, because names and codes are shown (R46). `attempt` is what
 * fails then: `create a key`.
 */
export function checkInput<Of extends Shape>(
  shape: Of,
  value: unknown,
  attempt: string,
  notation: Notation,
): ValueOf<Of> {
  const input = checkedCopy(shape, value, attempt, notation);
  // In the checked copy: the caller's value may have getters, and change.
  const leaks = leakedKeys(input, [], notation);
  if (leaks.length > 0) throw validationError(attempt, leaks);
  return input as ValueOf<Of>;
}

/** The fields of an input that contain an API key, as a value or as a name. */
function leakedKeys(value: unknown, field: FieldPath, notation: Notation): LeakedKey[] {
  if (typeof value === "string") {
    if (redact(value) === value) return [];
    return [{ field, message: `${nameOfField(field, notation)} must not contain an API key` }];
  }
  if (typeof value !== "object" || value === null) return [];

  const leaks: LeakedKey[] = [];
  for (const [name, member] of Object.entries(value)) {
    // A scenario may pin its keys, and has its own checks.
    if (field.length === 0 && name === "scenario") continue;
    if (redact(name) !== name) {
      leaks.push({ field, message: `a name in ${nameOfField(field, notation)} must not contain an API key` });
      continue;
    }
    const step = Array.isArray(value) ? Number(name) : name;
    leaks.push(...leakedKeys(member, [...field, step], notation));
  }
  return leaks;
}

/** The last name of a field path, with the positions in lists after it: `scopes[1]`. */
function nameOfField(field: FieldPath, { nameOfWhole }: Notation): string {
  const indexOfName = field.findLastIndex((step) => typeof step === "string");
  const name = indexOfName === -1 ? nameOfWhole : field[indexOfName];
  const positions = field.slice(indexOfName + 1).map((position) => `[${position}]`);
  return name + positions.join("");
}
