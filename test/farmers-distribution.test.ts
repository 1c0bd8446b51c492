import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { farmerSchema } from "../src/synthetic/farmers/farmer-schema.js";
import { farmerAt } from "../src/synthetic/farmers/farmers.js";
import { droughtsIn } from "../src/synthetic/farmers/weather.js";
import {
  agesTable,
  cropsTable,
  droughtTable,
  harvestsOf,
  quantile,
  sharesOf,
  siteOf,
  sizesTable,
} from "./support/farmer-tables.js";

const start = Date.UTC(2026, 2, 2, 9);
const made = (seed: number) => Array.from({ length: 10_000 }, (_, index) => farmerAt({ seed, start }, index));
const farmers = made(1);
const path = join(import.meta.dirname, "../docs/farmers.md");

test("docs/farmers.md prints the distributions as they are; if not, UPDATE=1 mends it", () => {
  const blocks: Record<string, string> = {
    sizes: sizesTable(farmers),
    ages: agesTable(farmers, 2026),
    crops: cropsTable(farmers),
    drought: droughtTable(harvestsOf(farmers, 1)),
  };
  const document = readFileSync(path, "utf8");
  const written = document.replace(
    /(<!-- (\w+) -->\n)[\s\S]*?\n?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => `${begin}${blocks[name]}\n${end}`,
  );
  if (process.env.UPDATE) writeFileSync(path, written);
  else expect(document).toBe(written);
  for (const block of Object.values(blocks)) expect(written).toContain(block);
});

test("docs/farmers.md names every field of the record", () => {
  const document = readFileSync(path, "utf8");
  const missing: string[] = [];
  const walk = (schema: Record<string, unknown>) => {
    for (const [name, child] of Object.entries(
      (schema.properties ?? {}) as Record<string, Record<string, unknown>>,
    )) {
      if (!document.includes(`\`${name}\``)) missing.push(name);
      walk(child);
      if (child.items !== undefined) walk(child.items as Record<string, unknown>);
    }
  };
  walk(farmerSchema as Record<string, unknown>);
  expect(missing).toEqual([]);
});

test.each([
  1, 7, 42,
])("seed %i: many farms are small, few are large, and the middle lies below the mean", (seed) => {
  const areas = (seed === 1 ? farmers : made(seed)).map(({ farm_area_ha }) => farm_area_ha);
  const mean = areas.reduce((sum, area) => sum + area, 0) / areas.length;
  expect(areas.filter((area) => area < 2).length / areas.length).toBeGreaterThan(0.4);
  expect(areas.filter((area) => area >= 20).length / areas.length).toBeLessThan(0.2);
  expect(quantile(areas, 0.5)).toBeLessThan(mean / 2);
});

test.each([
  1, 7, 42,
])("seed %i: a drought cuts harvests of rain-fed fields, and brings claims and arrears; water helps", (seed) => {
  const harvests = harvestsOf(seed === 1 ? farmers : made(seed), seed);
  const of = (isDrought: boolean, isIrrigated: boolean) =>
    harvests.filter((one) => one.isDrought === isDrought && one.isIrrigated === isIrrigated);
  const middle = (group: typeof harvests) =>
    quantile(
      group.map(({ relative }) => relative),
      0.5,
    );
  expect(middle(of(true, false))).toBeLessThan(0.8 * middle(of(false, false)));
  expect(middle(of(true, true))).toBeGreaterThan(0.8 * middle(of(false, true)));
  expect(sharesOf(of(true, false)).claimed).toBeGreaterThan(4 * sharesOf(of(false, false)).claimed);
  expect(sharesOf(of(true, false)).unpaid).toBeGreaterThan(2 * sharesOf(of(false, false)).unpaid);
  expect(sharesOf(of(true, true)).claimed).toBeLessThan(0.3 * sharesOf(of(true, false)).claimed);
});

test("droughts are a matter of place and year: some, not most, and the same for all who live there", () => {
  const years = Array.from({ length: 400 }, (_, i) => 1900 + i);
  for (const subdivision of ["SN-KA", "UA-53", "BR-PR"]) {
    const site = siteOf(1, subdivision);
    const summers = years.map((year) => ({ from: Date.UTC(year, 0, 15), to: Date.UTC(year, 9, 31) }));
    const dry = summers.filter((summer) => droughtsIn(site, summer).length > 0).length / years.length;
    expect(dry).toBeGreaterThan(0.1);
    expect(dry).toBeLessThan(0.3);
  }
});

test("every locale gives farmers, all of its country", () => {
  const countries = new Map(farmers.map(({ location }) => [location.country_code, 0]));
  for (const { location } of farmers)
    countries.set(location.country_code, (countries.get(location.country_code) ?? 0) + 1);
  expect(countries.size).toBe(10);
  expect(Math.min(...countries.values())).toBeGreaterThan(800);
});
