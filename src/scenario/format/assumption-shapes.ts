import { type Assumptions, assumptionTable, type Profile, profiles } from "../../rules/assumptions.js";
import * as s from "../../schema/shape.js";
import { maximumScopes, scope } from "./fields.js";
import { durationOrNone } from "./times.js";

const errorCodePattern = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const timeOfDayPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** The shape of each kind of assumption. */
const assumptionShapes = {
  boolean: s.flag,
  choice: (choices: readonly string[] = []) => s.choice(choices),
  code: () => s.text({ noun: "an error code", example: "too_many_requests", pattern: errorCodePattern }),
  time_of_day: () => s.text({ noun: "a time of day in UTC", example: "06:00", pattern: timeOfDayPattern }),
  duration_or_none: durationOrNone,
  scope_or_null: () => s.orNull(scope()),
  scopes: () => s.list(scope(), { min: 1, max: maximumScopes }),
};

const assumptionFields: Record<string, s.Fields[string]> = { profile: s.optional(s.choice(profiles)) };
for (const [name, row] of Object.entries(assumptionTable)) {
  assumptionFields[name] = s.optional(assumptionShapes[row.kind](row.choices));
}
export const assumptionsSchema = s.mapping(assumptionFields) as s.Shape<
  Partial<Assumptions> & { readonly profile?: Profile }
>; // a field for each assumption
