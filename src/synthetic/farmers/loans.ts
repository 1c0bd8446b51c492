import { base62From, pick } from "../../domain/seed.js";
import { cropOfCode } from "./crops.js";
import { dateOf, day, instantOf, yearOf } from "./dates.js";
import { between, chance, rounded, unit, wholeBetween } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import { type Loan, loanPurposes, type Season } from "./farmer.js";
import { insuredValuePerHectare, roundSum } from "./money.js";

/** Of a loan for the season: how long after the season it is due. */
const graceDays = 60;
const longestArrears = 360;

/** What lenders look at. */
interface Borrower {
  /** Those of the largest field, which loans are taken for. */
  readonly seasons: readonly Season[];
  readonly areaHa: number;
  readonly isMember: boolean;
  readonly hasLivestock: boolean;
}

/** The loans of a farmer, in the order of the seasons they were taken for. */
export function loansOf(world: FarmWorld, farm: Borrower): readonly Loan[] {
  const { seasons, isMember } = farm;
  const draw = world.draws("loans");
  const share = world.country.borrowingShare * (isMember ? 1.25 : 0.85);
  if (!chance(draw, share)) return [];
  const loans: Loan[] = [];
  for (const season of seasons.slice(wholeBetween(draw, 0, seasons.length - 1))) {
    const loan = loanOf(world, season, farm);
    const isMinor = yearOf(instantOf(loan.opened_on)) < world.grownUpFrom;
    // Nobody lends to who has not paid back.
    const owes = loans.some(({ days_past_due, due_on }) => days_past_due > 0 && due_on <= loan.opened_on);
    if (!isMinor && !owes) loans.push(loan);
  }
  return loans;
}

function loanOf(world: FarmWorld, season: Season, { areaHa, hasLivestock }: Borrower): Loan {
  const { country, start } = world;
  const draw = world.draws("loan", season.season_code);
  const purposes = loanPurposes.filter((one) => one !== "inputs" && (one !== "livestock" || hasLivestock));
  const purpose = chance(draw, 0.7) ? "inputs" : pick(draw, purposes);
  const years = purpose === "inputs" ? 0 : wholeBetween(draw, 1, 3);
  const factor = purpose === "inputs" ? between(draw, 0.2, 0.5) : between(draw, 0.4, 1.2);
  const principal = Math.max(
    1,
    roundSum(areaHa * insuredValuePerHectare(world, cropOfCode(season.crop_code)) * factor),
  );
  const opened = instantOf(season.season_start) - wholeBetween(draw, 0, 30) * day;
  const due = instantOf(season.season_end) + (graceDays + 365 * years) * day;
  const late = Math.floor((start - due) / day);
  const paidShare = between(draw, 0, 0.6);
  const defaults = unit(draw) < arrearsProbability(season);
  const unpaid = rounded(principal * (1 - paidShare), country.digits);
  const soFar = opened >= start - 90 * day ? principal : unpaid;
  const state = stateOf(late, defaults);
  return {
    loan_id: `loan_${base62From(draw, 12)}`,
    purpose,
    currency: country.currency,
    principal,
    outstanding: state === "repaid" ? 0 : state === "current" ? soFar : unpaid,
    opened_on: dateOf(opened),
    due_on: dateOf(due),
    status: state,
    days_past_due: state === "in_arrears" || state === "defaulted" ? late : 0,
  };
}

function stateOf(daysLate: number, failsToPay: boolean): Loan["status"] {
  if (daysLate <= 0) return "current";
  if (!failsToPay) return "repaid";
  return daysLate > longestArrears ? "defaulted" : "in_arrears";
}

/** A spoiled harvest is what most often keeps a farmer from paying back. */
function arrearsProbability({ loss_cause }: Season): number {
  return loss_cause === null ? 0.06 : 0.45;
}
