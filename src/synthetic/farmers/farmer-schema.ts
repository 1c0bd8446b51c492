import { livestockTypes } from "./countries.js";
import {
  claimStatuses,
  farmerTypes,
  irrigations,
  landOwnerships,
  landTypes,
  loanPurposes,
  loanStatuses,
} from "./farmer.js";
import { perils } from "./hazards.js";

type Schema = Readonly<Record<string, unknown>>;

const described = (description: string, schema: Schema): Schema => ({ description, ...schema });
const text = (description: string, rest: Schema = {}) => described(description, { type: "string", ...rest });
const number = (description: string, rest: Schema = {}) =>
  described(description, { type: "number", minimum: 0, ...rest });
const whole = (description: string, rest: Schema = {}) =>
  described(description, { type: "integer", minimum: 0, ...rest });
const date = (description: string) =>
  text(description, { format: "date", pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
const oneOf = (description: string, values: readonly string[]) => text(description, { enum: values });
const list = (description: string, items: Schema, rest: Schema = {}) =>
  described(description, { type: "array", items, ...rest });
const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, "null"] });
const always = (description: string, value: unknown): Schema => ({ description, const: value });

/** An object of which each member is required and no other is allowed. */
const object = (description: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  description,
  type: "object",
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
});

const money = (description: string) =>
  object(description, {
    amount: number("The amount, with no more digits than the currency has."),
    currency: text("ISO 4217.", { pattern: "^[A-Z]{3}$" }),
  });
const cropCode = text(
  "AGROVOC code of the crop; http://aims.fao.org/aos/agrovoc/ and the code is its address.",
  {
    pattern: "^c_\\d+$",
  },
);
const cropName = text("English preferred label of the crop in AGROVOC.");
const seasonCode = text("The year in which the season begins, and its name in the country.", {
  pattern: "^\\d{4}-[a-z_]+$",
});
const lossCauses = ["drought", ...perils];

const season = object("A crop on the parcel, from planting to harvest.", {
  season_code: seasonCode,
  season_start: date("First day of the season."),
  season_end: date("Last day of the season."),
  crop_code: cropCode,
  crop_name: cropName,
  planted_on: date("Day of planting; of what stands for years, the day it was set, before the season."),
  harvested_on: orNull(date("Day of harvest; null while the crop is on the field.")),
  harvest_kg: orNull(number("Yield times area, in kg; null while the crop is on the field.")),
  yield_kg_ha: orNull(number("In kg a hectare; null while the crop is on the field.")),
  loss_cause: {
    description: "What spoiled at least a seventh of the harvest, or null.",
    enum: [...lossCauses, null],
  },
});

const parcel = object("A field, as a GeoJSON Feature (RFC 7946).", {
  type: always("GeoJSON.", "Feature"),
  id: text("Id of the parcel.", { pattern: "^parcel_[0-9a-f]{16}_\\d$" }),
  geometry: object("Outline of the field, WGS 84, counter-clockwise.", {
    type: always("GeoJSON.", "Polygon"),
    coordinates: list(
      "One closed ring of positions, longitude first.",
      list("The ring.", list("A position.", { type: "number" }, { minItems: 2, maxItems: 2 }), {
        minItems: 5,
      }),
      { minItems: 1, maxItems: 1 },
    ),
  }),
  properties: object("Members with a colon are those of fiboa and its extensions.", {
    collection: always("fiboa: the collection.", "synthetic"),
    synthetic: always("The field does not exist.", true),
    "metrics:area": whole("fiboa: area of the geometry on the sphere, in m².", { minimum: 1 }),
    "metrics:perimeter": number("fiboa: length of the outline, in m."),
    area_ha: number("The same area in hectares."),
    "determination:method": oneOf("fiboa: how the boundary was found.", [
      "driven",
      "surveyed",
      "auto-imagery",
      "manual",
    ]),
    "determination:datetime": text("fiboa: when the boundary was found.", { format: "date-time" }),
    land_type: oneOf("Land use class of the FAO agricultural census.", landTypes),
    land_ownership: oneOf("Tenure, after the classes of the FAO agricultural census.", landOwnerships),
    irrigation: oneOf("How the field is watered; none means rain alone.", irrigations),
    "crop:code_list": always("fiboa crop extension: the list of codes.", "https://agrovoc.fao.org/"),
    "crop:code": text("AGROVOC code of the crop of the latest season.", { pattern: "^c_\\d+$" }),
    "crop:name": text("English preferred label of that crop in AGROVOC."),
    seasons: list("The latest seasons, the oldest first.", season, { minItems: 3, maxItems: 3 }),
  }),
});

const policy = object("Crop insurance for one season.", {
  policy_id: text("Id of the policy."),
  season_code: seasonCode,
  crop_code: cropCode,
  crop_name: cropName,
  insured_area_ha: number("Area of the parcels with this crop in this season."),
  insured_value_per_ha: money("What a hectare is insured for."),
  sum_insured: money("Insured area times insured value."),
  deductible: money("What the farmer bears of a loss."),
  term_start: date("First day of cover."),
  term_end: date("Last day of cover."),
  claims: list(
    "At most one, and only where a harvest was spoiled.",
    object("A claim.", {
      claim_id: text("Id of the claim."),
      cause: oneOf("What spoiled the harvest.", lossCauses),
      occurred_on: date("Day of the harm, while the crop stood."),
      status: oneOf("Where the claim stands.", claimStatuses),
      amount: money("The loss without the deductible."),
    }),
  ),
});

const loan = object("A loan.", {
  loan_id: text("Id of the loan."),
  purpose: oneOf("What the money is for.", loanPurposes),
  currency: text("ISO 4217.", { pattern: "^[A-Z]{3}$" }),
  principal: number("What was lent."),
  outstanding: number("What is owed at the start of the clock; never more than the principal."),
  opened_on: date("Day of the contract."),
  due_on: date("Day by which all is to be paid back."),
  status: oneOf("in_arrears up to 360 days after the due day, defaulted beyond.", loanStatuses),
  days_past_due: whole("Days since the due day; above 0 only in arrears or default."),
});

/** The record of a synthetic farmer as JSON Schema 2020-12. */
export const farmerSchema: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Synthetic farmer",
  ...object("A farmer that nobody is, made from a seed.", {
    farmer_id: text("Opaque id.", { pattern: "^farmer_[0-9a-f]{16}$" }),
    synthetic: always("The farmer does not exist.", true),
    name: object("Common names of the locale, put together at random.", {
      given_name: text("Given name.", { minLength: 1 }),
      surname: text("Family name.", { minLength: 1 }),
    }),
    sex: oneOf("Sex, in the words of FHIR and SPDCI.", ["female", "male"]),
    birth_year: whole("Year of birth; no day, which nobody needs."),
    language: text("BCP 47: the language to speak with the farmer.", { pattern: "^[a-z]{2,3}(-[A-Z]{2})?$" }),
    household: object("The household.", {
      group_size: whole("Persons in the household, the farmer among them.", { minimum: 1 }),
      is_head: { description: "Whether the farmer is its head.", type: "boolean" },
    }),
    farmer_type: oneOf("By area: small below 2 ha, medium below 20 ha, large from there.", farmerTypes),
    farm_area_ha: number("Sum of the areas of the parcels."),
    location: object("Where the farm lies.", {
      country_code: text("ISO 3166-1 alpha-2.", { pattern: "^[A-Z]{2}$" }),
      subdivision_code: text("ISO 3166-2.", { pattern: "^[A-Z]{2}-[A-Z0-9]{1,3}$" }),
      subdivision_name: text("Name of the subdivision."),
    }),
    parcels: list("The fields, the largest first.", parcel, { minItems: 1, maxItems: 7 }),
    livestock: list(
      "Animals, by type.",
      object("Animals of one type.", {
        type: oneOf("Type.", livestockTypes),
        count: whole("How many.", { minimum: 1 }),
      }),
    ),
    cooperative: orNull(
      object("Membership of an invented cooperative, or null.", {
        cooperative_id: text("Id of the cooperative, shared by its members."),
        name: text("Invented name."),
        member_since: whole("Year."),
      }),
    ),
    insurance: list("A policy for each insured season, the oldest first.", policy),
    loans: list("Loans, the oldest first.", loan),
  }),
};
