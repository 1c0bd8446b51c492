import { containsKey } from "../spec/redact.js";
import { checkValue, validationError } from "../spec/schema/check.js";
import type { Path, Shape, ValueOf } from "../spec/schema/shape.js";
import { requestQuery } from "./format/input-shapes.js";

/** Checks an input of an operation. An API key in it is also a mistake, because names and codes are shown (R46). */
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

/** Checks the filter for listed requests. */
export function checkRequestQuery(value: unknown, failure: string): ValueOf<typeof requestQuery> {
  return checkValue(requestQuery, value, failure);
}

function leakedKeys(value: unknown, path: Path): { path: Path; message: string }[] {
  if (typeof value === "string" && containsKey(value)) {
    return [{ path, message: `${path.at(-1) ?? "body"} must not contain an API key` }];
  }
  if (typeof value !== "object" || value === null) return [];
  return (
    Object.entries(value)
      // A scenario may pin its keys, and has its own checks.
      .filter(([name]) => path.length > 0 || name !== "scenario")
      .flatMap(([name, member]) => leakedKeys(member, [...path, name]))
  );
}
