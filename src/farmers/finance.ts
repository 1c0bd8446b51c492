import { day } from "../spec/api-key.js";
import { base62From, pick, type RandomStream } from "../spec/seed.js";
import { between, chance, pickWeighted, rounded, sumOf, unit, wholeBetween } from "./exact-math.js";
import type { Claim, Collateral, InsurancePolicy, Loan, Money, Parcel, Season } from "./farmer-shape.js";
import { dateOf, dayOfHarm, lastUsualHarvest, startOfDate, usualYield, yearOf } from "./seasons.js";
import { type Country, type CropName, cropOfCode, crops, type FarmContext, type Lending } from "./tables.js";

function moneyOf(country: Country, amount: number): Money {
  return { amount: rounded(amount, country.digits), currency: country.currency };
}

/** The number rounded to its first two digits, as people choose sums. */
function roundSum(amount: number): number {
  let step = 1;
  while (amount / step >= 100) step *= 10;
  return Math.round(amount / step) * step;
}

/** The insured value of a hectare of a crop: 60% of the value of a usual harvest. */
function insuredValuePerHectare(farm: FarmContext, crop: CropName): number {
  return roundSum(usualYield(farm, crop) * crops[crop].dollarsPerKg * farm.country.unitsPerDollar * 0.6);
}

/** A policy for each season with an insured main crop, oldest first. */
export function insuranceOf(
  farm: FarmContext,
  parcels: readonly Parcel[],
  isMember: boolean,
): readonly InsurancePolicy[] {
  const draw = farm.draws("insurance");
  const { insuredShare } = farm.country;
  if (!chance(draw, isMember ? Math.min(insuredShare * 1.6, 0.9) : insuredShare * 0.7)) return [];
  const seasons = (parcels[0] as Parcel).properties.seasons;
  // A farmer who has started to insure continues.
  return seasons
    .slice(wholeBetween(draw, 0, seasons.length - 1))
    .map((season, i, insured) => policyOf(farm, parcels, season, insured[i - 1]))
    .filter(({ term_start }) => yearOf(startOfDate(term_start)) >= farm.adultFrom);
}

/** Usual premiums as shares of the sum insured, for fields with and without irrigation. */
const wateredRate = 0.06;
const dryRate = 0.11;

function policyOf(
  farm: FarmContext,
  parcels: readonly Parcel[],
  season: Season,
  previous: Season | undefined,
): InsurancePolicy {
  const { country } = farm;
  const draw = farm.draws("policy", season.season_code);
  const covered = parcels.flatMap(({ properties: { area_ha, irrigation, seasons } }) => {
    const same = seasons.find(
      (one) => one.season_code === season.season_code && one.crop_code === season.crop_code,
    );
    return same === undefined ? [] : [{ area_ha, irrigation, season: same }];
  });
  const area = sumOf(covered, ({ area_ha }) => area_ha);
  const crop = cropOfCode(season.crop_code);
  const value = insuredValuePerHectare(farm, crop);
  const sum = moneyOf(country, area * value);
  const deductible = moneyOf(country, sum.amount * (0.05 * wholeBetween(draw, 2, 3)));
  const dryArea = sumOf(covered, ({ area_ha, irrigation }) => (irrigation === "none" ? area_ha : 0));
  const rate = (wateredRate + (dryRate - wateredRate) * (dryArea / area)) * between(draw, 0.8, 1.2);
  return {
    policy_id: `policy_${base62From(draw, 12)}`,
    season_code: season.season_code,
    crop_code: season.crop_code,
    crop_name: season.crop_name,
    insured_area_ha: area,
    insured_value_per_ha: moneyOf(country, value),
    sum_insured: sum,
    deductible,
    premium: moneyOf(country, sum.amount * rate),
    ...termOf(season, previous, draw),
    claims: claimsOf(farm, draw, covered, value, deductible.amount),
  };
}

/** The season and some days around it that no other season of the field covers. */
function termOf({ season_start, season_end }: Season, previous: Season | undefined, draw: RandomStream) {
  const [first, last] = [startOfDate(season_start), startOfDate(season_end)];
  const free = Math.floor((364 - (last - first) / day) / 2);
  const longestAfter = 30;
  // The previous season may have been longer.
  const before =
    previous === undefined ? free : (first - startOfDate(previous.season_end)) / day - 1 - longestAfter;
  return {
    term_start: dateOf(first - wholeBetween(draw, 0, Math.max(0, Math.min(20, free, before))) * day),
    term_end: dateOf(last + wholeBetween(draw, 0, Math.min(longestAfter, free)) * day),
  };
}

/** At most one claim, only for a damaged harvest. */
function claimsOf(
  farm: FarmContext,
  draw: RandomStream,
  covered: readonly { readonly area_ha: number; readonly season: Season }[],
  value: number,
  deductible: number,
): readonly Claim[] {
  const chosen = [unit(draw), unit(draw)] as const;
  const worst = covered.find(({ season }) => season.loss_cause !== null)?.season;
  if (worst?.harvested_on == null || worst.loss_cause === null) return [];
  const struck = covered.filter(({ season }) => season.loss_cause === worst.loss_cause);
  const usual = usualYield(farm, cropOfCode(worst.crop_code));
  const lost = struck.reduce((sum, { area_ha, season }) => {
    const missing = 1 - (season.yield_kg_ha as number) / usual;
    return sum + area_ha * value * Math.max(missing, 0);
  }, 0);
  const amount = moneyOf(farm.country, Math.max(lost - deductible, 0));
  if (amount.amount === 0 || chosen[0] > 0.95) return [];
  // A perennial crop was planted years before, so its damage counts from the start of the season.
  const from = Math.max(startOfDate(worst.planted_on), startOfDate(worst.season_start));
  const occurred = dayOfHarm(farm, worst.loss_cause, { from, to: startOfDate(worst.harvested_on) }, draw);
  const old = farm.start - occurred > 120 * day;
  const status = !old ? "open" : chosen[1] < 0.92 ? "settled" : "rejected";
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

/** Days past due until a loan is in default: 90 days, as in Basel and IFRS 9. */
const defaultAfter = 90;

interface Borrower {
  /** Each loan is for a season of the first parcel. */
  readonly parcels: readonly Parcel[];
  readonly areaHa: number;
  readonly isMember: boolean;
  readonly hasLivestock: boolean;
}

/** The loans of a farmer, in the order of their seasons. */
export function loansOf(farm: FarmContext, borrower: Borrower): readonly Loan[] {
  const { parcels, isMember } = borrower;
  const { seasons } = (parcels[0] as Parcel).properties;
  const draw = farm.draws("loans");
  const share = farm.country.borrowingShare * (isMember ? 1.25 : 0.85);
  if (!chance(draw, share)) return [];
  const loans: Loan[] = [];
  for (const season of seasons.slice(wholeBetween(draw, 0, seasons.length - 1))) {
    const loan = loanOf(farm, season, borrower);
    const isMinor = yearOf(startOfDate(loan.opened_on)) < farm.adultFrom;
    // A farmer in arrears gets no second loan.
    const owes = loans.some(({ days_past_due, due_on }) => days_past_due > 0 && due_on <= loan.opened_on);
    if (!isMinor && !owes) loans.push(loan);
  }
  return loans;
}

function loanOf(farm: FarmContext, season: Season, borrower: Borrower): Loan {
  const { country, start } = farm;
  const { areaHa, hasLivestock } = borrower;
  const draw = farm.draws("loan", season.season_code);
  const purposes = [
    "equipment",
    ...(hasLivestock ? (["livestock"] as const) : []),
    "land_improvement",
  ] as const;
  const purpose = chance(draw, 0.7) ? "inputs" : pick(draw, purposes);
  const years = purpose === "inputs" ? 0 : wholeBetween(draw, 1, 3);
  const factor = purpose === "inputs" ? between(draw, 0.2, 0.5) : between(draw, 0.4, 1.2);
  const principal = Math.max(
    1,
    roundSum(areaHa * insuredValuePerHectare(farm, cropOfCode(season.crop_code)) * factor),
  );
  const [lender, , lowest, highest] = pickWeighted(
    draw,
    country.lenders.filter((lending) => lendsTo(lending, borrower)),
    ([, weight]) => weight,
  );
  const interestRate = rounded(between(draw, lowest, highest), 1);
  const collateral = collateralOf(purpose, lender, borrower, unit(draw));
  const opened = startOfDate(season.season_start) - wholeBetween(draw, 0, 30) * day;
  // Some time after the harvest, when it is sold; lenders differ.
  const due = lastUsualHarvest(farm, season) + (wholeBetween(draw, 30, 120) + 365 * years) * day;
  const late = Math.floor((start - due) / day);
  const paidShare = between(draw, 0, 0.6);
  const paidAfter = unit(draw) < arrearsProbability(season) ? daysUntilPaid(draw) : 0;
  const unpaid = rounded(principal * (1 - paidShare), country.digits);
  const soFar = opened >= start - 90 * day ? principal : unpaid;
  const state = loanStatusOf(late, paidAfter);
  return {
    loan_id: `loan_${base62From(draw, 12)}`,
    purpose,
    lender,
    collateral,
    interest_rate_percent: interestRate,
    currency: country.currency,
    principal,
    outstanding: state === "repaid" ? 0 : state === "current" ? soFar : unpaid,
    opened_on: dateOf(opened),
    due_on: dateOf(due),
    status: state,
    days_past_due: state === "in_arrears" || state === "defaulted" ? late : 0,
  };
}

/** Cooperatives lend to members, and microfinance lends to small farms. */
function lendsTo([lender]: Lending, { isMember, areaHa }: Borrower): boolean {
  return lender === "cooperative" ? isMember : lender !== "microfinance" || areaHa < 5;
}

function collateralOf(
  purpose: Loan["purpose"],
  lender: Loan["lender"],
  { parcels }: Borrower,
  chosen: number,
): Collateral {
  if (lender === "microfinance") return "group_guarantee";
  if (lender === "input_supplier") return "crop";
  if (purpose === "equipment" || purpose === "livestock") return purpose;
  const ownsLand = parcels.some(({ properties }) => properties.land_ownership === "owned");
  if (purpose === "land_improvement") return ownsLand ? "land" : "guarantor";
  if (chosen < 0.45) return "crop";
  return chosen > 0.75 ? "none" : ownsLand ? "land" : "guarantor";
}

/** The days from the due day to a late repayment: some days, or some years. */
function daysUntilPaid(draw: RandomStream): number {
  const share = unit(draw);
  return 10 + Math.floor(1_500 * share * share);
}

function loanStatusOf(daysLate: number, paidAfter: number): Loan["status"] {
  if (daysLate <= 0) return "current";
  if (daysLate > paidAfter) return "repaid";
  return daysLate < defaultAfter ? "in_arrears" : "defaulted";
}

/** Most farmers who pay late have lost a harvest. */
function arrearsProbability({ loss_cause }: Season): number {
  return loss_cause === null ? 0.08 : 0.5;
}
