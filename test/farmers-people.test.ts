import { expect, test } from "vitest";
import type { Farmer } from "../src/synthetic/farmers/farmer-schema.js";
import { farmerAt } from "../src/synthetic/farmers/farmers.js";
import { faultsOf, grownSeasons, sampled } from "./support/farmer-samples.js";

// What one farmer can have done and owned.
const farmers = [...sampled.values()].flat();
const yearOf = (date: string) => Number(date.slice(0, 4));
const idOf = ({ farmer_id }: Farmer) => farmer_id;

test("nobody borrows, insures, plants for years, joins or heads a household before being 18", () => {
  expect(Math.min(...farmers.map(({ birth_year }) => 2026 - birth_year))).toBe(19);
  // Who was born on the last day of a year is 18 on all days of the nineteenth year after it.
  const deeds = farmers.flatMap((farmer) => [
    ...farmer.loans.map(({ opened_on }) => ({ farmer, what: "loan", year: yearOf(opened_on) })),
    ...farmer.insurance.map(({ term_start }) => ({ farmer, what: "policy", year: yearOf(term_start) })),
    ...farmer.parcels
      .filter(({ properties }) => properties.land_type === "permanent_crops")
      .flatMap(({ properties }) => properties.seasons)
      .map(({ planted_on, crop_name }) => ({ farmer, what: crop_name, year: yearOf(planted_on) })),
  ]);
  expect(deeds.length).toBeGreaterThan(10_000);
  expect(
    faultsOf(
      deeds,
      ({ farmer, year }) => year > farmer.birth_year + 18,
      ({ farmer, what, year }) => `${what} in ${year}, born in ${farmer.birth_year}`,
    ),
  ).toEqual([]);
});

test("nobody lends to who has not paid back", () => {
  const unpaid = farmers.flatMap((farmer) =>
    farmer.loans.filter(({ days_past_due }) => days_past_due > 0).map((loan) => ({ farmer, loan })),
  );
  expect(unpaid.filter(({ loan }) => loan.status === "defaulted").length).toBeGreaterThan(50);
  const right = ({ farmer, loan }: (typeof unpaid)[number]) =>
    farmer.loans.every((other) => other === loan || other.opened_on < loan.due_on);
  expect(faultsOf(unpaid, right, ({ farmer }) => idOf(farmer))).toEqual([]);
});

test("money for livestock goes to who has some", () => {
  const lent = farmers.filter(({ loans }) => loans.some(({ purpose }) => purpose === "livestock"));
  expect(lent.length).toBeGreaterThan(100);
  expect(faultsOf(lent, ({ livestock }) => livestock.length > 0, idOf)).toEqual([]);
});

test("no land is insured twice at once", () => {
  const insured = farmers.filter(({ insurance }) => insurance.length > 1);
  expect(insured.length).toBeGreaterThan(1_000);
  const right = ({ insurance }: Farmer) =>
    insurance.every((policy, i) => {
      const next = insurance[i + 1];
      return next === undefined || policy.term_end < next.term_start;
    });
  expect(faultsOf(insured, right, idOf)).toEqual([]);
});

/** Years from planting to the first harvest, and to the last one before the field is planted anew. */
const plantationYears: Readonly<Record<string, readonly [number, number]>> = {
  avocados: [3, 40],
  cashews: [3, 40],
  "cocoa beans": [3, 40],
  coffee: [3, 30],
  grapes: [3, 40],
  hazelnuts: [4, 50],
  plantains: [0, 5.5],
  sugarcane: [0, 8],
  tea: [3, 50],
};

test("what stands for years bears only when it is grown, and is replanted before it is worn out", () => {
  const standing = grownSeasons.filter(
    ({ parcel, season }) => parcel.properties.land_type === "permanent_crops" && season.harvested_on !== null,
  );
  expect(new Set(standing.map(({ season }) => season.crop_name)).size).toBe(9);
  const right = ({ season }: (typeof standing)[number]) => {
    const [bears, worn] = plantationYears[season.crop_name] as readonly [number, number];
    const age =
      (Date.parse(season.harvested_on as string) - Date.parse(season.planted_on)) / (365.25 * 86_400_000);
    return age >= bears && age <= worn;
  };
  const tell = ({ season }: (typeof standing)[number]) =>
    `${season.crop_name} of ${season.planted_on} in ${season.season_code}`;
  expect(faultsOf(standing, right, tell)).toEqual([]);
});

test("animals have room: cattle and buffaloes a couple, and a few more on each hectare", () => {
  const countOf = ({ livestock }: Farmer, ...types: readonly string[]) =>
    livestock.filter(({ type }) => types.includes(type)).reduce((sum, { count }) => sum + count, 0);
  const right = (farmer: Farmer) => {
    const hectares = farmer.farm_area_ha;
    return (
      countOf(farmer, "cattle", "buffaloes") <= 2 + 8 * hectares &&
      countOf(farmer, "sheep") <= 3 + 15 * hectares &&
      countOf(farmer, "goats") <= 3 + 15 * hectares
    );
  };
  expect(faultsOf(farmers, right, idOf)).toEqual([]);
});

test.each([
  1950, 1970, 2000, 2024, 2100, 9900,
])("with the clock in %d every date has a year of four digits", (year) => {
  const odd: string[] = [];
  for (let index = 0; index < 300; index++) {
    const text = JSON.stringify(
      farmerAt({ seed: 3, start: Date.UTC(year, index % 12, 1 + (index % 28)) }, index),
    );
    const dates = text.match(/(?<=_on":|_start":|_end":|datetime":)"[^"]*"/g) ?? [];
    expect(dates.length).toBeGreaterThan(9);
    odd.push(...dates.filter((date) => !/^"\d{4}-\d\d-\d\d(T00:00:00Z)?"$/.test(date)));
  }
  expect(odd).toEqual([]);
});

test("farmers, loans and policies of another choice of locales have other ids", () => {
  const source = { seed: 1, start: Date.UTC(2026, 2, 2, 9) };
  const idsOf = (one: Farmer) => [
    one.farmer_id,
    ...one.loans.map(({ loan_id }) => loan_id),
    ...one.insurance.flatMap(({ policy_id, claims }) => [
      policy_id,
      ...claims.map(({ claim_id }) => claim_id),
    ]),
  ];
  const made = (locales?: readonly "en_GH"[]) =>
    Array.from({ length: 2_000 }, (_, index) =>
      farmerAt({ ...source, ...(locales !== undefined && { locales }) }, index),
    ).flatMap(idsOf);
  const everywhere = new Set(made());
  expect(everywhere.size).toBeGreaterThan(1_000);
  expect(made(["en_GH"]).filter((id) => everywhere.has(id))).toEqual([]);
});
