import type { Shape, ValueOf } from "../../rules/schema/shape.js";
import * as s from "../../rules/schema/shape.js";

// Each part of a farmer has a description: these are the only documentation of the fields.

const text = (description: string, of: Omit<s.TextKind, "kind"> = {}) => s.described(s.text(of), description);
const number = (description: string) => s.described(s.number({ min: 0 }), description);
const whole = (description: string, of: s.Limits = {}) => s.described(s.count(of), description);
const oneOf = <const Value extends string>(description: string, values: readonly Value[]) =>
  s.described(s.choice(values), description);
const list = <Item>(description: string, item: Shape<Item>, of: s.Limits = {}) =>
  s.described(s.list(item, of), description);
const always = <const Value extends string | boolean>(description: string, value: Value) =>
  s.described(s.always(value), description);
const object = <const Of extends s.Fields>(description: string, fields: Of) =>
  s.described(s.mapping(fields), description);

const livestockTypes = ["buffaloes", "cattle", "chickens", "ducks", "goats", "pigs", "sheep"] as const;
export type LivestockType = (typeof livestockTypes)[number];
const tenures = ["owned", "owner_like_possession", "rented", "sharecropped", "communal"] as const;
const landTypes = ["temporary_crops", "permanent_crops"] as const;
const irrigations = ["none", "surface", "sprinkler", "drip"] as const;
const surveyMethods = ["driven", "surveyed", "auto-imagery", "manual"] as const;
const farmerTypes = ["small", "medium", "large"] as const;

const position = list("A position.", s.number(), { min: 2, max: 2 }) as Shape<
  readonly [longitude: number, latitude: number]
>;

const parcel = object("A field, as a GeoJSON Feature (RFC 7946).", {
  type: always("GeoJSON.", "Feature"),
  id: text("Id of the parcel.", { pattern: /^parcel_[0-9a-f]{16}_\d$/ }),
  geometry: object("Outline of the field, WGS 84, counterclockwise.", {
    type: always("GeoJSON.", "Polygon"),
    coordinates: list(
      "One closed ring of positions, longitude first.",
      list("The ring.", position, { min: 5 }),
      { min: 1, max: 1 },
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
    "crop:code": text(
      "AGROVOC code of the crop; http://aims.fao.org/aos/agrovoc/ followed by the code is its address.",
      { pattern: /^c_\d+$/ },
    ),
    "crop:name": text("English preferred label of the crop in AGROVOC."),
  }),
});

const farmer = object("A farmer who does not exist, made from a seed.", {
  farmer_id: text("Opaque id.", { pattern: /^farmer_[0-9a-f]{16}$/ }),
  synthetic: always("The farmer does not exist.", true),
  name: object("Random combination of common names of the locale.", {
    given_name: text("Given name.", { min: 1 }),
    surname: text("Family name.", { min: 1 }),
  }),
  sex: oneOf("Sex, with the values of FHIR and SPDCI.", ["female", "male"]),
  birth_year: whole("Year of birth, without a day."),
  language: text("BCP 47: the language to speak with the farmer.", { pattern: /^[a-z]{2,3}(-[A-Z]{2})?$/ }),
  farmer_type: oneOf("By area: small below 2 ha, medium below 20 ha, or large.", farmerTypes),
  farm_area_ha: number("Sum of the areas of the parcels."),
  location: object("Location of the farm.", {
    country_code: text("ISO 3166-1 alpha-2.", { pattern: /^[A-Z]{2}$/ }),
    subdivision_code: text("ISO 3166-2.", { pattern: /^[A-Z]{2}-[A-Z0-9]{1,3}$/ }),
    subdivision_name: text("Name of the subdivision."),
  }),
  parcels: list("The fields, largest first.", parcel, { min: 1, max: 7 }),
  livestock: list(
    "Animals, by type.",
    object("Animals of one type.", {
      type: oneOf("Type.", livestockTypes),
      count: whole("Number of animals.", { min: 1 }),
    }),
  ),
});

export const farmerShape = { ...farmer, title: "Synthetic farmer" };

/** A synthetic farmer: plain JSON data, the same for the same seed, index, locales and start. */
export type Farmer = ValueOf<typeof farmerShape>;
/** A field, as a GeoJSON Feature; members with a colon are fiboa's. */
export type Parcel = ValueOf<typeof parcel>;
/** Longitude and latitude, in degrees. */
export type Position = ValueOf<typeof position>;
