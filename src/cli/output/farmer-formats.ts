import { sumOf } from "../../farmers/make-farmers.js";
import type { Farmer, Parcel, Position } from "../../sandbox/farmer-records/farmer-shape.js";

// A farmer as a row of a table, for CSV, and as features of a map, for GeoJSON.

type ColumnValue = string | number | boolean | null;

/** The columns of a table of farmers. */
const columns = {
  farmer_id: ({ farmer_id }) => farmer_id,
  synthetic: () => true,
  given_name: ({ name }) => name.given_name,
  surname: ({ name }) => name.surname,
  sex: ({ sex }) => sex,
  birth_year: ({ birth_year }) => birth_year,
  language: ({ language }) => language,
  farmer_type: ({ farmer_type }) => farmer_type,
  farm_area_ha: ({ farm_area_ha }) => farm_area_ha,
  country_code: ({ location }) => location.country_code,
  subdivision_code: ({ location }) => location.subdivision_code,
  subdivision_name: ({ location }) => location.subdivision_name,
  longitude: (farmer) => firstCorner(farmer)[0],
  latitude: (farmer) => firstCorner(farmer)[1],
  parcels: ({ parcels }) => parcels.length,
  irrigated_area_ha: ({ parcels }) =>
    sumOf(parcels.filter(isIrrigated), ({ properties }) => properties.area_ha),
  main_crop_code: (farmer) => mainParcel(farmer).properties["crop:code"],
  main_crop_name: (farmer) => mainParcel(farmer).properties["crop:name"],
  livestock_count: ({ livestock }) => sumOf(livestock, ({ count }) => count),
} satisfies Readonly<Record<string, (farmer: Farmer) => ColumnValue>>;

export function farmerRow(farmer: Farmer): Readonly<Record<string, ColumnValue>> {
  const row: Record<string, ColumnValue> = {};
  for (const [name, read] of Object.entries(columns)) row[name] = read(farmer);
  return row;
}

/** The largest field: the generator lists it first. */
function mainParcel({ parcels }: Farmer): Parcel {
  return parcels[0] as Parcel; // each farmer has a field
}
function firstCorner(farmer: Farmer): Position {
  const [ring] = mainParcel(farmer).geometry.coordinates;
  return ring?.[0] ?? [0, 0];
}
function isIrrigated({ properties }: Parcel): boolean {
  return properties.irrigation !== "none";
}

/** The fields of a farmer, each with the members that name the farmer and the place. */
export function farmerFeatures({ farmer_id, location, parcels }: Farmer): readonly object[] {
  return parcels.map((parcel) => ({
    ...parcel,
    properties: {
      farmer_id,
      "admin:country_code": location.country_code,
      "admin:subdivision_code": location.subdivision_code,
      ...parcel.properties,
    },
  }));
}
