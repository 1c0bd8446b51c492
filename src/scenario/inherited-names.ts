import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { nearest } from "../schema/words.js";
import type { FieldProblem } from "./problems.js";
import { valueAt } from "./value-at.js";

/** More names would take long to compare. */
const maxCompared = 300;

/**
 * Below `extends`, the name of a mapping may be a misspelled name of an inherited mapping, such as `mian` of `main`. It is then
 * a new mapping, which lacks the fields that `main` has: the hint of such a problem first asks for the inherited name.
 */
export function withInheritedName(problem: FieldProblem, own: Members, merged: Members): FieldProblem {
  const { code, field, hint } = problem;
  if (code !== "missing_field" || hint === undefined) return problem;
  // `main` in `organizations.bank.keys.main.environment`, and the names next to it.
  const name = String(field.at(-2));
  const fieldAround = field.slice(0, -2);
  const ownNames = namesAt(own, fieldAround);
  if (!ownNames.includes(name)) return problem;

  const inheritedNames = namesAt(merged, fieldAround).filter((other) => !ownNames.includes(other));
  if (inheritedNames.length > maxCompared) return problem;
  const meant = nearest(name, inheritedNames);
  if (meant === undefined) return problem;
  return { ...problem, hint: `did you mean ${meant}? if not, ${hint}` };
}

/** The names in the mapping of a field; none if the field has no mapping. */
function namesAt(fields: Members, field: FieldPath): string[] {
  const part = valueAt(fields, field);
  return isMapping(part) ? Object.keys(part) : [];
}
