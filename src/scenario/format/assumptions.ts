import { assumptionTable, errorCodePattern, profiles } from "../../spec/assumptions.js";
import {
  choice,
  type Fields,
  flag,
  list,
  mapping,
  optional,
  orNull,
  type Shape,
  text,
} from "../../spec/schema/shape.js";
import { durationOrNone, scope } from "./fields.js";

export const maximumScopes = 100;
const timeOfDayPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const assumptionShapes = {
  boolean: flag,
  choice: (choices: readonly string[] = []) => choice(choices),
  code: () => text({ noun: "an error code", example: "too_many_requests", pattern: errorCodePattern }),
  time_of_day: () => text({ noun: "a time of day in UTC", example: "06:00", pattern: timeOfDayPattern }),
  duration_or_none: durationOrNone,
  scope_or_null: () => orNull(scope()),
  scopes: () => list(scope(), { least: 1, most: maximumScopes }),
};

const assumptionFields: Record<string, Fields[string]> = { profile: optional(choice(profiles)) };
for (const [name, row] of Object.entries(assumptionTable)) {
  assumptionFields[name] = optional(assumptionShapes[row.kind](row.choices));
}
export const assumptionsSchema: Shape<Record<string, unknown>> = mapping(assumptionFields);
