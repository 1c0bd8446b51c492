import type { Permission } from "../domain/attestation.js";
import type { Farmer } from "../synthetic/farmers/farmer-schema.js";

/** Members of a farmer's record, with those that say whose they are and that nobody is that farmer. */
export type AttestedData = Readonly<Record<string, unknown>> & {
  readonly farmer_id: string;
  readonly synthetic: true;
};

/** What the attestation of a permission says of a farmer: what the farmer consented to, and nothing more (R44). */
export function subjectOf(farmer: Farmer, permission: Permission): AttestedData {
  return { farmer_id: farmer.farmer_id, synthetic: farmer.synthetic, ...attested[permission](farmer) };
}

const attested: Readonly<Record<Permission, (farmer: Farmer) => Partial<Record<string, unknown>>>> = {
  identity: ({ name, sex, birth_year, language, household, location, cooperative }) => ({
    name,
    sex,
    birth_year,
    language,
    household,
    location,
    cooperative,
  }),
  land: ({ farmer_type, farm_area_ha, parcels }) => ({
    farmer_type,
    farm_area_ha,
    parcels: parcels.map(({ properties, ...parcel }) => ({
      ...parcel,
      properties: withoutCrops(properties),
    })),
  }),
  production: ({ parcels }) => ({
    crops: parcels.map(({ id, properties }) => ({
      parcel_id: id,
      area_ha: properties.area_ha,
      "crop:code_list": properties["crop:code_list"],
      "crop:code": properties["crop:code"],
      "crop:name": properties["crop:name"],
      seasons: properties.seasons,
    })),
  }),
  livestock: ({ livestock }) => ({ livestock }),
  insurance: ({ insurance }) => ({ insurance }),
  loans: ({ loans }) => ({ loans }),
};

// What grows on the land is another permission's.
function withoutCrops(properties: Farmer["parcels"][number]["properties"]) {
  const { seasons: _s, "crop:code_list": _l, "crop:code": _c, "crop:name": _n, ...land } = properties;
  return land;
}
