import type { FieldPath } from "../schema/field-path.js";
import type { Notation } from "../schema/notation.js";
import type { Members } from "../schema/problem.js";
import type { FieldProblem } from "./problems.js";
import type { Place, SourcePlace, SourceText } from "./source-text.js";

/** A scenario as it is written, in a text or as a value, before any check. */
export interface WrittenScenario {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  /** The hints of its problems are in these words. A page that has only values loads none of YAML's. */
  readonly notation: Notation;
  /**
   * Whether a text has a line `version: 1`, even if the rest cannot be read; true for a value. The problems of any other file that
   * `extends` names are not shown, so that `extends` cannot be used to read any file.
   */
  readonly startsLikeScenario: boolean;
  /** `undefined` if it cannot be read. */
  readonly scenario: PlacedScenario | undefined;
  readonly problems: readonly FieldProblem[];
}

/** The fields of a scenario, and where each is in the texts. */
export interface PlacedScenario {
  readonly fields: Members;
  /** Its own text, then that of the scenario that it extends, and so on; none of a value. */
  readonly texts: readonly SourceText[];
  readonly locate: (field: FieldPath, pointAt: "name" | "value") => FieldLocation;
}

/** Where a field is in a text. */
export interface FieldLocation {
  /** What the text has: the field itself, only a field around it, or no name of its path. */
  readonly match: "exact" | "around" | "none";
  /** The place of the field, or of the nearest one around it, or of the whole scenario; `undefined` for a scenario without a text. */
  readonly place: SourcePlace | undefined;
  /** How the text spells the value of the field: `007`. `undefined` without an exact match, and for a mapping or a list. */
  readonly spelling?: string | undefined;
}

/** The place of a field for people; `undefined` if no text has any part of its path. */
export function placeOfField(scenario: PlacedScenario, field: FieldPath): Place | undefined {
  const { match, place } = scenario.locate(field, "value");
  return match === "none" ? undefined : place?.describe();
}

/** Of a longer value, messages show only the start. */
export const longestSpelling = 100;

/** How the texts have the value of a field, if it is no mapping and no list: `007`. */
export function spellingOfField(scenario: PlacedScenario, field: FieldPath): string | undefined {
  const { spelling } = scenario.locate(field, "value");
  return spelling?.slice(0, longestSpelling);
}
