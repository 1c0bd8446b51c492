import type { Members } from "../rules/schema/problem.js";
import type { FieldPath } from "../rules/schema/shape.js";
import type { FieldProblem, Place, SourcePlace } from "./problems.js";

/** A scenario as it is written, in a text or as a value, before any check. */
export interface WrittenScenario {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  readonly startsLikeScenario: boolean;
  /** `undefined` if it cannot be read. */
  readonly scenario: ReadScenario | undefined;
  readonly problems: readonly FieldProblem[];
}

/** A field in a text, or the nearest one around it. */
interface FoundField {
  readonly place: SourcePlace | undefined;
  /** How many steps of the path were found: all of them if the text has the field. */
  readonly depth: number;
  /** 0 in the scenario itself, 1 in the one that it extends. */
  readonly layer: number;
  /** The text of a scalar. */
  readonly scalar?: string | undefined;
}

export interface ReadScenario {
  readonly fields: Members;
  readonly find: (path: FieldPath, pointAt: "key" | "value") => FoundField;
}

export function placeIn(scenario: ReadScenario, field: FieldPath): Place | undefined {
  const { place, depth } = scenario.find(field, "value");
  // No text has any part of the field.
  if (depth === 0 && field.length > 0) return undefined;
  return place?.describe();
}
