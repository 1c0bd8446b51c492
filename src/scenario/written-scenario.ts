import type { FieldPath } from "../schema/field-path.js";
import type { Notation } from "../schema/notation.js";
import type { Members } from "../schema/problem.js";
import type { FieldProblem } from "./problems.js";
import type { Place, SourcePlace } from "./source-text.js";

/** A scenario as it is written, in a text or as a value, before any check. */
export interface WrittenScenario {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  /** The hints of its problems are in these words. A page that has only values loads none of YAML's. */
  readonly notation: Notation;
  /** Whether a text has a line `version: 1`, even if the rest cannot be read: any other file is not described. A value always does. */
  readonly startsLikeScenario: boolean;
  /** `undefined` if it cannot be read. */
  readonly scenario: ReadScenario | undefined;
  readonly problems: readonly FieldProblem[];
}

/** The fields of a scenario, and where each is in the texts. */
export interface ReadScenario {
  readonly fields: Members;
  readonly locate: (field: FieldPath, pointAt: "name" | "value") => FieldLocation;
}

/** Where a field is: at a place in a text that has the field, or else at the place of the nearest field around it. */
export interface FieldLocation {
  /** `undefined` for a scenario without a text. */
  readonly place: SourcePlace | undefined;
  /** Whether the text has the field itself. */
  readonly isExact: boolean;
  /** How many of the names in the field path the text has: all of them if it has the field. */
  readonly depth: number;
  /** The scenario of the text: 0 for the scenario itself, 1 for the one that it extends, 2 for the one that this extends. */
  readonly layer: number;
  /** How the text spells the value of the place, if the value is no mapping and no list: `007`. */
  readonly spelling?: string | undefined;
}

/** The place of a field for people; `undefined` if no text has any part of its path. */
export function placeOfField(scenario: ReadScenario, field: FieldPath): Place | undefined {
  const { place, depth } = scenario.locate(field, "value");
  if (depth === 0 && field.length > 0) return undefined;
  return place?.describe();
}
