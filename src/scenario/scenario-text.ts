import type { Members } from "../rules/schema/messages.js";
import type { FieldPath } from "../rules/schema/shape.js";
import type { LocatedProblem, SourcePlace } from "./problems.js";

export type AddProblem = (mistake: LocatedProblem) => void;

/** A scenario as it is written, in a text or as a value; it is read once. */
export interface ScenarioText {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  readonly startsLikeScenario: boolean;
  readonly read: (addProblem: AddProblem) => ReadScenario | undefined;
}

interface FieldPlace {
  readonly place: SourcePlace | undefined;
  /** The length of the path that was found. */
  readonly depth: number;
  /** 0 in the scenario itself, 1 in the one that it extends. */
  readonly layer: number;
  /** The text of a scalar. */
  readonly written?: string | undefined;
}

/** The fields of a scenario before any check. */
export interface ReadScenario {
  readonly fields: Members;
  /** Finds the place of a field, or of the nearest one around it. */
  readonly placeOf: (path: FieldPath, pointAt: "key" | "value") => FieldPlace;
}
