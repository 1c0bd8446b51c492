import { redactKeys } from "../domain/redact.js";
import { checkValue, validationError } from "../schema/check.js";
import type { Path, Shape, ValueOf } from "../schema/shape.js";
import { requestQuery } from "./format/input-shapes.js";

/** Reads an input of an operation; an API key in it is a mistake as well, because names and codes are shown (R46). */
export function checkInput<Of extends Shape>(
  shape: Of,
  value: unknown,
  failure = "The body is not valid",
): ValueOf<Of> {
  const input = checkValue(shape, value, failure);
  const leaks = leakedKeys(value, []);
  if (leaks.length > 0) throw validationError(failure, leaks);
  return input as ValueOf<Of>;
}

/** Reads which requests to list. */
export function checkRequestQuery(value: unknown, failure: string): ValueOf<typeof requestQuery> {
  return checkValue(requestQuery, value, failure);
}

function leakedKeys(value: unknown, path: Path): { path: Path; message: string }[] {
  if (typeof value === "string" && redactKeys(value) !== value) {
    return [{ path, message: `${path.at(-1) ?? "body"} must not hold an API key` }];
  }
  if (typeof value !== "object" || value === null) return [];
  return (
    Object.entries(value)
      // A scenario may pin its keys; it has checks of its own.
      .filter(([name]) => path.length > 0 || name !== "scenario")
      .flatMap(([name, member]) => leakedKeys(member, [...path, name]))
  );
}
