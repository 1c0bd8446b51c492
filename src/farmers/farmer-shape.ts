import * as shapes from "../spec/schema/shape.js";
import { described, flag, nullable, type Shape, type ValueOf } from "../spec/schema/shape.js";

// Each part of a farmer has a description: these are the only documentation of the fields.

const text = (description: string, of: Parameters<typeof shapes.text>[0] = {}) =>
  described(shapes.text(of), description);
const number = (description: string) => described(shapes.number({ least: 0 }), description);
const whole = (description: string, of: Parameters<typeof shapes.count>[0] = {}) =>
  described(shapes.count(of), description);
const date = (description: string) => text(description, { format: "date", pattern: /^\d{4}-\d{2}-\d{2}$/ });
const oneOf = <const Value extends string>(description: string, values: readonly Value[]) =>
  described(shapes.choice(values), description);
const list = <Item>(description: string, item: Shape<Item>, of: Parameters<typeof shapes.list>[1] = {}) =>
  described(shapes.list(item, of), description);
const always = <const Value extends string | boolean>(description: string, value: Value) =>
  described(shapes.always(value), description);
const object = <const Of extends shapes.Fields>(description: string, fields: Of) =>
  described(shapes.mapping(fields), description);

const livestockTypes = ["buffaloes", "cattle", "chickens", "ducks", "goats", "pigs", "sheep"] as const;
export type LivestockType = (typeof livestockTypes)[number];
export const perils = ["flood", "frost", "hail", "pest", "storm"] as const;
export type Peril = (typeof perils)[number];
const lossCauses = ["drought", ...perils] as const;
export type LossCause = (typeof lossCauses)[number];
const tenures = ["owned", "owner_like_possession", "rented", "sharecropped", "communal"] as const;
const landTypes = ["temporary_crops", "permanent_crops"] as const;
const irrigations = ["none", "surface", "sprinkler", "drip"] as const;
const surveyMethods = ["driven", "surveyed", "auto-imagery", "manual"] as const;
const loanPurposes = ["inputs", "equipment", "livestock", "land_improvement"] as const;
const lenders = [
  "commercial_bank",
  "agricultural_bank",
  "cooperative",
  "microfinance",
  "input_supplier",
] as const;
export type Lender = (typeof lenders)[number];
const collaterals = [
  "none",
  "crop",
  "equipment",
  "group_guarantee",
  "guarantor",
  "land",
  "livestock",
] as const;
export type Collateral = (typeof collaterals)[number];
const loanStatuses = ["current", "in_arrears", "defaulted", "repaid"] as const;
const farmerTypes = ["small", "medium", "large"] as const;

const money = (description: string) =>
  object(description, {
    amount: number("The amount, with no more digits than the currency has."),
    currency: text("ISO 4217.", { pattern: /^[A-Z]{3}$/ }),
  });
const cropCode = text(
  "AGROVOC code of the crop; http://aims.fao.org/aos/agrovoc/ followed by the code is its address.",
  {
    pattern: /^c_\d+$/,
  },
);
const cropName = text("English preferred label of the crop in AGROVOC.");
const seasonCode = text("Start year of the season, and its name in the country.", {
  pattern: /^\d{4}-[a-z_]+$/,
});
const position = list("A position.", shapes.number(), { least: 2, most: 2 }) as Shape<
  readonly [longitude: number, latitude: number]
>;

const season = object("A crop on the parcel, from planting to harvest.", {
  season_code: seasonCode,
  season_start: date("First day of the season."),
  season_end: date("Last day of the season."),
  crop_code: cropCode,
  crop_name: cropName,
  planted_on: date("Day of planting; for a perennial crop, years before the season."),
  harvested_on: nullable(date("Day of harvest; null while the crop is in the field.")),
  harvest_kg: nullable(number("Yield times area, in kg; null while the crop is in the field.")),
  yield_kg_ha: nullable(number("Yield in kg per hectare; null while the crop is in the field.")),
  loss_cause: nullable(
    oneOf("The cause of a loss of at least a seventh of the harvest, or null.", lossCauses),
  ),
});

const parcel = object("A field, as a GeoJSON Feature (RFC 7946).", {
  type: always("GeoJSON.", "Feature"),
  id: text("Id of the parcel.", { pattern: /^parcel_[0-9a-f]{16}_\d$/ }),
  geometry: object("Outline of the field, WGS 84, counterclockwise.", {
    type: always("GeoJSON.", "Polygon"),
    coordinates: list(
      "One closed ring of positions, longitude first.",
      list("The ring.", position, { least: 5 }),
      { least: 1, most: 1 },
    ),
  }),
  properties: object("Members with a colon are defined by fiboa and its extensions.", {
    collection: always("fiboa: the collection.", "synthetic"),
    synthetic: always("The field does not exist.", true),
    "metrics:area": number("fiboa: area of the geometry on the WGS 84 ellipsoid, in m²."),
    "metrics:perimeter": number("fiboa: length of the outline, in m."),
    area_ha: number("The same area in hectares."),
    "determination:method": oneOf("fiboa: how the boundary was determined.", surveyMethods),
    "determination:datetime": text("fiboa: when the boundary was determined.", { format: "date-time" }),
    land_type: oneOf("Land use class of the FAO agricultural census.", landTypes),
    land_ownership: oneOf("Tenure, after the classes of the FAO agricultural census.", tenures),
    irrigation: oneOf("Irrigation of the field; none means only rain.", irrigations),
    "crop:code_list": always("fiboa crop extension: the list of codes.", "https://agrovoc.fao.org/"),
    "crop:code": text("AGROVOC code of the crop of the latest season.", { pattern: /^c_\d+$/ }),
    "crop:name": text("English preferred label of that crop in AGROVOC."),
    seasons: list("The latest seasons, oldest first.", season, { least: 3, most: 3 }),
  }),
});

const policy = object("Crop insurance for one season.", {
  policy_id: text("Id of the policy."),
  season_code: seasonCode,
  crop_code: cropCode,
  crop_name: cropName,
  insured_area_ha: number("Area of the parcels with this crop in this season."),
  insured_value_per_ha: money("Insured value of one hectare."),
  sum_insured: money("Insured area times insured value."),
  deductible: money("The part of a loss that the farmer pays."),
  premium: money("Price of the cover for the whole term, including subsidies."),
  term_start: date("First day of cover."),
  term_end: date("Last day of cover."),
  claims: list(
    "At most one claim, only for a damaged harvest.",
    object("A claim.", {
      claim_id: text("Id of the claim."),
      cause: oneOf("Cause of the loss.", lossCauses),
      occurred_on: date("Day of the damage, while the crop was in the field."),
      status: oneOf("State of the claim.", ["open", "settled", "rejected"]),
      amount: money("The loss without the deductible."),
    }),
  ),
});

const loan = object("A loan.", {
  loan_id: text("Id of the loan."),
  purpose: oneOf("Purpose of the loan.", loanPurposes),
  lender: oneOf("Kind of lender.", lenders),
  collateral: oneOf("Collateral of the loan.", collaterals),
  interest_rate_percent: number("Interest rate in percent per year."),
  currency: text("ISO 4217.", { pattern: /^[A-Z]{3}$/ }),
  principal: number("Amount lent."),
  outstanding: number("Principal still owed at the start of the clock, without interest."),
  opened_on: date("Day of the contract."),
  due_on: date("Day when the loan is due."),
  status: oneOf("in_arrears after the due day; defaulted at 90 or more days past due.", loanStatuses),
  days_past_due: whole("Days since the due day; 0 unless in arrears or default."),
});

const farmer = object("A farmer who does not exist, made from a seed.", {
  farmer_id: text("Opaque id.", { pattern: /^farmer_[0-9a-f]{16}$/ }),
  synthetic: always("The farmer does not exist.", true),
  name: object("Random combination of common names of the locale.", {
    given_name: text("Given name.", { least: 1 }),
    surname: text("Family name.", { least: 1 }),
  }),
  sex: oneOf("Sex, with the values of FHIR and SPDCI.", ["female", "male"]),
  birth_year: whole("Year of birth, without a day."),
  language: text("BCP 47: the language to speak with the farmer.", { pattern: /^[a-z]{2,3}(-[A-Z]{2})?$/ }),
  household: object("The household.", {
    group_size: whole("Persons in the household, including the farmer.", { least: 1 }),
    is_head: described(flag(), "Whether the farmer is its head."),
  }),
  farmer_type: oneOf("By area: small below 2 ha, medium below 20 ha, or large.", farmerTypes),
  farm_area_ha: number("Sum of the areas of the parcels."),
  location: object("Location of the farm.", {
    country_code: text("ISO 3166-1 alpha-2.", { pattern: /^[A-Z]{2}$/ }),
    subdivision_code: text("ISO 3166-2.", { pattern: /^[A-Z]{2}-[A-Z0-9]{1,3}$/ }),
    subdivision_name: text("Name of the subdivision."),
  }),
  parcels: list("The fields, largest first.", parcel, { least: 1, most: 7 }),
  livestock: list(
    "Animals, by type.",
    object("Animals of one type.", {
      type: oneOf("Type.", livestockTypes),
      count: whole("Number of animals.", { least: 1 }),
    }),
  ),
  cooperative: nullable(
    object("Membership of an invented cooperative, or null.", {
      cooperative_id: text("Id of the cooperative, shared by its members."),
      name: text("Invented name."),
      member_since: whole("Year."),
    }),
  ),
  insurance: list("A policy for each insured season, oldest first.", policy),
  loans: list("Loans, oldest first.", loan),
});

export const farmerShape = { ...farmer, title: "Synthetic farmer" };

/** A synthetic farmer: plain JSON data, the same for the same seed, index, locales and start. */
export type Farmer = ValueOf<typeof farmerShape>;
/** A field, as a GeoJSON Feature; members with a colon are fiboa's. */
export type Parcel = ValueOf<typeof parcel>;
/** A crop on a parcel, from planting to harvest. */
export type Season = ValueOf<typeof season>;
export type InsurancePolicy = ValueOf<typeof policy>;
export type Claim = InsurancePolicy["claims"][number];
export type Loan = ValueOf<typeof loan>;
/** An amount, rounded to the digits of its currency. */
export type Money = InsurancePolicy["deductible"];
/** Longitude and latitude, in degrees. */
export type Position = ValueOf<typeof position>;
