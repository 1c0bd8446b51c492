import { join } from "node:path";
import { expect, test } from "vitest";
import { farmerShape, type Parcel, type Season } from "../../src/farmers/farmer-shape.js";
import { droughtsIn } from "../../src/farmers/seasons.js";
import { jsonSchemaOf } from "../../src/spec/schema/json-schema.js";
import { pageOf, root, withParts } from "../support/pages.js";
import { farmers, grouped, growthOf, quantile, sampled, siteOf } from "./sample.js";

// The distributions as docs/farmers.md prints them, and the effects of droughts.

type Row = readonly (string | number)[];

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

const percent = (part: number, whole: number) => (whole === 0 ? "–" : `${Math.round((100 * part) / whole)}%`);

function sizesTable(): string {
  const rows = grouped(farmers, ({ location }) => location.country_code).map(([country, group]) => {
    const areas = group.map(({ farm_area_ha }) => farm_area_ha);
    const share = (type: string) =>
      percent(group.filter(({ farmer_type }) => farmer_type === type).length, group.length);
    const shown = [0.05, 0.25, 0.5, 0.75, 0.95].map((part) => quantile(areas, part).toPrecision(2));
    return [country, ...shown.map(Number), share("small"), share("medium"), share("large")];
  });
  return table(["country", "5%", "25%", "half", "75%", "95%", "small", "medium", "large"], rows);
}

function agesTable(): string {
  const bounds = [18, 25, 35, 45, 55, 65, 75, 91];
  const rows = bounds.slice(0, -1).map((from, i) => {
    const to = bounds[i + 1] as number;
    const within = farmers.filter(({ birth_year }) => 2026 - birth_year >= from && 2026 - birth_year < to);
    const women = within.filter(({ sex }) => sex === "female").length;
    const heads = ["male", "female"].map((of) => {
      const group = within.filter(({ sex }) => sex === of);
      return percent(group.filter(({ household }) => household.is_head).length, group.length);
    });
    const share = percent(within.length, farmers.length);
    return [`${from}–${to - 1}`, share, percent(women, within.length), ...heads];
  });
  return table(["age", "of all", "women among them", "men who are heads", "women who are heads"], rows);
}

function cropsTable(): string {
  const rows = grouped(farmers, ({ location }) => location.country_code).map(([country, group]) => {
    const parcels = group.flatMap((farmer) => farmer.parcels);
    const shares = grouped(parcels, ({ properties }) => properties["crop:name"])
      .sort(([, a], [, b]) => b.length - a.length)
      .filter(([, of]) => of.length >= parcels.length / 10)
      .map(([crop, of]) => `${crop} ${percent(of.length, parcels.length)}`);
    const languages = grouped(group, ({ language }) => language)
      .sort(([, a], [, b]) => b.length - a.length)
      .filter(([, of]) => of.length >= group.length / 10)
      .map(([language, of]) => `${language} ${percent(of.length, group.length)}`);
    const subdivisions = grouped(group, ({ location }) => location.subdivision_code.slice(3));
    const codes = subdivisions.map(([code]) => code).join(", ");
    return [country, codes, languages.join(", "), shares.join(", ")];
  });
  return table(["country", "subdivisions", "languages", "crops of the latest season"], rows);
}

interface Harvest {
  readonly isDrought: boolean;
  readonly isIrrigated: boolean;
  /** Yield as a share of the median yield of this crop in this country. */
  readonly relative: number;
  /** `undefined` without a policy. */
  readonly isClaimed: boolean | undefined;
  /** `undefined` without a loan that has fallen due. */
  readonly isUnpaid: boolean | undefined;
}

/** Every finished season of the largest field of each farmer of a seed, with its policy and its loan. */
function harvestsOf(seed: number): readonly Harvest[] {
  const finished = (sampled.get(seed) ?? []).flatMap((farmer) => {
    const { properties } = farmer.parcels[0] as Parcel;
    const done = properties.seasons.filter(({ yield_kg_ha }) => yield_kg_ha !== null);
    return done.map((season) => ({ farmer, season, isIrrigated: properties.irrigation !== "none" }));
  });
  const yieldOf = ({ season }: { readonly season: Season }) => season.yield_kg_ha as number;
  const cropOf = ({ farmer, season }: (typeof finished)[number]) =>
    `${farmer.location.country_code} ${season.crop_code}`;
  const medians = new Map(
    grouped(finished, cropOf).map(([key, group]) => [key, quantile(group.map(yieldOf), 0.5)]),
  );
  return finished.map((one) => {
    const { farmer, season, isIrrigated } = one;
    const policy = farmer.insurance.find(({ season_code }) => season_code === season.season_code);
    const loan = farmer.loans.find(({ opened_on, status }) => {
      const before = Date.parse(season.season_start) - Date.parse(opened_on);
      return status !== "current" && before >= 0 && before < 32 * 86_400_000;
    });
    return {
      isDrought: droughtsIn(siteOf(seed, farmer.location.subdivision_code), growthOf(season)).length > 0,
      isIrrigated,
      relative: yieldOf(one) / (medians.get(cropOf(one)) as number),
      isClaimed: policy && policy.claims.length > 0,
      isUnpaid: loan && loan.days_past_due > 0,
    };
  });
}

/** Seasons with or without drought and irrigation: their number, median yield, and shares of claims and arrears. */
function effectOf(harvests: readonly Harvest[], isDrought: boolean, isIrrigated: boolean) {
  const group = harvests.filter((one) => one.isDrought === isDrought && one.isIrrigated === isIrrigated);
  const share = (flags: readonly (boolean | undefined)[]) => {
    const known = flags.filter((flag) => flag !== undefined);
    return known.filter(Boolean).length / known.length;
  };
  return {
    count: group.length,
    yield: quantile(
      group.map(({ relative }) => relative),
      0.5,
    ),
    claimed: share(group.map(({ isClaimed }) => isClaimed)),
    unpaid: share(group.map(({ isUnpaid }) => isUnpaid)),
  };
}

function droughtTable(): string {
  const harvests = harvestsOf(1);
  const rows = [false, true].flatMap((isDrought) =>
    [false, true].map((isIrrigated): Row => {
      const effect = effectOf(harvests, isDrought, isIrrigated);
      return [
        ...[isDrought ? "drought" : "no drought", isIrrigated ? "irrigated" : "rain only", effect.count],
        ...[effect.yield.toFixed(2), `${Math.round(100 * effect.claimed)}%`],
        `${Math.round(100 * effect.unpaid)}%`,
      ];
    }),
  );
  return table(
    ["year", "field", "seasons", "yield to the usual one", "policies with a claim", "loans past due"],
    rows,
  );
}

test("docs/farmers.md has the measured distributions (npm run docs:update)", async () => {
  const parts = { sizes: sizesTable, ages: agesTable, crops: cropsTable, drought: droughtTable };
  await expect(await withParts("docs/farmers.md", parts)).toMatchFileSnapshot(join(root, "docs/farmers.md"));
});

test("docs/farmers.md names every field of the record", () => {
  const document = pageOf("docs/farmers.md");
  const missing: string[] = [];
  const walk = (schema: Record<string, unknown>) => {
    for (const [name, child] of Object.entries((schema.properties ?? {}) as Record<string, never>)) {
      if (!document.includes(`\`${name}\``)) missing.push(name);
      walk(child);
    }
    if (schema.items !== undefined) walk(schema.items as Record<string, unknown>);
  };
  walk(jsonSchemaOf(farmerShape));
  expect(missing).toEqual([]);
});

test.each([1, 7])("seed %i: a drought cuts rain-fed harvests; irrigation helps", (seed) => {
  const harvests = harvestsOf(seed);
  const [dry, irrigated] = [effectOf(harvests, true, false), effectOf(harvests, true, true)];
  const [usual, watered] = [effectOf(harvests, false, false), effectOf(harvests, false, true)];
  expect(dry.yield).toBeLessThan(0.8 * usual.yield);
  expect(irrigated.yield).toBeGreaterThan(0.8 * watered.yield);
  expect(dry.claimed).toBeGreaterThan(4 * usual.claimed);
  expect(dry.unpaid).toBeGreaterThan(2 * usual.unpaid);
  expect(irrigated.claimed - watered.claimed).toBeLessThan(0.2 * (dry.claimed - usual.claimed));
});
