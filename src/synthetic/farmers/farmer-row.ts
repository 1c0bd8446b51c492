import { rounded } from "./exact-math.js";
import type { Farmer, Parcel, Season } from "./farmer.js";

export type FarmerRow = Readonly<Record<(typeof farmerColumns)[number], string | number | boolean | null>>;

/** The columns of a farmer in a table, in their order. */
export const farmerColumns = [
  "farmer_id",
  "synthetic",
  "given_name",
  "surname",
  "sex",
  "birth_year",
  "language",
  "household_group_size",
  "household_is_head",
  "farmer_type",
  "farm_area_ha",
  "country_code",
  "subdivision_code",
  "subdivision_name",
  "longitude",
  "latitude",
  "parcels",
  "irrigated_area_ha",
  "main_crop_code",
  "main_crop_name",
  "last_yield_kg_ha",
  "livestock_count",
  "cooperative_id",
  "policies",
  "claims",
  "loans",
  "currency",
  "outstanding",
  "days_past_due",
] as const;

/** A farmer as one flat row: what has many parts is counted or summed. */
export function farmerRow(farmer: Farmer): FarmerRow {
  const { name, household, location, parcels, insurance, loans, livestock } = farmer;
  const first = parcels[0] as Parcel;
  const [longitude, latitude] = first.geometry.coordinates[0]?.[0] ?? [0, 0];
  const irrigated = parcels.filter(({ properties }) => properties.irrigation !== "none");
  const harvested = first.properties.seasons.filter(({ yield_kg_ha }) => yield_kg_ha !== null);
  const last: Season | undefined = harvested.at(-1);
  return {
    farmer_id: farmer.farmer_id,
    synthetic: true,
    given_name: name.given_name,
    surname: name.surname,
    sex: farmer.sex,
    birth_year: farmer.birth_year,
    language: farmer.language,
    household_group_size: household.group_size,
    household_is_head: household.is_head,
    farmer_type: farmer.farmer_type,
    farm_area_ha: farmer.farm_area_ha,
    country_code: location.country_code,
    subdivision_code: location.subdivision_code,
    subdivision_name: location.subdivision_name,
    longitude,
    latitude,
    parcels: parcels.length,
    irrigated_area_ha: sum(irrigated, ({ properties }) => properties.area_ha),
    main_crop_code: first.properties["crop:code"],
    main_crop_name: first.properties["crop:name"],
    last_yield_kg_ha: last?.yield_kg_ha ?? null,
    livestock_count: sum(livestock, ({ count }) => count),
    cooperative_id: farmer.cooperative?.cooperative_id ?? null,
    policies: insurance.length,
    claims: sum(insurance, ({ claims }) => claims.length),
    loans: loans.length,
    currency: loans[0]?.currency ?? null,
    outstanding: sum(loans, ({ outstanding }) => outstanding),
    days_past_due: Math.max(0, ...loans.map(({ days_past_due }) => days_past_due)),
  };
}

function sum<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  return rounded(
    items.reduce((total, item) => total + amountOf(item), 0),
    4,
  );
}
