import type { OwnRefusal } from "./endpoint.js";
import type { FieldProblems } from "./field-problems.js";

/** The refusal of a request of which something is not as described; says what of each field. */
export function invalid(fields: FieldProblems): OwnRefusal {
  return { refused: "422.validation", details: { fields } };
}
