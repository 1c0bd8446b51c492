import type { Members } from "../rules/schema/messages.js";
import type { FieldPath } from "../rules/schema/shape.js";
import type { ScenarioMistake, SourcePlace } from "./problems.js";

export type AddProblem = (mistake: ScenarioMistake) => void;

/** A scenario as it is written, in a text or as a value; it is read once. */
export interface ScenarioText {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  readonly startsLikeScenario: boolean;
  readonly read: (addProblem: AddProblem) => ReadScenario | undefined;
}

/** The fields of a scenario before any check. */
export interface ReadScenario {
  readonly fields: Members;
  /** Finds the place of a field, or of the nearest one around it; `depth` is the length of the found path. `written` is the text of a scalar. */
  readonly placeOf: (
    path: FieldPath,
    pointAt: "key" | "value",
  ) => {
    readonly place: SourcePlace | undefined;
    readonly depth: number;
    readonly written?: string | undefined;
  };
}
