import type { z } from "zod/mini";
import { redactKeys } from "../../domain/redact.js";
import { type ControlBody, type ControlBodyName, controlBodies } from "../format/control-bodies.js";
import { explainIssues } from "./explain-issues.js";
import { type Diagnostic, type Path, validationError } from "./scenario-error.js";

/** Reads a value by its schema; throws `validation_failed` with what is wrong with each field in `details.fields`. */
export function checkValue<Shape extends z.ZodMiniType>(
  schema: Shape,
  value: unknown,
  failure = "The body is not valid",
): z.output<Shape> {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  throw validationError(failure, explainIssues(checked.error.issues, schema, value));
}

/** Reads an input of an operation; to hold an API key is a mistake, too: names and codes are shown again (R46). */
export function checkInput<Name extends ControlBodyName>(
  name: Name,
  value: unknown,
  failure = "The body is not valid",
): ControlBody<Name> {
  const input = checkValue(controlBodies[name], value, failure);
  const leaks = leakedKeys(value, []);
  if (leaks.length > 0) throw validationError(failure, leaks);
  return input as ControlBody<Name>;
}

function leakedKeys(value: unknown, path: Path): Diagnostic[] {
  if (typeof value === "string" && redactKeys(value) !== value) {
    const message = `${path.at(-1) ?? "body"} must not hold an API key`;
    return [{ code: "forbidden_field", path, message }];
  }
  if (typeof value !== "object" || value === null) return [];
  return (
    Object.entries(value)
      // A scenario may pin its keys; it has checks of its own.
      .filter(([name]) => path.length > 0 || name !== "scenario")
      .flatMap(([name, member]) => leakedKeys(member, [...path, name]))
  );
}
