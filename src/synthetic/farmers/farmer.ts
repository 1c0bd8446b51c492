import type { LivestockType } from "./countries.js";
import type { Peril } from "./hazards.js";

/** A sum of money, rounded to the digits of its currency. */
export interface Money {
  readonly amount: number;
  /** ISO 4217. */
  readonly currency: string;
}

export const landOwnerships = [
  "owned",
  "owner_like_possession",
  "rented",
  "sharecropped",
  "communal",
] as const;
export const irrigations = ["none", "surface", "sprinkler", "drip"] as const;
export const landTypes = ["temporary_crops", "permanent_crops"] as const;
export const claimStatuses = ["open", "settled", "rejected"] as const;
export const loanPurposes = ["inputs", "equipment", "livestock", "land_improvement"] as const;
export const loanStatuses = ["current", "in_arrears", "defaulted", "repaid"] as const;
export const farmerTypes = ["small", "medium", "large"] as const;

/** What spoiled a part of a harvest. */
export type LossCause = "drought" | Peril;

/** One crop on one parcel, from planting to harvest. Dates are `YYYY-MM-DD`. */
export interface Season {
  readonly season_code: string;
  readonly season_start: string;
  readonly season_end: string;
  readonly crop_code: string;
  readonly crop_name: string;
  /** Of what stands for years: when it was set, years before the season. */
  readonly planted_on: string;
  /** `null` while the crop is on the field, as are the two figures. */
  readonly harvested_on: string | null;
  readonly harvest_kg: number | null;
  readonly yield_kg_ha: number | null;
  readonly loss_cause: LossCause | null;
}

/** Longitude and latitude, in degrees. */
export type Position = readonly [number, number];

/** A field, as a GeoJSON Feature; members with a colon are fiboa's. */
export interface Parcel {
  readonly type: "Feature";
  readonly id: string;
  readonly geometry: { readonly type: "Polygon"; readonly coordinates: readonly (readonly Position[])[] };
  readonly properties: {
    readonly collection: "synthetic";
    readonly synthetic: true;
    /** In m². */
    readonly "metrics:area": number;
    /** In m. */
    readonly "metrics:perimeter": number;
    readonly area_ha: number;
    readonly "determination:method": "driven" | "surveyed" | "auto-imagery" | "manual";
    readonly "determination:datetime": string;
    readonly land_type: (typeof landTypes)[number];
    readonly land_ownership: (typeof landOwnerships)[number];
    readonly irrigation: (typeof irrigations)[number];
    readonly "crop:code_list": string;
    readonly "crop:code": string;
    readonly "crop:name": string;
    readonly seasons: readonly Season[];
  };
}

export interface Claim {
  readonly claim_id: string;
  readonly cause: LossCause;
  readonly occurred_on: string;
  readonly status: (typeof claimStatuses)[number];
  readonly amount: Money;
}

export interface InsurancePolicy {
  readonly policy_id: string;
  readonly season_code: string;
  readonly crop_code: string;
  readonly crop_name: string;
  readonly insured_area_ha: number;
  readonly insured_value_per_ha: Money;
  readonly sum_insured: Money;
  readonly deductible: Money;
  readonly term_start: string;
  readonly term_end: string;
  readonly claims: readonly Claim[];
}

export interface Loan {
  readonly loan_id: string;
  readonly purpose: (typeof loanPurposes)[number];
  readonly currency: string;
  readonly principal: number;
  readonly outstanding: number;
  readonly opened_on: string;
  readonly due_on: string;
  readonly status: (typeof loanStatuses)[number];
  readonly days_past_due: number;
}

export interface Cooperative {
  readonly cooperative_id: string;
  readonly name: string;
  readonly member_since: number;
}

export interface Livestock {
  readonly type: LivestockType;
  readonly count: number;
}

/** A farmer that nobody is: plain JSON data, the same for the same seed, index, locales and start. */
export interface Farmer {
  readonly farmer_id: string;
  readonly synthetic: true;
  readonly name: { readonly given_name: string; readonly surname: string };
  readonly sex: "female" | "male";
  readonly birth_year: number;
  /** BCP 47. */
  readonly language: string;
  readonly household: { readonly group_size: number; readonly is_head: boolean };
  readonly farmer_type: (typeof farmerTypes)[number];
  readonly farm_area_ha: number;
  readonly location: {
    readonly country_code: string;
    readonly subdivision_code: string;
    readonly subdivision_name: string;
  };
  readonly parcels: readonly Parcel[];
  readonly livestock: readonly Livestock[];
  readonly cooperative: Cooperative | null;
  readonly insurance: readonly InsurancePolicy[];
  readonly loans: readonly Loan[];
}
