import { capitalized } from "../../elements/words.js";
import type { FarmerRow } from "./population.js";

/** A property that divides farmers into groups. */
export interface Facet {
  /** Its name in the address. */
  readonly name: "country" | "crop" | "size" | "age";
  readonly title: string;
  /** The groups of a farmer; `year` is the current year. */
  readonly groupsOf: (farmer: FarmerRow, year: number) => readonly string[];
  /** All groups in order. Default: the largest group first. */
  readonly groups?: readonly string[];
  readonly label: (group: string) => string;
}

const countryNames = new Intl.DisplayNames("en", { type: "region" });

export function countryName(code: string): string {
  return countryNames.of(code) ?? code;
}

/** Groups below the first bound, between two bounds, and above the last bound. */
function bands(bounds: readonly number[], unit: string) {
  const groups = [...bounds.map(String), "more"];
  return {
    groups,
    groupOf: (value: number) => String(bounds.find((bound) => value < bound) ?? "more"),
    label(group: string): string {
      const position = groups.indexOf(group);
      if (position === 0) return `under ${group} ${unit}`;
      const from = bounds[position - 1];
      return group === "more" ? `${from} ${unit} or more` : `${from} to ${group} ${unit}`;
    },
  };
}

const sizes = bands([0.5, 1, 2, 5, 10, 20, 50, 100], "ha");
const ages = bands([25, 35, 45, 55, 65, 75], "years");

export const facets: readonly Facet[] = [
  {
    name: "country",
    title: "Country",
    groupsOf: (farmer) => [farmer.country_code],
    label: countryName,
  },
  { name: "crop", title: "Crops", groupsOf: ({ crops }) => crops, label: capitalized },
  {
    name: "size",
    title: "Farm size",
    groupsOf: (farmer) => [sizes.groupOf(farmer.farm_area_ha)],
    groups: sizes.groups,
    label: sizes.label,
  },
  {
    name: "age",
    title: "Age",
    groupsOf: (farmer, year) => [ages.groupOf(year - farmer.birth_year)],
    groups: ages.groups,
    label: ages.label,
  },
];

/** The selected group of each facet, by facet name. */
export type Choice = Readonly<Partial<Record<Facet["name"], string>>>;

/** The farmers in every selected group. */
export function chosenFarmers(
  farmers: readonly FarmerRow[],
  choice: Choice,
  year: number,
): readonly FarmerRow[] {
  const chosen = facets.filter(({ name }) => choice[name] !== undefined);
  if (chosen.length === 0) return farmers;
  return farmers.filter((farmer) =>
    chosen.every(({ name, groupsOf }) => groupsOf(farmer, year).includes(choice[name] as string)),
  );
}

/** The number of farmers in each group of a facet, among the farmers that match the other facets. */
export function countsOf(
  facet: Facet,
  farmers: readonly FarmerRow[],
  choice: Choice,
  year: number,
): readonly (readonly [group: string, count: number])[] {
  const { [facet.name]: _, ...others } = choice;
  const counts = new Map<string, number>((facet.groups ?? []).map((group) => [group, 0]));
  for (const farmer of chosenFarmers(farmers, others, year)) {
    for (const group of facet.groupsOf(farmer, year)) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const all = [...counts];
  return facet.groups === undefined ? all.sort(([, one], [, other]) => other - one) : all;
}

/** The yields of one crop as a histogram. */
export interface Yields {
  readonly harvests: number;
  readonly median: number;
  /** 5% of the harvests are below the first value, and 5% above the second. */
  readonly usual: readonly [from: number, to: number];
  /** The number of harvests in each step of `width` kg/ha, starting at 0. */
  readonly bins: readonly number[];
  readonly width: number;
}

/** The yields of a crop; `undefined` if no farmer has harvested it. */
export function yieldsOf(farmers: readonly FarmerRow[], crop: string): Yields | undefined {
  const yields = farmers.flatMap((farmer) => farmer.yields[crop] ?? []).sort((one, other) => one - other);
  if (yields.length === 0) return undefined;
  const at = (share: number) => yields[Math.floor(share * (yields.length - 1))] as number;
  const width = roundStep((yields.at(-1) as number) / 14);
  const bins: number[] = Array(Math.floor((yields.at(-1) as number) / width) + 1).fill(0);
  for (const one of yields) bins[Math.floor(one / width)] = (bins[Math.floor(one / width)] as number) + 1;
  return { harvests: yields.length, median: at(0.5), usual: [at(0.05), at(0.95)], bins, width };
}

/** The next value of 1, 2, 5, 10, 20, 50, … */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * ([1, 2, 5].find((step) => step * power >= least) ?? 10);
}
