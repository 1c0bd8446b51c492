import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/property-seed.js";
import { farmerFeatures, farmerRow } from "../cli/commands/fixtures.js";
import { nodePlatform } from "../node/platform.js";
import { farmerLocaleChoices, farmerLocales } from "../rules/farmer-values.js";
import { day } from "../rules/time.js";
import {
  type Farmer,
  farmerShape,
  type Parcel,
  type Position,
} from "../sandbox/farmer-records/farmer-shape.js";
import { jsonSchemaDocument, jsonSchemaOf } from "../schema/json-schema.js";
import { farmerAt, makeFarmers } from "./make-farmers.js";
import { countryOf, crops, type FarmerLocale, resolveLocale } from "./tables.js";

const start = Date.UTC(2026, 2, 2, 9);
const farmersOf = (seed: number) => makeFarmers({ seed, start, locale: undefined });

test.each<
  [
    string,
    readonly (readonly [source: Parameters<typeof farmerAt>[0], count: number])[],
    ...digests: string[],
  ]
>([
  ["of all locales", [[{ seed: 1, start }, 100]], "36103c5642e5fad1", "07205202b7d510bc"],
  [
    "of another start",
    [[{ seed: 3, start: start + 200 * day }, 100]],
    "7ddf152bb0492287",
    "fb429e9bc8a23f81",
  ],
  [
    "of one locale",
    farmerLocales.map((one) => [{ seed: 7, start, locales: [one] }, 10]),
    "4613d2de4e2afa6f",
    "3c39a29bf909838f",
  ],
])(
  "farmers %s have the same bytes in every version: test/golden/README.md has what a change of them needs",
  (_, sources, ...digests) => {
    const made = sources.flatMap(([source, count]) =>
      Array.from({ length: count }, (_, n) => farmerAt(source, n)),
    );
    const tables = [made.map(farmerRow), made.map(farmerFeatures)];
    const digestOf = (value: unknown) => nodePlatform.sha256(JSON.stringify(value)).slice(0, 16);
    expect([digestOf(made), digestOf(tables)]).toEqual(digests);
  },
);

// Made within each test: what a file makes when it is imported is out of reach for planted mistakes.
const fourHundred = () => Array.from({ length: 400 }, (_, index) => farmerAt({ seed: 7, start }, index));
const ringOf = ({ geometry }: Parcel) => (geometry.coordinates[0] ?? []).slice(1);

test("a record is valid by its JSON Schema, also in other centuries, and another start moves only dates and crops", () => {
  const ajv = new Ajv2020();
  addFormats.default(ajv);
  const validate = ajv.compile(jsonSchemaDocument(farmerShape));
  const years = [1900, 1970, 2100, 9900].map((year) => farmerAt({ seed: 3, start: Date.UTC(year, 0) }, 1));
  const made = fourHundred();
  for (const farmer of [...made, ...years]) expect([validate(farmer), validate.errors]).toEqual([true, null]);
  const unmoved = ({ name, location, parcels }: Farmer) => [name, location, parcels.map(ringOf)];
  const later = made.map((_, index) => farmerAt({ seed: 7, start: Date.UTC(2031, 8, 1) }, index));
  expect(later.map(unmoved)).toEqual(made.map(unmoved));
  expect(later.map(({ birth_year }) => birth_year - 5)).toEqual(made.map(({ birth_year }) => birth_year));
});

test("fields are counterclockwise, no side crosses another of the farm, and areas are those of the sphere within 0.3%", () => {
  type Side = readonly [from: Position, to: Position];
  const turn = ([x, y]: Position, [toX, toY]: Position, [atX, atY]: Position) =>
    Math.sign((toX - x) * (atY - y) - (toY - y) * (atX - x));
  const isCrossed = ([a, b]: Side, [c, d]: Side) =>
    turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
  for (const { parcels, farm_area_ha } of fourHundred()) {
    const sides = parcels.flatMap((parcel) =>
      ringOf(parcel).map((from, i, ring): Side => [from, ring[(i + 1) % ring.length] as Position]),
    );
    expect(sides.filter((one, i) => sides.slice(i + 1).some((other) => isCrossed(one, other)))).toEqual([]);
    for (const parcel of parcels) {
      const ring = ringOf(parcel);
      const [[x = 0, y = 0] = []] = ring;
      const latitude = ring.reduce((sum, [, at]) => sum + at, 0) / ring.length;
      const scale = 111_195 ** 2 * Math.cos((latitude * Math.PI) / 180);
      const area = ring.reduce((sum, [fromX, fromY], i) => {
        const [toX, toY] = ring[(i + 1) % ring.length] as Position;
        return sum + ((fromX - x) * (toY - y) - (toX - x) * (fromY - y)) / 2;
      }, 0);
      expect(Math.abs(parcel.properties["metrics:area"] / (area * scale) - 1)).toBeLessThan(0.003);
    }
    const sum = parcels.reduce((total, { properties }) => total + properties.area_ha, 0);
    expect(farm_area_ha).toBeCloseTo(sum, 5);
  }
});

test.each(farmerLocales)("every region of %s has names, languages and an annual crop", (locale) => {
  for (const { code, names, languages, grows } of countryOf(locale).regions) {
    for (const list of Object.values(names) as string[][]) {
      expect([code, new Set(list).size === list.length, list.length > 15]).toEqual([code, true, true]);
      expect(list.filter((name) => !/^\p{L}[\p{L}\p{M}’ ]*$/u.test(name))).toEqual([]);
    }
    expect(Intl.getCanonicalLocales(Object.keys(languages))).toEqual(Object.keys(languages));
    expect(Object.values(languages).reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1);
    // The youngest farmer has had no time to plant a perennial crop.
    expect(grows.some(({ crop }) => crops[crop].bearsAfter === undefined)).toBe(true);
  }
});

test("a name means one locale, a language all of its locales, anything else none", () => {
  expect(resolveLocale("en_GH")).toEqual(["en_GH"]);
  expect(resolveLocale("en-gh")).toEqual(["en_GH"]);
  expect(resolveLocale("en")).toEqual(["en_GH", "en_IN", "en_NG"]);
  expect(resolveLocale("vi")).toEqual(["vi"]);
  expect(resolveLocale("tr-TR")).toEqual(["tr"]);
  for (const other of ["", "e", "xx", "en_US", "GH", "__proto__"]) {
    expect(resolveLocale(other)).toBeUndefined();
  }
  expect(farmerLocaleChoices.filter((one) => resolveLocale(one) === undefined)).toEqual([]);
});

test("the farmers of a locale are those of its locales, with their own ids", () => {
  for (const [locale, ...locales] of [["vi", "vi"], ["en", "en_GH", "en_IN", "en_NG"], []] as [
    string?,
    ...FarmerLocale[],
  ][]) {
    const source = { seed: 7, start };
    const { at, idOf, indexOf } = makeFarmers({ ...source, locale });
    const farmer = farmerAt({ ...source, ...(locale && { locales }) }, 3);
    expect([at(3), idOf(3), indexOf(farmer.farmer_id)]).toEqual([farmer, farmer.farmer_id, 3]);
  }
});

test("every member of the schema is described, and none is a phone, an address or a national id", () => {
  const bare: string[] = [];
  const walk = (schema: Record<string, unknown>, path: string) => {
    if (typeof schema.description !== "string") bare.push(path);
    for (const [name, child] of Object.entries((schema.properties ?? {}) as Record<string, never>)) {
      walk(child, `${path}.${name}`);
    }
    const { items } = schema as { items?: Record<string, unknown> };
    if (items?.properties !== undefined) walk(items, `${path}[]`);
  };
  walk(jsonSchemaOf(farmerShape), "farmer");
  expect(bare).toEqual([]);
  expect(JSON.stringify(jsonSchemaOf(farmerShape))).not.toMatch(/phone|email|street|national|passport/i);
});

test("a farmer depends only on seed, index, locales and start, not on earlier farmers", () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.subarray([...farmerLocales], { minLength: 1 }),
      fc.nat(60_000),
      (seed, index, locales, days) => {
        const source = { seed, locales, start: Date.UTC(1990, 0, 1) + days * 86_400_000 };
        const farmer = farmerAt(source, index);
        const other = farmerAt({ ...source, seed: seed + 1 }, index);
        expect(farmerAt({ ...source, locales: [...locales] }, index)).toEqual(farmer);
        expect(other.farmer_id).not.toBe(farmer.farmer_id);
      },
    ),
    runs(80),
  );
});

const locale = fc.option(fc.constantFrom(...farmerLocales), { nil: undefined });

test("the id of a farmer leads back to its index, with all locales or one", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), locale, (seed, index, only) => {
      const farmers = makeFarmers({ seed, start, locale: only });
      const { farmer_id } = farmers.at(index);
      expect([farmers.idOf(index), farmers.indexOf(farmer_id)]).toEqual([farmer_id, index]);
    }),
    runs(80),
  );
});

test("the last index has a farmer, and 2 ha is no longer small", () => {
  const last = farmerAt({ seed: 1, start }, 2 ** 32 - 1);
  expect(farmersOf(1).indexOf(last.farmer_id)).toBe(2 ** 32 - 1);
  const { farm_area_ha, farmer_type } = farmerAt({ seed: 1, start }, 2_398_335);
  expect([farm_area_ha, farmer_type]).toEqual([2, "medium"]);
});

test.each([-1, 0.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY])("index %d is refused", (index) => {
  expect(() => farmerAt({ seed: 1, start }, index)).toThrow(RangeError);
});

test("an id of another seed, a changed id and a text that is not an id find no farmer", () => {
  const id = farmersOf(1).idOf(5);
  expect(farmersOf(2).indexOf(id)).toBeUndefined();
  for (let i = 7; i < id.length; i++) {
    const changed = id.slice(0, i) + (id[i] === "0" ? "1" : "0") + id.slice(i + 1);
    expect(farmersOf(1).indexOf(changed)).toBeUndefined();
  }
  for (const other of [
    "",
    "farmer_",
    id.toUpperCase(),
    `${id}0`,
    id.slice(0, -1),
    id.slice(7),
    ` ${id}`,
    `${id}\n`,
  ]) {
    expect(farmersOf(1).indexOf(other)).toBeUndefined();
  }
});
