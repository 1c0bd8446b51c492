import { surveyMethods } from "../../rules/farmer-values.js";
import * as s from "../../schema/shape.js";

// Each part of a farmer has a description: these are the only documentation of the fields.

const textField = (description: string, of: Omit<s.TextKind, "kind"> = {}) =>
  s.described(s.text(of), description);
const numberField = (description: string) => s.described(s.number({ min: 0 }), description);
const integerField = (description: string, of: s.Range = {}) => s.described(s.integer(of), description);
const choiceField = <const Value extends string>(description: string, values: readonly Value[]) =>
  s.described(s.choice(values), description);
const listField = <Item>(description: string, item: s.Shape<Item>, of: s.Range = {}) =>
  s.described(s.list(item, of), description);
const constantField = <const Value extends string | boolean>(description: string, value: Value) =>
  s.described(s.choice([value]), description);
const objectField = <const Of extends s.Fields>(description: string, fields: Of) =>
  s.described(s.mapping(fields), description);

const livestockTypes = ["buffaloes", "cattle", "chickens", "ducks", "goats", "pigs", "sheep"] as const;
const tenures = ["owned", "owner_like_possession", "rented", "sharecropped", "communal"] as const;
const landTypes = ["temporary_crops", "permanent_crops"] as const;
const irrigations = ["none", "surface", "sprinkler", "drip"] as const;
const farmerTypes = ["small", "medium", "large"] as const;

const position = listField("A position.", s.number(), { min: 2, max: 2 }) as s.Shape<
  readonly [longitude: number, latitude: number]
>;

const parcel = objectField("A field, as a GeoJSON Feature (RFC 7946).", {
  type: constantField("GeoJSON.", "Feature"),
  id: textField("Id of the parcel.", { pattern: /^parcel_[0-9a-f]{16}_\d$/ }),
  geometry: objectField("Outline of the field, WGS 84, counterclockwise.", {
    type: constantField("GeoJSON.", "Polygon"),
    coordinates: listField(
      "One closed ring of positions, longitude first.",
      listField("The ring.", position, { min: 5 }),
      { min: 1, max: 1 },
    ),
  }),
  properties: objectField("Members with a colon are defined by fiboa and its extensions.", {
    collection: constantField("fiboa: the collection.", "synthetic"),
    synthetic: constantField("The field does not exist.", true),
    "metrics:area": numberField("fiboa: area of the geometry on the WGS 84 ellipsoid, in m²."),
    "metrics:perimeter": numberField("fiboa: length of the outline, in m."),
    area_ha: numberField("The same area in hectares."),
    "determination:method": choiceField("fiboa: how the boundary was determined.", surveyMethods),
    "determination:datetime": textField("fiboa: when the boundary was determined.", { format: "date-time" }),
    land_type: choiceField("Land use class of the FAO agricultural census.", landTypes),
    land_ownership: choiceField("Tenure, after the classes of the FAO agricultural census.", tenures),
    irrigation: choiceField("Irrigation of the field; none means only rain.", irrigations),
    "crop:code_list": constantField("fiboa crop extension: the list of codes.", "https://agrovoc.fao.org/"),
    "crop:code": textField(
      "AGROVOC code of the crop; http://aims.fao.org/aos/agrovoc/ followed by the code is its address.",
      { pattern: /^c_\d+$/ },
    ),
    "crop:name": textField("English preferred label of the crop in AGROVOC."),
  }),
});

const farmer = objectField("A farmer who does not exist, made from a seed.", {
  farmer_id: textField("Opaque id.", { pattern: /^farmer_[0-9a-f]{16}$/ }),
  synthetic: constantField("The farmer does not exist.", true),
  name: objectField("Random combination of common names of the locale.", {
    given_name: textField("Given name.", { min: 1 }),
    surname: textField("Family name.", { min: 1 }),
  }),
  sex: choiceField("Sex, with the values of FHIR and SPDCI.", ["female", "male"]),
  birth_year: integerField("Year of birth, without a day."),
  language: textField("BCP 47: the language to speak with the farmer.", {
    pattern: /^[a-z]{2,3}(-[A-Z]{2})?$/,
  }),
  farmer_type: choiceField("By area: small below 2 ha, medium below 20 ha, or large.", farmerTypes),
  farm_area_ha: numberField("Sum of the areas of the parcels."),
  location: objectField("Location of the farm.", {
    country_code: textField("ISO 3166-1 alpha-2.", { pattern: /^[A-Z]{2}$/ }),
    subdivision_code: textField("ISO 3166-2.", { pattern: /^[A-Z]{2}-[A-Z0-9]{1,3}$/ }),
    subdivision_name: textField("Name of the subdivision."),
  }),
  parcels: listField("The fields, largest first.", parcel, { min: 1, max: 7 }),
  livestock: listField(
    "Animals, by type.",
    objectField("Animals of one type.", {
      type: choiceField("Type.", livestockTypes),
      count: integerField("Number of animals.", { min: 1 }),
    }),
  ),
});

export const farmerShape = { ...farmer, title: "Synthetic farmer" };

/** A synthetic farmer: plain JSON data, the same for the same seed, index, locales and start. */
export type Farmer = s.ValueOf<typeof farmerShape>;
/** A field, as a GeoJSON Feature; members with a colon are fiboa's. */
export type Parcel = s.ValueOf<typeof parcel>;
/** Longitude and latitude, in degrees. */
export type Position = s.ValueOf<typeof position>;
