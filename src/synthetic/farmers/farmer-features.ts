import type { Farmer, Parcel } from "./farmer.js";

/** A parcel that says whose it is. */
export interface ParcelFeature extends Omit<Parcel, "properties"> {
  readonly properties: Parcel["properties"] & {
    readonly farmer_id: string;
    readonly "admin:country_code": string;
    readonly "admin:subdivision_code": string;
  };
}

/** The parcels of a farmer as GeoJSON Features that can stand alone, with the farmer's id and place. */
export function farmerFeatures({ farmer_id, location, parcels }: Farmer): readonly ParcelFeature[] {
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
