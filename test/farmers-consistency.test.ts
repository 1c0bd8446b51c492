import { code as currencyOf } from "currency-codes";
import { expect, test } from "vitest";
import {
  type Farmer,
  farmerSchema,
  type Parcel,
  type Season,
} from "../src/synthetic/farmers/farmer-schema.js";
import { type FarmerSource, farmerAt } from "../src/synthetic/farmers/farmers.js";

// What the parts of a record say about each other.
const source: FarmerSource = { seed: 1, start: Date.UTC(2026, 2, 2, 9) };
const farmers = Array.from({ length: 10_000 }, (_, index) => farmerAt(source, index));
const parcels = farmers.flatMap((farmer) => farmer.parcels.map((parcel) => ({ farmer, parcel })));

/** What the rule finds wrong; few, so that a failure can be read. */
const faults = <Item>(items: readonly Item[], isRight: (item: Item) => boolean) =>
  items.filter((item) => !isRight(item)).slice(0, 3);

test("a harvest is yield times area; what is still on the field has neither", () => {
  const seasons = parcels.flatMap(({ parcel }) =>
    parcel.properties.seasons.map((season) => ({ season, hectares: parcel.properties.area_ha })),
  );
  const right = ({ season, hectares }: { season: Season; hectares: number }) => {
    const { harvest_kg, yield_kg_ha, harvested_on, loss_cause } = season;
    if (harvested_on === null) return harvest_kg === null && yield_kg_ha === null && loss_cause === null;
    return Math.abs((harvest_kg as number) - (yield_kg_ha as number) * hectares) <= 0.051;
  };
  expect(faults(seasons, right)).toEqual([]);
  const running = seasons.filter(({ season }) => season.harvested_on === null).length / seasons.length;
  expect(running).toBeGreaterThan(0.05);
});

test("dates follow each other, none is after the start, and a field bears one crop at a time", () => {
  const now = "2026-03-02";
  const ordered = ({ parcel }: { parcel: Parcel }) =>
    parcel.properties.seasons.every((season, i, all) => {
      const { season_start, season_end, planted_on, harvested_on } = season;
      const next = all[i + 1];
      return (
        planted_on <= now &&
        (harvested_on === null ||
          (harvested_on <= now && harvested_on <= season_end && harvested_on > season_start)) &&
        (parcel.properties.land_type === "permanent_crops"
          ? planted_on < season_start
          : planted_on >= season_start && (harvested_on === null || planted_on < harvested_on)) &&
        (next === undefined ||
          (harvested_on !== null && harvested_on < next.season_end && season_end < next.season_start))
      );
    });
  expect(faults(parcels, ordered)).toEqual([]);
});

test("a policy covers its season and its area, and claims less than it insures, for a spoiled harvest", () => {
  const policies = farmers.flatMap((farmer) => farmer.insurance.map((policy) => ({ farmer, policy })));
  expect(policies.length).toBeGreaterThan(3_000);
  const right = ({ farmer, policy }: (typeof policies)[number]) => {
    const seasons = farmer.parcels.flatMap(({ properties }) =>
      properties.seasons
        .filter((one) => one.season_code === policy.season_code && one.crop_code === policy.crop_code)
        .map((season) => ({ season, hectares: properties.area_ha })),
    );
    const insured = seasons.reduce((sum, { hectares }) => sum + hectares, 0);
    const digits = currencyOf(policy.sum_insured.currency)?.digits as number;
    return (
      Math.abs(insured - policy.insured_area_ha) < 1e-6 &&
      Math.abs(policy.sum_insured.amount - policy.insured_area_ha * policy.insured_value_per_ha.amount) <=
        0.51 / 10 ** digits &&
      seasons.every(
        ({ season }) => policy.term_start <= season.season_start && season.season_end <= policy.term_end,
      ) &&
      policy.claims.length <= 1 &&
      policy.claims.every(
        (claim) =>
          claim.amount.amount > 0 &&
          claim.amount.amount <= policy.sum_insured.amount - policy.deductible.amount + 0.01 &&
          claim.occurred_on >= policy.term_start &&
          claim.occurred_on <= "2026-03-02" &&
          seasons.some(
            ({ season }) =>
              season.loss_cause === claim.cause && claim.occurred_on <= (season.harvested_on ?? ""),
          ),
      )
    );
  };
  expect(faults(policies, right)).toEqual([]);
});

test("loans owe no more than was lent, and are past due only in arrears or default", () => {
  const loans = farmers.flatMap((farmer) => farmer.loans);
  const statuses = new Set(loans.map(({ status }) => status));
  expect([...statuses].sort()).toEqual(["current", "defaulted", "in_arrears", "repaid"]);
  const right = (loan: (typeof loans)[number]) => {
    const late = loan.status === "in_arrears" || loan.status === "defaulted";
    const days = Math.floor((source.start - Date.parse(loan.due_on)) / 86_400_000);
    return (
      loan.outstanding >= 0 &&
      loan.outstanding <= loan.principal &&
      loan.opened_on < loan.due_on &&
      loan.opened_on <= "2026-03-02" &&
      loan.days_past_due === (late ? days : 0) &&
      (!late || (days > 0 && loan.outstanding > 0)) &&
      (loan.status !== "repaid" || loan.outstanding === 0) &&
      (loan.status !== "current" || days <= 0)
    );
  };
  expect(faults(loans, right)).toEqual([]);
});

test("people are plausible: of age, members no longer than grown up, alone only as head", () => {
  const right = ({ birth_year, household, cooperative }: Farmer) =>
    2026 - birth_year > 18 &&
    2026 - birth_year <= 90 &&
    household.group_size >= 1 &&
    (household.group_size > 1 || household.is_head) &&
    (cooperative === null ||
      (cooperative.member_since > birth_year + 18 && cooperative.member_since <= 2026));
  expect(faults(farmers, right)).toEqual([]);
  const names = new Set(farmers.map(({ name }) => `${name.given_name} ${name.surname}`));
  expect(names.size).toBeGreaterThan(6_000);
});

test("there is no member for a phone, an address or a national id", () => {
  expect(JSON.stringify(farmerSchema)).not.toMatch(/phone|email|street|national|passport/i);
});
