import { iso1A2Code } from "@rapideditor/country-coder";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import geographicLib from "geographiclib-geodesic";
import polygonClipping, { type Polygon } from "polygon-clipping";
import { expect, test } from "vitest";
import { type Farmer, farmerShape, type Parcel } from "../../src/farmers/farmer-shape.js";
import { farmerAt } from "../../src/farmers/farmers.js";
import { jsonSchemaDocument } from "../../src/spec/schema/json-schema.js";
import expected from "./expected.json" with { type: "json" };
import { everyFarmer, farmers, holds, parcels, seasons, start, today } from "./sample.js";

// Each record by itself: its form by validators that others wrote, and its parts by each other.
const policies = farmers.flatMap((farmer) => farmer.insurance.map((policy) => ({ farmer, policy })));
const loans = farmers.flatMap((farmer) => farmer.loans);

const ajv = new Ajv2020({ allowUnionTypes: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
const validate = ajv.compile(jsonSchemaDocument(farmerShape));
holds("every record is valid by its JSON Schema", farmers, (farmer) => validate(farmer));

const isSimple = (outline: Polygon) => {
  const [[ring = []] = [], ...others] = polygonClipping.union(outline);
  return others.length === 0 && ring.length === outline[0]?.length;
};
holds("the outline of a field does not cross itself", parcels.slice(0, 8_000), ({ parcel }) =>
  isSimple(parcel.geometry.coordinates as unknown as Polygon),
);

const { WGS84 } = geographicLib.Geodesic;
holds(
  "fields are counterclockwise; the stated area and perimeter match the geometry on the ellipsoid of WGS 84 within 0.1%, by geodesics",
  parcels,
  ({ parcel: { geometry, properties } }) => {
    const outline = WGS84.Polygon(false);
    for (const [longitude, latitude] of geometry.coordinates[0]?.slice(1) ?? [])
      outline.AddPoint(latitude, longitude);
    const { area = 0, perimeter } = outline.Compute(false, true);
    return (
      Math.abs(properties["metrics:area"] - area) < area / 1_000 &&
      Math.abs(properties["metrics:perimeter"] - perimeter) < perimeter / 1_000 &&
      Math.abs(properties.area_ha - properties["metrics:area"] / 10_000) < 1e-9
    );
  },
);

holds("a farm is the sum of its fields", farmers, ({ farm_area_ha, parcels }) => {
  const sum = parcels.reduce((total, { properties }) => total + properties.area_ha, 0);
  return Math.abs(farm_area_ha - sum) < 1e-6;
});

holds(
  "the fields of a farm do not overlap and lie near each other",
  farmers.filter((farmer) => farmer.parcels.length > 1).slice(0, 1_500),
  ({ parcels: [first, ...rest], farm_area_ha }) => {
    const rings = [first as Parcel, ...rest].map(
      ({ geometry }) => geometry.coordinates as unknown as Polygon,
    );
    const [toX, toY] = rings[0]?.[0]?.[0] as [number, number];
    const isNear = rings.every(([ring]) => {
      const [x, y] = ring?.[0] as [number, number];
      const metres = 111_195 * Math.hypot((x - toX) * Math.cos((y * Math.PI) / 180), y - toY);
      return metres < 6 * Math.sqrt(farm_area_ha * 10_000) + 100;
    });
    const isApart = (ring: Polygon, i: number) =>
      rings.slice(i + 1).every((other) => polygonClipping.intersection(ring, other).length === 0);
    return isNear && rings.every(isApart);
  },
);

holds(
  "every corner lies in the stated country, by the borders of another project",
  parcels.slice(0, 12_000),
  ({ farmer, parcel }) =>
    (parcel.geometry.coordinates[0] ?? []).every(
      ([longitude, latitude]) =>
        iso1A2Code([longitude, latitude], { level: "territory" }) === farmer.location.country_code,
    ),
);

// Of the currencies of farmers, these two have no minor unit in ISO 4217; the others have two digits.
const digitsOf = (currency: string) => (["VND", "XOF"].includes(currency) ? 0 : 2);
const sums = [
  ...loans.flatMap(({ principal, outstanding, currency }) =>
    [principal, outstanding].map((amount) => ({ amount, currency })),
  ),
  ...policies.flatMap(({ policy }) => [
    policy.sum_insured,
    policy.deductible,
    policy.premium,
    policy.insured_value_per_ha,
    ...policy.claims.map((claim) => claim.amount),
  ]),
];
holds("money has the digits of its ISO 4217 currency", sums, ({ amount, currency }) => {
  return amount === Number(amount.toFixed(digitsOf(currency)));
});

holds(
  "crops are those of AGROVOC, and the crop of a parcel is that of its latest season",
  seasons,
  ({ season, parcel: { properties } }) =>
    (expected.agrovoc as Record<string, string>)[season.crop_code] === season.crop_name &&
    properties["crop:code"] === properties.seasons.at(-1)?.crop_code &&
    properties["crop:name"] === properties.seasons.at(-1)?.crop_name,
);

holds(
  "a harvest is yield times area; a crop that is still on the field has neither",
  seasons,
  ({ season: { harvest_kg, yield_kg_ha, harvested_on, loss_cause }, parcel }) =>
    harvested_on === null
      ? harvest_kg === null && yield_kg_ha === null && loss_cause === null
      : Math.abs((harvest_kg as number) - (yield_kg_ha as number) * parcel.properties.area_ha) <= 0.051,
);

holds(
  "dates follow each other, none is after the start, and a field bears one crop at a time",
  parcels,
  ({ parcel }) =>
    parcel.properties.seasons.every((season, i, all) => {
      const { season_start, season_end, planted_on, harvested_on } = season;
      const next = all[i + 1];
      return (
        planted_on <= today &&
        (harvested_on === null ||
          (harvested_on <= today && harvested_on <= season_end && harvested_on > season_start)) &&
        (parcel.properties.land_type === "permanent_crops"
          ? planted_on < season_start
          : planted_on >= season_start && (harvested_on === null || planted_on < harvested_on)) &&
        (next === undefined ||
          (harvested_on !== null && harvested_on < next.season_end && season_end < next.season_start))
      );
    }),
);

holds(
  "a policy covers its season and its area, and claims less than it insures, for a spoiled harvest",
  policies,
  ({ farmer, policy }) => {
    const covered = farmer.parcels.flatMap(({ properties }) =>
      properties.seasons
        .filter((one) => one.season_code === policy.season_code && one.crop_code === policy.crop_code)
        .map((season) => ({ season, hectares: properties.area_ha })),
    );
    const hectares = covered.reduce((sum, one) => sum + one.hectares, 0);
    const value = policy.insured_area_ha * policy.insured_value_per_ha.amount;
    const digits = digitsOf(policy.sum_insured.currency);
    return (
      Math.abs(hectares - policy.insured_area_ha) < 1e-6 &&
      Math.abs(policy.sum_insured.amount - value) <= 0.51 / 10 ** digits &&
      covered.every(
        ({ season }) => policy.term_start <= season.season_start && season.season_end <= policy.term_end,
      ) &&
      policy.premium.amount > 0.03 * policy.sum_insured.amount &&
      policy.premium.amount < 0.15 * policy.sum_insured.amount &&
      policy.claims.length <= 1 &&
      policy.claims.every(
        ({ amount, occurred_on, cause }) =>
          amount.amount > 0 &&
          amount.amount <= policy.sum_insured.amount - policy.deductible.amount + 0.01 &&
          occurred_on >= policy.term_start &&
          occurred_on <= today &&
          covered.some(
            ({ season }) => season.loss_cause === cause && occurred_on <= (season.harvested_on ?? ""),
          ),
      )
    );
  },
);

holds("a loan owes no more than was lent, and is in default from 90 days past due", loans, (loan) => {
  const isLate = loan.status === "in_arrears" || loan.status === "defaulted";
  const days = Math.floor((start - Date.parse(loan.due_on)) / 86_400_000);
  return (
    loan.outstanding >= 0 &&
    loan.outstanding <= loan.principal &&
    loan.opened_on < loan.due_on &&
    loan.opened_on <= today &&
    loan.days_past_due === (isLate ? days : 0) &&
    (!isLate || (days > 0 && loan.outstanding > 0)) &&
    loan.days_past_due >= 90 === (loan.status === "defaulted") &&
    (loan.status !== "repaid" || loan.outstanding === 0) &&
    (loan.status !== "current" || days <= 0)
  );
});

test("no two farmers, loans, policies or claims share an id", () => {
  const ids = everyFarmer.flatMap((one) => [
    one.farmer_id,
    ...one.loans.map(({ loan_id }) => loan_id),
    ...one.insurance.flatMap(({ policy_id, claims }) => [policy_id, ...claims.map((one) => one.claim_id)]),
  ]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("another start moves dates and does not change name, location and outlines", () => {
  const unmoved = ({ name, location, parcels }: Farmer) => [
    name,
    location,
    parcels.map(({ geometry }) => geometry),
  ];
  for (const [index, farmer] of farmers.slice(0, 100).entries()) {
    const later = farmerAt({ seed: 1, start: Date.UTC(2031, 8, 1) }, index);
    expect(unmoved(later)).toEqual(unmoved(farmer));
    expect(later.birth_year - farmer.birth_year).toBe(5);
    const codes = later.parcels.flatMap(({ properties }) => properties.seasons.map((one) => one.season_code));
    expect(codes.filter((code) => code < "2027")).toEqual([]);
  }
});

test.each([1950, 1970, 2000, 2024, 2100, 9900])("in %d every date has a year of four digits", (year) => {
  for (let index = 0; index < 150; index++) {
    const farmer = farmerAt({ seed: 3, start: Date.UTC(year, index % 12, 1 + (index % 28)) }, index);
    const dates = JSON.stringify(farmer).match(/(?<=_on":|_start":|_end":|datetime":)"[^"]*"/g) ?? [];
    expect(dates.length).toBeGreaterThan(9);
    expect(dates.filter((date) => !/^"\d{4}-\d\d-\d\d(T00:00:00Z)?"$/.test(date))).toEqual([]);
  }
});
