import { expect, test } from "vitest";
import {
  faultsOf,
  type GrownSeason,
  grownSeasons,
  placeOf,
  sampled,
  tell,
} from "./support/farmer-samples.js";
import { growthOf } from "./support/farmer-tables.js";

// What grows where and when, and what spoils it: the months and places here are written down apart from those that the
// farmers are made from.
const monthOf = (date: string) => Number(date.slice(5, 7));

/** Whether a month lies between two others, over the turn of the year if the second is the smaller one. */
const isMonthIn = (month: number, [from, to]: readonly number[]) =>
  (from as number) <= (to as number)
    ? month >= (from as number) && month <= (to as number)
    : month >= (from as number) || month <= (to as number);

const nothingWithoutWater: Readonly<Record<string, readonly string[]>> = {
  "BR-RS": ["rice"],
  "IN-MH": ["onions", "sugarcane"],
  "IN-PB": ["wheat", "rice", "cotton"],
  "IN-TN": ["sugarcane"],
  "IN-UP": ["wheat", "potatoes"],
  "MX-GUA": ["wheat"],
  "MX-SIN": ["maize", "tomatoes", "chickpeas", "beans"],
  "SN-SL": ["rice", "onions"],
  "TR-01": ["cotton", "maize"],
  "TR-42": ["sugarbeet"],
  "TR-45": ["maize"],
  "TR-63": ["cotton"],
  "VN-44": ["rice"],
};

test("what grows in a season in which nothing grows without water is irrigated", () => {
  const thirsty = grownSeasons.filter((one) =>
    nothingWithoutWater[placeOf(one)]?.includes(one.season.crop_name),
  );
  expect(thirsty.length).toBeGreaterThan(3_000);
  expect(faultsOf(thirsty, ({ parcel }) => parcel.properties.irrigation !== "none", tell)).toEqual([]);
});

test.each([
  ["TR-42", "wheat", 0.1, 0.5],
  ["TR-45", "grapes", 0.55, 0.9],
  ["ID-JI", "rice", 0.55, 0.9],
  ["IN-MH", "soybeans", 0, 0.15],
  ["VN-33", "coffee", 0.7, 0.95],
  ["GH-WP", "cocoa beans", 0, 0.02],
  ["SN-KA", "millets", 0, 0.02],
  ["UA-53", "wheat", 0, 0.05],
] as const)("in %s %s is irrigated on %d to %d of the fields", (subdivision, crop, least, most) => {
  const grown = grownSeasons.filter((one) => placeOf(one) === subdivision && one.season.crop_name === crop);
  const watered = grown.filter(({ parcel }) => parcel.properties.irrigation !== "none").length / grown.length;
  expect(grown.length).toBeGreaterThan(100);
  expect(watered).toBeGreaterThanOrEqual(least);
  expect(watered).toBeLessThanOrEqual(most);
});

/** Months of sowing and of harvest. */
const months: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  "BR beans": [
    [9, 11],
    [12, 2],
  ],
  "BR rice": [
    [10, 11],
    [2, 4],
  ],
  "BR soybeans": [
    [9, 11],
    [1, 3],
  ],
  "BR wheat": [
    [4, 6],
    [8, 11],
  ],
  "GH sorghum grain": [
    [6, 7],
    [10, 11],
  ],
  "ID rice": [
    [10, 12],
    [2, 4],
  ],
  "IN chickpeas": [
    [10, 11],
    [2, 3],
  ],
  "IN cotton": [
    [5, 7],
    [10, 1],
  ],
  "IN lentils": [
    [10, 11],
    [2, 3],
  ],
  "IN potatoes": [
    [10, 11],
    [1, 3],
  ],
  "IN soybeans": [
    [6, 7],
    [9, 10],
  ],
  "IN wheat": [
    [10, 12],
    [3, 4],
  ],
  "MX tomatoes": [
    [10, 11],
    [1, 4],
  ],
  "MX wheat": [
    [11, 12],
    [4, 5],
  ],
  "NG millets": [
    [5, 6],
    [8, 10],
  ],
  "SN groundnuts": [
    [6, 7],
    [10, 11],
  ],
  "SN onions": [
    [11, 1],
    [3, 5],
  ],
  "SN rice": [
    [2, 3],
    [6, 7],
  ],
  "TR chickpeas": [
    [3, 4],
    [7, 8],
  ],
  "TR cotton": [
    [4, 5],
    [9, 10],
  ],
  "TR lentils": [
    [11, 12],
    [5, 6],
  ],
  "TR sugarbeet": [
    [3, 4],
    [9, 11],
  ],
  "TR wheat": [
    [10, 11],
    [5, 7],
  ],
  "UA barley": [
    [3, 4],
    [7, 7],
  ],
  "UA maize": [
    [4, 5],
    [9, 10],
  ],
  "UA potatoes": [
    [4, 5],
    [8, 9],
  ],
  "UA rapeseed": [
    [8, 9],
    [7, 7],
  ],
  "UA soybeans": [
    [4, 5],
    [9, 9],
  ],
  "UA sugarbeet": [
    [4, 4],
    [9, 10],
  ],
  "UA sunflower seed": [
    [4, 5],
    [9, 9],
  ],
  "UA wheat": [
    [9, 10],
    [7, 8],
  ],
};

test("each crop is sown and cut in the months in which the country does so", () => {
  const known = grownSeasons.filter(
    ({ farmer, season }) => months[`${farmer.location.country_code} ${season.crop_name}`] !== undefined,
  );
  expect(known.length).toBeGreaterThan(30_000);
  const right = ({ farmer, season }: GrownSeason) => {
    const [sown, cut] = months[`${farmer.location.country_code} ${season.crop_name}`] ?? [];
    return (
      isMonthIn(monthOf(season.planted_on), sown ?? []) &&
      (season.harvested_on === null || isMonthIn(monthOf(season.harvested_on), cut ?? []))
    );
  };
  expect(faultsOf(known, right, tell)).toEqual([]);
});

/** Where it can freeze on a field that bears something. */
const frosty = /^(UA-|TR-(42|45|55)$|MX-(GUA|SIN|ZAC)$|BR-(PR|RS)$)/;
const perilMonths: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  flood: {
    GH: [6, 10],
    ID: [11, 3],
    IN: [7, 12],
    MX: [7, 10],
    NG: [7, 10],
    SN: [8, 10],
    TR: [11, 5],
    VN: [8, 11],
    BR: [9, 3],
  },
  frost: { BR: [6, 9], MX: [10, 2], TR: [3, 5], UA: [12, 5] },
  hail: { BR: [8, 1], IN: [2, 5], MX: [5, 9], TR: [4, 7], UA: [5, 8] },
};

test("frost, hail and floods come where and when there are any, and the harm is on a day on which the crop stood", () => {
  const frozen = grownSeasons.filter(({ season }) => season.loss_cause === "frost");
  expect(frozen.length).toBeGreaterThan(100);
  expect(faultsOf(frozen, (one) => frosty.test(placeOf(one)), tell)).toEqual([]);
  const claims = [...sampled.values()]
    .flat()
    .flatMap((farmer) =>
      farmer.insurance.flatMap((policy) =>
        policy.claims.map((claim) => ({ country: farmer.location.country_code, policy, claim, farmer })),
      ),
    );
  const told = ({ country, policy, claim }: (typeof claims)[number]) =>
    `${country} ${policy.crop_name} ${claim.cause} ${claim.occurred_on}`;
  const inMonths = claims.filter(({ claim }) => perilMonths[claim.cause] !== undefined);
  expect(inMonths.length).toBeGreaterThan(100);
  const seasonable = ({ country, claim }: (typeof claims)[number]) =>
    isMonthIn(monthOf(claim.occurred_on), perilMonths[claim.cause]?.[country] ?? [13, 13]);
  expect(faultsOf(inMonths, seasonable, told)).toEqual([]);
  const standing = ({ policy, claim, farmer }: (typeof claims)[number]) =>
    farmer.parcels.some(({ properties }) =>
      properties.seasons.some((season) => {
        const { from, to } = growthOf(season);
        const day = Date.parse(claim.occurred_on);
        return (
          season.season_code === policy.season_code &&
          season.loss_cause === claim.cause &&
          from <= day &&
          day <= to
        );
      }),
    );
  expect(faultsOf(claims, standing, told)).toEqual([]);
});

test("the crop of a parcel is that of its latest season", () => {
  const parcels = [...sampled.values()].flat().flatMap((farmer) => farmer.parcels);
  const right = ({ properties }: (typeof parcels)[number]) =>
    properties["crop:code"] === properties.seasons.at(-1)?.crop_code &&
    properties["crop:name"] === properties.seasons.at(-1)?.crop_name;
  expect(faultsOf(parcels, right, ({ id }) => id)).toEqual([]);
});
