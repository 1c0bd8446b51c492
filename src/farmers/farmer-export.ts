import { sumOf } from "./exact-math.js";
import type { Farmer, Parcel, Season } from "./farmer-shape.js";

type Cell = string | number | boolean | null;

/** The columns of a farmer in a table, in order; lists are counted or summed. */
const columns = {
  farmer_id: ({ farmer_id }) => farmer_id,
  synthetic: () => true,
  given_name: ({ name }) => name.given_name,
  surname: ({ name }) => name.surname,
  sex: ({ sex }) => sex,
  birth_year: ({ birth_year }) => birth_year,
  language: ({ language }) => language,
  household_group_size: ({ household }) => household.group_size,
  household_is_head: ({ household }) => household.is_head,
  farmer_type: ({ farmer_type }) => farmer_type,
  farm_area_ha: ({ farm_area_ha }) => farm_area_ha,
  country_code: ({ location }) => location.country_code,
  subdivision_code: ({ location }) => location.subdivision_code,
  subdivision_name: ({ location }) => location.subdivision_name,
  longitude: (farmer) => mainParcel(farmer).geometry.coordinates[0]?.[0]?.[0] ?? 0,
  latitude: (farmer) => mainParcel(farmer).geometry.coordinates[0]?.[0]?.[1] ?? 0,
  parcels: ({ parcels }) => parcels.length,
  irrigated_area_ha: ({ parcels }) =>
    sumOf(parcels, ({ properties }) => (properties.irrigation === "none" ? 0 : properties.area_ha)),
  main_crop_code: (farmer) => mainParcel(farmer).properties["crop:code"],
  main_crop_name: (farmer) => mainParcel(farmer).properties["crop:name"],
  last_yield_kg_ha: (farmer) => lastHarvest(farmer)?.yield_kg_ha ?? null,
  livestock_count: ({ livestock }) => sumOf(livestock, ({ count }) => count),
  cooperative_id: ({ cooperative }) => cooperative?.cooperative_id ?? null,
  policies: ({ insurance }) => insurance.length,
  sum_insured: ({ insurance }) => sumOf(insurance, ({ sum_insured }) => sum_insured.amount),
  premium: ({ insurance }) => sumOf(insurance, ({ premium }) => premium.amount),
  claims: ({ insurance }) => sumOf(insurance, ({ claims }) => claims.length),
  loans: ({ loans }) => loans.length,
  currency: ({ loans, insurance }) => loans[0]?.currency ?? insurance[0]?.premium.currency ?? null,
  outstanding: ({ loans }) => sumOf(loans, ({ outstanding }) => outstanding),
  days_past_due: ({ loans }) => Math.max(0, ...loans.map(({ days_past_due }) => days_past_due)),
} satisfies Readonly<Record<string, (farmer: Farmer) => Cell>>;

export const farmerColumns: readonly string[] = Object.keys(columns);

export function farmerRow(farmer: Farmer): Readonly<Record<string, Cell>> {
  return Object.fromEntries(Object.entries(columns).map(([name, cellOf]) => [name, cellOf(farmer)]));
}

function mainParcel({ parcels }: Farmer): Parcel {
  return parcels[0] as Parcel;
}

function lastHarvest(farmer: Farmer): Season | undefined {
  return mainParcel(farmer).properties.seasons.findLast(({ yield_kg_ha }) => yield_kg_ha !== null);
}

/** The parcels of a farmer as self-contained GeoJSON Features, with the farmer's id and location. */
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
