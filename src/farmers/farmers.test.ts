import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/property-seed.js";
import { nodePlatform } from "../node/platform.js";
import { day } from "../spec/api-key.js";
import { type FarmerLocale, farmerLocales } from "../spec/farmer-locales.js";
import { jsonSchemaOf } from "../spec/schema/json-schema.js";
import { farmerShape } from "./farmer-shape.js";
import {
  type FarmerSource,
  farmerAt,
  farmerFeatures,
  farmerId,
  farmerRow,
  indexOfFarmer,
  makeFarmers,
} from "./farmers.js";

const start = Date.UTC(2026, 2, 2, 9);

test.each<[string, readonly (readonly [FarmerSource, count: number])[], ...digests: string[]]>([
  ["of spring", [[{ seed: 1, start }, 100]], "ead89dc3c666802d", "f7e691b8ab74e018"],
  ["of summer", [[{ seed: 2, start: start + 100 * day }, 100]], "ce679ff80577ac9e", "da7fff48c56436b3"],
  ["of autumn", [[{ seed: 3, start: start + 200 * day }, 100]], "f443632c8af09572", "44dbfe54750fcccf"],
  ["of winter", [[{ seed: 4, start: start + 300 * day }, 100]], "cdcd8729d4d47bae", "9a54268c3e7a1c6e"],
  [
    "of one locale",
    farmerLocales.map((one) => [{ seed: 7, start, locales: [one] }, 10]),
    "d5b02fc0e3de7450",
    "3e30f622a12e19d4",
  ],
])("farmers %s have the same bytes in every version: fixtures/README.md has what a change of them needs", (_, sources, ...digests) => {
  const made = sources.flatMap(([source, count]) =>
    Array.from({ length: count }, (_, n) => farmerAt(source, n)),
  );
  const tables = [made.map(farmerRow), made.map(farmerFeatures)];
  const digestOf = (value: unknown) => nodePlatform.sha256(JSON.stringify(value)).slice(0, 16);
  expect([digestOf(made), digestOf(tables)]).toEqual(digests);
});

test("a claim is open for 120 days", () => {
  const claimsAt = (now: number, index: number) =>
    farmerAt({ seed: 1, start: now }, index).insurance.flatMap(({ claims }) => claims);
  const seen = new Set<string>();
  for (let index = 0; index < 300; index++)
    for (const { occurred_on } of claimsAt(start, index))
      for (const days of [120, 121])
        for (const later of claimsAt(Date.parse(occurred_on) + days * day, index))
          if (later.occurred_on === occurred_on) seen.add(`${days} ${later.status === "open"}`);
  expect([...seen].sort()).toEqual(["120 true", "121 false"]);
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
    for (const [name, child] of Object.entries((schema.properties ?? {}) as Record<string, never>))
      walk(child, `${path}.${name}`);
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
        expect(indexOfFarmer(source, farmer.farmer_id)).toBe(index);
        expect(other.farmer_id).not.toBe(farmer.farmer_id);
      },
    ),
    runs(80),
  );
});

test.each([-1, 0.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY])("index %d is refused", (index) => {
  expect(() => farmerAt({ seed: 1, start }, index)).toThrow(RangeError);
});

test("an id of another seed, a changed id and a text that is not an id find no farmer", () => {
  const id = farmerId(1, 5);
  expect(indexOfFarmer({ seed: 2 }, id)).toBeUndefined();
  for (let i = 7; i < id.length; i++) {
    const changed = id.slice(0, i) + (id[i] === "0" ? "1" : "0") + id.slice(i + 1);
    expect(indexOfFarmer({ seed: 1 }, changed)).toBeUndefined();
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
  ])
    expect(indexOfFarmer({ seed: 1 }, other)).toBeUndefined();
});
