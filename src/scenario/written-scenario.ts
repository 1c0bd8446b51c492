import type { Notation } from "../schema/notation.js";
import type { Members } from "../schema/problem.js";
import type { FieldPath } from "../schema/shape.js";
import type { FieldProblem, Place, SourcePlace } from "./problems.js";

/** A scenario as it is written, in a text or as a value, before any check. */
export interface WrittenScenario {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  /** The hints of its problems are in these words. A page that has only values loads none of YAML's. */
  readonly notation: Notation;
  /** Whether it has `version: 1`, even if the rest cannot be read: any other file is not described. */
  readonly startsLikeScenario: boolean;
  /** `undefined` if it cannot be read. */
  readonly scenario: ReadScenario | undefined;
  readonly problems: readonly FieldProblem[];
}

/** A field in a text, or the nearest one around it that the text has. */
interface FoundField {
  /** `undefined` for a scenario without a text. */
  readonly place: SourcePlace | undefined;
  /** How many steps of the path were found: all of them if the text has the field. */
  readonly depth: number;
  /** 0 in the scenario itself, 1 in the one that it extends, 2 in the one that this extends. */
  readonly layer: number;
  /** How the text spells the value, if that is a single one: `007`. */
  readonly scalar?: string | undefined;
}

/** The fields of a scenario, and where each is in the texts. */
export interface ReadScenario {
  readonly fields: Members;
  readonly find: (path: FieldPath, pointAt: "key" | "value") => FoundField;
}

/** The place of a field for people; `undefined` if no text has any part of it. */
export function placeOfField(scenario: ReadScenario, field: FieldPath): Place | undefined {
  const { place, depth } = scenario.find(field, "value");
  if (depth === 0 && field.length > 0) return undefined;
  return place?.describe();
}
