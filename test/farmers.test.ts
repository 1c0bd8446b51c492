import { readFileSync } from "node:fs";
import { join } from "node:path";
import { iso1A2Code } from "@rapideditor/country-coder";
import { area } from "@turf/area";
import { kinks } from "@turf/kinks";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { code as currencyOf } from "currency-codes";
import fc from "fast-check";
import polygonClipping, { type Polygon } from "polygon-clipping";
import { expect, test } from "vitest";
import { farmerLocales } from "../src/domain/farmer.js";
import { indexOfFarmer } from "../src/synthetic/farmer-id.js";
import { farmerColumns, farmerFeatures, farmerRow } from "../src/synthetic/farmers/farmer-export.js";
import { type Farmer, farmerSchema, type Parcel } from "../src/synthetic/farmers/farmer-schema.js";
import { type FarmerSource, farmerAt } from "../src/synthetic/farmers/farmers.js";
import { geojsonFaults, subdivisionName } from "./support/farmer-judges.js";
import { propertySeed } from "./support/property-seed.js";

const source: FarmerSource = { seed: 1, start: Date.UTC(2026, 2, 2, 9) };
const farmers = Array.from({ length: 10_000 }, (_, index) => farmerAt(source, index));
const parcels = farmers.flatMap((farmer) => farmer.parcels.map((parcel) => ({ farmer, parcel })));
const geometryOf = (parcel: Parcel) => parcel.geometry as unknown as GeoJSON.Polygon;
const agrovoc = JSON.parse(
  readFileSync(join(import.meta.dirname, "support/agrovoc-concepts.json"), "utf8"),
) as Record<string, string>;

/** What the rule finds wrong, with the farmer's id; few, so that a failure can be read. */
const faults = <Item>(items: readonly Item[], isRight: (item: Item) => boolean) =>
  items.filter((item) => !isRight(item)).slice(0, 3);

test("every record is valid by its JSON Schema, says that it is synthetic, and survives JSON", () => {
  const ajv = new Ajv2020({ allowUnionTypes: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  const validate = ajv.compile(farmerSchema);
  expect(faults(farmers, (farmer) => validate(farmer)).map(() => validate.errors)).toEqual([]);
  expect(
    faults(farmers, (farmer) => JSON.parse(JSON.stringify(farmer)).farmer_id === farmer.farmer_id),
  ).toEqual([]);
});

test("every field of the schema is described", () => {
  const bare: string[] = [];
  const walk = (schema: Record<string, unknown>, path: string) => {
    if (typeof schema.description !== "string") bare.push(path);
    for (const [name, child] of Object.entries((schema.properties ?? {}) as Record<string, never>))
      walk(child, `${path}.${name}`);
    const { items } = schema as { items?: Record<string, unknown> };
    if (items?.properties !== undefined) walk(items, `${path}[]`);
  };
  walk(farmerSchema, "farmer");
  expect(bare).toEqual([]);
});

test("fields are GeoJSON with the right-hand rule, and their outlines cross nowhere", () => {
  const features = farmers.slice(0, 3_000).flatMap(farmerFeatures);
  expect(geojsonFaults({ type: "FeatureCollection", features }).slice(0, 3)).toEqual([]);
  expect(faults(parcels, ({ parcel }) => kinks(geometryOf(parcel)).features.length === 0)).toEqual([]);
});

test("the stated area is that of the geometry, within a hundredth, and a farm is the sum of its fields", () => {
  const off = ({ parcel }: { parcel: Parcel }) =>
    Math.abs(parcel.properties["metrics:area"] / area(geometryOf(parcel)) - 1) < 0.01 &&
    parcel.properties.area_ha === parcel.properties["metrics:area"] / 10_000;
  expect(faults(parcels, off)).toEqual([]);
  const summed = (farmer: Farmer) =>
    Math.abs(
      farmer.farm_area_ha - farmer.parcels.reduce((sum, { properties }) => sum + properties.area_ha, 0),
    ) < 1e-6;
  expect(faults(farmers, summed)).toEqual([]);
});

test("the fields of a farm do not overlap and lie near each other", () => {
  const several = farmers.filter((farmer) => farmer.parcels.length > 1).slice(0, 3_000);
  const apart = ({ parcels: [first, ...rest], farm_area_ha }: Farmer) => {
    const rings = [first as Parcel, ...rest].map(
      ({ geometry }) => geometry.coordinates as unknown as Polygon,
    );
    const near = rings.every(([ring]) => {
      const [x, y] = (ring?.[0] ?? [0, 0]) as [number, number];
      const [toX, toY] = (rings[0]?.[0]?.[0] ?? [0, 0]) as [number, number];
      const metres = 111_195 * Math.hypot((x - toX) * Math.cos((y * Math.PI) / 180), y - toY);
      return metres < 6 * Math.sqrt(farm_area_ha * 10_000) + 100;
    });
    return (
      near &&
      rings.every((ring, i) =>
        rings.slice(i + 1).every((other) => polygonClipping.intersection(ring, other).length === 0),
      )
    );
  };
  expect(faults(several, apart)).toEqual([]);
});

test("every corner is on the earth and in the stated country, by somebody else's borders", () => {
  const inside = ({ farmer, parcel }: { farmer: Farmer; parcel: Parcel }) =>
    (parcel.geometry.coordinates[0] ?? []).every(
      ([longitude, latitude]) =>
        Math.abs(longitude) <= 180 &&
        Math.abs(latitude) <= 90 &&
        iso1A2Code([longitude, latitude], { level: "territory" }) === farmer.location.country_code,
    );
  expect(faults(parcels, inside)).toEqual([]);
});

test("subdivisions are those of ISO 3166-2, currencies of ISO 4217 with their digits, crops of AGROVOC", () => {
  const subdivisions = new Map(
    farmers.map(({ location }) => [location.subdivision_code, location.subdivision_name]),
  );
  expect(subdivisions.size).toBeGreaterThan(40);
  const wrong = [...subdivisions].filter(([code, name]) => fold(subdivisionName(code) ?? "") !== fold(name));
  expect(wrong).toEqual([]);
  const fits = (amount: number, currency: string) => {
    const digits = currencyOf(currency)?.digits as number;
    return amount === Number(amount.toFixed(digits));
  };
  const sums = farmers.flatMap(({ loans, insurance }) => [
    ...loans.flatMap((loan) =>
      [loan.principal, loan.outstanding].map((amount) => ({ amount, currency: loan.currency })),
    ),
    ...insurance.flatMap((policy) => [
      policy.sum_insured,
      policy.deductible,
      policy.insured_value_per_ha,
      ...policy.claims.map((claim) => claim.amount),
    ]),
  ]);
  expect(sums.length).toBeGreaterThan(5_000);
  expect(faults(sums, ({ amount, currency }) => fits(amount, currency))).toEqual([]);
  const grown = parcels.flatMap(({ parcel }) => parcel.properties.seasons);
  expect(faults(grown, ({ crop_code, crop_name }) => agrovoc[crop_code] === crop_name)).toEqual([]);
});

/** Letters without their accents: lists of subdivisions differ in them. */
function fold(name: string): string {
  return name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[ıĐÐđð]/g, (one) => (one === "ı" ? "i" : "d"))
    .toLowerCase();
}

test("ids are all different and each leads back to its farmer", () => {
  expect(new Set(farmers.map(({ farmer_id }) => farmer_id)).size).toBe(farmers.length);
  expect(
    faults(
      farmers.map((farmer, index) => ({ farmer, index })),
      ({ farmer, index }) => indexOfFarmer(source, farmer.farmer_id) === index,
    ),
  ).toEqual([]);
});

test("a row has every column and no nested value", () => {
  for (const farmer of farmers.slice(0, 200)) {
    const row = farmerRow(farmer);
    expect(Object.keys(row)).toEqual([...farmerColumns]);
    expect(Object.values(row).filter((value) => typeof value === "object" && value !== null)).toEqual([]);
  }
});

test("a farmer depends on seed, index, locales and start alone, not on who was made before", () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.subarray([...farmerLocales], { minLength: 1 }),
      fc.nat(60_000),
      (seed, index, locales, days) => {
        const one = { seed, locales, start: Date.UTC(1990, 0, 1) + days * 86_400_000 };
        const farmer = farmerAt(one, index);
        farmerAt({ ...one, seed: seed + 1 }, index + 1);
        expect(farmerAt({ ...one, locales: [...locales] }, index)).toEqual(farmer);
        expect(indexOfFarmer(one, farmer.farmer_id)).toBe(index);
        expect(farmerAt({ ...one, seed: seed + 1 }, index).farmer_id).not.toBe(farmer.farmer_id);
      },
    ),
    { numRuns: 300, ...propertySeed },
  );
});

test("another start moves dates and leaves name, place and outlines as they are", () => {
  for (let index = 0; index < 100; index++) {
    const later = farmerAt({ ...source, start: Date.UTC(2031, 8, 1) }, index);
    const farmer = farmers[index] as Farmer;
    expect(later.name).toEqual(farmer.name);
    expect(later.location).toEqual(farmer.location);
    expect(later.parcels.map(({ geometry }) => geometry)).toEqual(
      farmer.parcels.map(({ geometry }) => geometry),
    );
    expect(later.birth_year - farmer.birth_year).toBe(5);
    for (const { properties } of later.parcels) {
      expect(properties.seasons.every(({ season_code }) => season_code >= "2027")).toBe(true);
    }
  }
});

test.each([-1, 0.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY])("index %d is refused", (index) => {
  expect(() => farmerAt(source, index)).toThrow(RangeError);
});

test("the judges of outlines can find fault", () => {
  const parcel = structuredClone(farmers[0]?.parcels[0]) as Parcel;
  const [ring] = parcel.geometry.coordinates as unknown as [[number, number][]];
  expect(geojsonFaults(parcel)).toEqual([]);
  ring.reverse();
  expect(geojsonFaults(parcel)).toHaveLength(1);
  const [first, second, third, fourth] = ring as [number, number][];
  const bowTie = [first, third, second, fourth, first] as [number, number][];
  expect(kinks({ type: "Polygon", coordinates: [bowTie] }).features.length).toBeGreaterThan(0);
  expect(iso1A2Code([0, 0], { level: "territory" })).toBeNull();
  expect(subdivisionName("KE-99")).toBeUndefined();
});
