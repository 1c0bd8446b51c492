import type { Farmer, Season } from "../../src/synthetic/farmers/farmer-schema.js";
import { type Country, countries, type Region } from "../../src/synthetic/farmers/tables.js";
import { droughtsIn } from "../../src/synthetic/farmers/weather.js";

type Row = readonly (string | number)[];

/** A Markdown table. */
function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The value that a share of the items lies below. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] as number;
}

const percent = (part: number, whole: number) =>
  whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`;

/** Farm sizes of each country, in hectares. */
export function sizesTable(farmers: readonly Farmer[]): string {
  const rows = grouped(farmers, ({ location }) => location.country_code).map(([country, group]) => {
    const areas = group.map(({ farm_area_ha }) => farm_area_ha);
    const share = (type: string) =>
      percent(group.filter(({ farmer_type }) => farmer_type === type).length, group.length);
    const shown = [0.05, 0.25, 0.5, 0.75, 0.95].map((part) => quantile(areas, part).toPrecision(2));
    return [country, ...shown.map(Number), share("small"), share("medium"), share("large")];
  });
  return table(["country", "5 %", "25 %", "half", "75 %", "95 %", "small", "medium", "large"], rows);
}

/** Ages at the start of the clock, of women and of men. */
export function agesTable(farmers: readonly Farmer[], year: number): string {
  const bounds = [18, 25, 35, 45, 55, 65, 75, 91];
  const rows = bounds.slice(0, -1).map((from, i) => {
    const to = bounds[i + 1] as number;
    const within = farmers.filter(({ birth_year }) => year - birth_year >= from && year - birth_year < to);
    const women = within.filter(({ sex }) => sex === "female").length;
    return [`${from}–${to - 1}`, percent(within.length, farmers.length), percent(women, within.length)];
  });
  return table(["age", "of all", "women among them"], rows);
}

/** What stands on the fields of each subdivision. */
export function cropsTable(farmers: readonly Farmer[]): string {
  const rows = grouped(farmers, ({ location }) => location.subdivision_code).map(([code, group]) => {
    const parcels = group.flatMap((farmer) => farmer.parcels);
    const shares = grouped(parcels, ({ properties }) => properties["crop:name"])
      .sort(([, a], [, b]) => b.length - a.length)
      .map(([crop, of]) => `${crop} ${percent(of.length, parcels.length)}`);
    return [code, (group[0] as Farmer).location.subdivision_name, shares.join(", ")];
  });
  return table(["subdivision", "", "parcels by crop of the latest season"], rows);
}

interface Harvest {
  readonly isDrought: boolean;
  readonly isIrrigated: boolean;
  /** Yield as a part of what this crop gives in this country in the middle. */
  readonly relative: number;
  readonly isClaimed: boolean | undefined;
  readonly isUnpaid: boolean | undefined;
}

/** From sowing to harvest, or to a day that is never reached; of what stands for years, from the season's beginning. */
export function growthOf({ planted_on, season_start, harvested_on }: Season) {
  const sown = planted_on > season_start ? planted_on : season_start;
  return {
    from: Date.parse(sown),
    to: harvested_on === null ? Number.POSITIVE_INFINITY : Date.parse(harvested_on),
  };
}

/** A subdivision, as the weather is asked for it. */
export function siteOf(seed: number, subdivision: string) {
  const country = Object.values(countries).find(({ code }) => subdivision.startsWith(code)) as Country;
  const region = country.regions.find(({ code }) => code === subdivision) as Region;
  return { seed, country, region };
}

/** Every finished season of the largest field of each farmer, with what became of policy and loan of that season. */
export function harvestsOf(farmers: readonly Farmer[], seed: number): readonly Harvest[] {
  const finished = farmers.flatMap((farmer) => {
    const first = farmer.parcels[0] as Farmer["parcels"][number];
    const done = first.properties.seasons.filter(({ yield_kg_ha }) => yield_kg_ha !== null);
    return done.map((season) => ({ farmer, season, irrigation: first.properties.irrigation }));
  });
  const cropOf = ({ farmer, season }: (typeof finished)[number]) =>
    `${farmer.location.country_code} ${season.crop_code}`;
  const medians = new Map(
    grouped(finished, cropOf).map(([key, group]) => [
      key,
      quantile(
        group.map(({ season }) => season.yield_kg_ha as number),
        0.5,
      ),
    ]),
  );
  return finished.map((one) => {
    const { farmer, season, irrigation } = one;
    const policy = farmer.insurance.find(({ season_code }) => season_code === season.season_code);
    const month = 32 * 86_400_000;
    const loan = farmer.loans.find(({ opened_on, status }) => {
      const before = Date.parse(season.season_start) - Date.parse(opened_on);
      return status !== "current" && before >= 0 && before < month;
    });
    return {
      isDrought: droughtsIn(siteOf(seed, farmer.location.subdivision_code), growthOf(season)).length > 0,
      isIrrigated: irrigation !== "none",
      relative: (season.yield_kg_ha as number) / (medians.get(cropOf(one)) as number),
      isClaimed: policy && policy.claims.length > 0,
      isUnpaid: loan && loan.days_past_due > 0,
    };
  });
}

/** What a drought does, with and without irrigation. */
export function droughtTable(harvests: readonly Harvest[]): string {
  const rows = [false, true].flatMap((isDrought) =>
    [false, true].map((isIrrigated): Row => {
      const group = harvests.filter((one) => one.isDrought === isDrought && one.isIrrigated === isIrrigated);
      const { claimed, unpaid } = sharesOf(group);
      return [
        isDrought ? "drought" : "no drought",
        isIrrigated ? "irrigated" : "rain alone",
        group.length,
        quantile(
          group.map(({ relative }) => relative),
          0.5,
        ).toFixed(2),
        `${Math.round(100 * claimed)} %`,
        `${Math.round(100 * unpaid)} %`,
      ];
    }),
  );
  return table(
    ["year", "field", "seasons", "yield to the usual one", "policies with a claim", "loans past due"],
    rows,
  );
}

/** The shares of policies with a claim and of loans, once due, that are not paid back. */
export function sharesOf(group: readonly Harvest[]): { readonly claimed: number; readonly unpaid: number } {
  const share = (flags: readonly (boolean | undefined)[]) => {
    const known = flags.filter((flag) => flag !== undefined);
    return known.filter(Boolean).length / known.length;
  };
  return {
    claimed: share(group.map(({ isClaimed }) => isClaimed)),
    unpaid: share(group.map(({ isUnpaid }) => isUnpaid)),
  };
}
