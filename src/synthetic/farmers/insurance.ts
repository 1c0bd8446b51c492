import { base62From, type RandomStream } from "../../domain/seed.js";
import type { Country } from "./countries.js";
import { cropOfCode } from "./crops.js";
import { dateOf, day, instantOf, yearOf } from "./dates.js";
import { chance, rounded, unit, wholeBetween } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Claim, InsurancePolicy, Parcel, Season } from "./farmer.js";
import { dayOfHarm } from "./harm.js";
import { insuredValuePerHectare, moneyOf } from "./money.js";
import { usualYield } from "./yields.js";

/** A policy for each season that the farmer has insured the main crop in; the oldest first. */
export function insuranceOf(
  world: FarmWorld,
  parcels: readonly Parcel[],
  isMember: boolean,
): readonly InsurancePolicy[] {
  const draw = world.draws("insurance");
  const { insuredShare } = world.country;
  if (!chance(draw, isMember ? Math.min(insuredShare * 1.6, 0.9) : insuredShare * 0.7)) return [];
  const seasons = (parcels[0] as Parcel).properties.seasons;
  // Who has begun to insure goes on with it.
  return seasons
    .slice(wholeBetween(draw, 0, seasons.length - 1))
    .map((season) => policyOf(world, parcels, season))
    .filter(({ term_start }) => yearOf(instantOf(term_start)) >= world.grownUpFrom);
}

function policyOf(world: FarmWorld, parcels: readonly Parcel[], season: Season): InsurancePolicy {
  const { country } = world;
  const draw = world.draws("policy", season.season_code);
  const covered = parcels.flatMap(({ properties: { area_ha, seasons } }) => {
    const same = seasons.find(
      (one) => one.season_code === season.season_code && one.crop_code === season.crop_code,
    );
    return same === undefined ? [] : [{ area_ha, season: same }];
  });
  const area = rounded(
    covered.reduce((sum, { area_ha }) => sum + area_ha, 0),
    4,
  );
  const crop = cropOfCode(season.crop_code);
  const value = insuredValuePerHectare(world, crop);
  const sum = moneyOf(country, area * value);
  const deductible = moneyOf(country, sum.amount * (0.05 * wholeBetween(draw, 2, 4)));
  return {
    policy_id: `policy_${base62From(draw, 12)}`,
    season_code: season.season_code,
    crop_code: season.crop_code,
    crop_name: season.crop_name,
    insured_area_ha: area,
    insured_value_per_ha: moneyOf(country, value),
    sum_insured: sum,
    deductible,
    ...termOf(season, draw),
    claims: claimsOf(world, draw, {
      covered,
      country,
      usual: usualYield(world, crop),
      value,
      deductible: deductible.amount,
    }),
  };
}

/** The season and some days about it, of which no other season of the field can want one. */
function termOf({ season_start, season_end }: Season, draw: RandomStream) {
  const [first, last] = [instantOf(season_start), instantOf(season_end)];
  const free = Math.floor((364 - (last - first) / day) / 2);
  return {
    term_start: dateOf(first - wholeBetween(draw, 0, Math.min(20, free)) * day),
    term_end: dateOf(last + wholeBetween(draw, 0, Math.min(30, free)) * day),
  };
}

interface Cover {
  readonly covered: readonly { readonly area_ha: number; readonly season: Season }[];
  readonly country: Country;
  readonly usual: number;
  readonly value: number;
  readonly deductible: number;
}

/** At most one claim, and only for a harvest that something has spoiled. */
function claimsOf(
  world: FarmWorld,
  draw: RandomStream,
  { covered, country, usual, value, deductible }: Cover,
): readonly Claim[] {
  const chosen = [unit(draw), unit(draw)] as const;
  const worst = covered.find(({ season }) => season.loss_cause !== null)?.season;
  if (worst?.harvested_on == null || worst.loss_cause === null) return [];
  const struck = covered.filter(({ season }) => season.loss_cause === worst.loss_cause);
  const lost = struck.reduce((sum, { area_ha, season }) => {
    const missing = 1 - (season.yield_kg_ha as number) / usual;
    return sum + area_ha * value * Math.max(missing, 0);
  }, 0);
  const amount = moneyOf(country, Math.max(lost - deductible, 0));
  if (amount.amount === 0 || chosen[0] > 0.85) return [];
  // What stands for years was set long before the season, so that its harm is counted from the season's beginning.
  const from = Math.max(instantOf(worst.planted_on), instantOf(worst.season_start));
  const occurred = dayOfHarm(world, worst.loss_cause, { from, to: instantOf(worst.harvested_on) }, draw);
  const old = world.start - occurred > 120 * day;
  const status = !old ? "open" : chosen[1] < 0.85 ? "settled" : "rejected";
  return [
    {
      claim_id: `claim_${base62From(draw, 12)}`,
      cause: worst.loss_cause,
      occurred_on: dateOf(occurred),
      status,
      amount,
    },
  ];
}
