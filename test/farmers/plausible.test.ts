import { expect, test } from "vitest";
import type { Farmer, InsurancePolicy } from "../../src/farmers/farmer-shape.js";
import { farmerAt } from "../../src/farmers/farmers.js";
import { farmerLocales } from "../../src/spec/farmer-locales.js";
import expected from "./expected.json" with { type: "json" };
import { everyFarmer, type GrownSeason, grouped, growthOf, holds, sampled, seasons } from "./sample.js";

// Experts' view of the farmers: people, crops, weather, water. Months and places are written down in expected.json, apart
// from the tables that the farmers are made from.
const yearOf = (date: string) => Number(date.slice(0, 4));
const monthOf = (date: string) => Number(date.slice(5, 7));

/** Whether a month lies between two others, across the turn of the year if the second is the smaller one. */
const isMonthIn = (month: number, [from = 13, to = 13]: readonly number[] = []) =>
  from <= to ? month >= from && month <= to : month >= from || month <= to;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Only the year of birth is known: a person is 18 on every day of the nineteenth year after it.
const adultActs = everyFarmer.flatMap(({ birth_year, loans, insurance, parcels, cooperative }) => [
  ...loans.map(({ opened_on }) => ({ birth_year, act: "loan", year: yearOf(opened_on) })),
  ...insurance.map(({ term_start }) => ({ birth_year, act: "policy", year: yearOf(term_start) })),
  ...(cooperative === null ? [] : [{ birth_year, act: "membership", year: cooperative.member_since }]),
  ...parcels
    .filter(({ properties }) => properties.land_type === "permanent_crops")
    .flatMap(({ properties }) => properties.seasons)
    .map(({ planted_on, crop_name }) => ({ birth_year, act: crop_name, year: yearOf(planted_on) })),
]);
holds(
  "farmers borrow, insure, plant perennial crops and join cooperatives as adults only",
  adultActs,
  ({ birth_year, year }) => year > birth_year + 18 && year <= 2026,
);

const byRegion = new Map(grouped(everyFarmer, ({ location }) => location.subdivision_code));
const shareOf = (place: string, isSo: (farmer: (typeof everyFarmer)[number]) => boolean) => {
  const group = byRegion.get(place) ?? [];
  return group.filter(isSo).length / group.length;
};

test.each(
  Object.entries(expected.languages as Readonly<Record<string, readonly string[]>>),
)("in %s most farmers speak %s", (place, languages) => {
  expect(shareOf(place, ({ language }) => languages.includes(language))).toBeGreaterThan(0.75);
  expect(shareOf(place, ({ language }) => languages[0] === language)).toBeGreaterThan(0.3);
});

// Averages of holdings, but for Brazil: there fields are a part of the land of a holding.
test.each(
  Object.entries(expected.meanFarmHectares as Readonly<Record<string, readonly number[]>>),
)("the farms of %s have %j hectares on average", (place, [least = 0, most = 0]) => {
  const hectares = mean((byRegion.get(place) ?? []).map(({ farm_area_ha }) => farm_area_ha));
  expect(hectares).toBeGreaterThan(least);
  expect(hectares).toBeLessThan(most);
});

test.each([
  ["IN-PB", "pa", /^(Singh|Kaur|Sidhu|Gill|Sandhu|Dhillon|Grewal|Brar)$/, 0.6],
  ["NG-KN", "ha", /^(Musa|Ibrahim|Abubakar|Usman|Abdullahi|Muhammad|Sani|Umar)$/, 0.5],
  ["TR-42", "tr-TR", /^(Yılmaz|Kaya|Demir|Çelik|Şahin)$/, 0.3],
  ["VN-44", "vi-VN", /^(Nguyễn|Trần|Lê|Phạm)$/, 0.35],
  ["VN-44", "km", /^(Chau|Neáng)$/, 1],
  ["VN-33", "rad", /^(Niê|Mlô|Êban|Byă|Kbuôr|Ayŭn|Hmŏk|Êñuôl)$/, 0.6],
  ["VN-30", "jra", /^(Siu|Rơ Mah|Ksor|Rơ Châm|Kpă|Nay|Rahlan|Puih)$/, 0.6],
  ["VN-30", "bdq", /^(A|Y|Đinh)$/, 1],
  ["VN-05", "hmn", /^(Giàng|Vàng|Thào|Mùa|Sùng|Lầu|Hờ|Vừ|Lý)$/, 0.5],
  ["VN-05", "blt", /^(Lò|Quàng|Lường|Cà|Tòng|Hoàng|Vì|Lèo)$/, 0.6],
] as const)("farmers of %s who speak %s have family names such as %s", (place, spoken, usual, least) => {
  const speakers = (byRegion.get(place) ?? []).filter(({ language }) => language === spoken);
  expect(speakers.length).toBeGreaterThan(10);
  const usually = speakers.filter(({ name }) => usual.test(name.surname));
  expect(usually.length / speakers.length).toBeGreaterThanOrEqual(least);
});

test("no speaker of a minority's language in Vietnam has the commonest Kinh name, and men and women differ", () => {
  const minorities = everyFarmer.filter(({ language }) => /^(hmn|jra|bdq|rad|blt|km)$/.test(language));
  expect(minorities.filter(({ name }) => /^(Nguyễn|Trần|Lê|Phạm)$/.test(name.surname))).toEqual([]);
  const women = minorities.filter(
    ({ name }) => /^(H’|Thị )/.test(name.given_name) || /^(Y|Neáng)$/.test(name.surname),
  );
  expect(women.filter(({ sex }) => sex === "male")).toEqual([]);
});

holds(
  "a farmer in arrears gets no further loan",
  everyFarmer.flatMap(({ loans }) =>
    loans.filter(({ days_past_due }) => days_past_due > 0).map((loan) => ({ loan, loans })),
  ),
  ({ loan, loans }) => loans.every((other) => other === loan || other.opened_on < loan.due_on),
);

const lent = everyFarmer.flatMap((farmer) => farmer.loans.map((loan) => ({ farmer, loan })));
holds("a loan has a lender and a collateral that fit the farmer", lent, ({ farmer, loan }) => {
  const { lender, collateral, purpose } = loan;
  return (
    (lender !== "cooperative" || farmer.cooperative !== null) &&
    (lender !== "microfinance" || farmer.farm_area_ha < 5) &&
    (collateral === "group_guarantee") === (lender === "microfinance") &&
    (collateral !== "land" ||
      farmer.parcels.some(({ properties }) => properties.land_ownership === "owned")) &&
    (collateral !== "livestock" || (purpose === "livestock" && farmer.livestock.length > 0)) &&
    (collateral !== "equipment" || purpose === "equipment")
  );
});
holds(
  "no loan falls due before the harvest it is for",
  lent.filter(({ loan }) => loan.purpose === "inputs"),
  ({ farmer, loan }) =>
    (farmer.parcels[0]?.properties.seasons ?? []).some(({ season_start, season_end, harvested_on }) => {
      const before = (Date.parse(season_start) - Date.parse(loan.opened_on)) / 86_400_000;
      const after = (Date.parse(loan.due_on) - Date.parse(season_end)) / 86_400_000;
      return (
        before >= 0 && before <= 30 && (harvested_on === null || harvested_on < loan.due_on) && after < 121
      );
    }),
);

holds(
  "a farm feeds its animals: a few cattle, sheep or goats without land, and some more on each hectare",
  everyFarmer,
  ({ livestock, farm_area_ha: hectares }) => {
    const countOf = (...types: readonly string[]) =>
      livestock.filter(({ type }) => types.includes(type)).reduce((sum, { count }) => sum + count, 0);
    return (
      countOf("cattle", "buffaloes") <= 2 + 8 * hectares &&
      countOf("sheep") <= 3 + 15 * hectares &&
      countOf("goats") <= 3 + 15 * hectares
    );
  },
);

const plantationYears = expected.plantationYears as Readonly<Record<string, readonly number[]>>;
const standing = seasons.filter(
  ({ parcel, season }) => parcel.properties.land_type === "permanent_crops" && season.harvested_on !== null,
);
holds(
  "a perennial crop bears when it is old enough, and is replanted before it is worn out",
  standing,
  ({ season }) => {
    const [bears = 0, worn = 0] = plantationYears[season.crop_name] ?? [];
    const days = (Date.parse(season.harvested_on as string) - Date.parse(season.planted_on)) / 86_400_000;
    return days / 365.25 >= bears && days / 365.25 <= worn;
  },
);

const irrigatedAlways = expected.irrigatedAlways as Readonly<Record<string, readonly string[]>>;
holds(
  "a crop of a dry season is irrigated",
  seasons.filter(({ place, season }) => irrigatedAlways[place]?.includes(season.crop_name)),
  ({ isIrrigated }) => isIrrigated,
);

const sownAndCut = expected.sownAndCut as Readonly<Record<string, readonly number[]>>;
const calendarOf = ({ farmer, season }: GrownSeason) =>
  sownAndCut[`${farmer.location.country_code} ${season.crop_name}`];
holds(
  "each crop is sown and cut in the months in which the country does so",
  seasons.filter((one) => calendarOf(one) !== undefined),
  (one) => {
    const { planted_on, harvested_on } = one.season;
    const calendar = calendarOf(one) ?? [];
    return (
      isMonthIn(monthOf(planted_on), calendar.slice(0, 2)) &&
      (harvested_on === null || isMonthIn(monthOf(harvested_on), calendar.slice(2)))
    );
  },
);

const claims = everyFarmer.flatMap((farmer) =>
  farmer.insurance.flatMap((policy) => policy.claims.map((claim) => ({ farmer, policy, claim }))),
);
/** The shares of the sums insured that claims take and premiums cost, each policy alike, of harvests that are over. */
function insuranceOver(owners: readonly Farmer[]) {
  const over = owners.flatMap(({ insurance, parcels: [first] }) =>
    insurance.filter(({ season_code }) =>
      first?.properties.seasons.some((one) => one.season_code === season_code && one.harvested_on !== null),
    ),
  );
  const paid = ({ claims }: InsurancePolicy) =>
    claims.reduce((sum, { status, amount }) => sum + (status === "rejected" ? 0 : amount.amount), 0);
  return {
    claimed: mean(over.map((policy) => paid(policy) / policy.sum_insured.amount)),
    premium: mean(over.map(({ premium, sum_insured }) => premium.amount / sum_insured.amount)),
  };
}

test.each(
  farmerLocales,
)("%s: over years, claims are 4 to 10 % of the sums insured, and less than the premiums", (locale) => {
  const years = Array.from({ length: 13 }, (_, i) => 1990 + 3 * i);
  const owners = years.flatMap((year) =>
    Array.from({ length: 250 }, (_, index) =>
      farmerAt({ seed: 1, start: Date.UTC(year, 11, 30), locales: [locale] }, index),
    ),
  );
  const { claimed, premium } = insuranceOver(owners);
  expect(claimed).toBeGreaterThan(0.04);
  expect(claimed).toBeLessThan(0.1);
  expect(claimed / premium).toBeGreaterThan(0.4);
  expect(claimed / premium).toBeLessThan(1);
});

const perilMonths = expected.perilMonths as Readonly<
  Record<string, Readonly<Record<string, readonly number[]>>>
>;
holds(
  "frost, hail and floods come in the months in which a country has them",
  claims.filter(({ claim }) => perilMonths[claim.cause] !== undefined),
  ({ farmer, claim }) =>
    isMonthIn(monthOf(claim.occurred_on), perilMonths[claim.cause]?.[farmer.location.country_code]),
);
holds("a claim is for a day on which the crop stood", claims, ({ farmer, policy, claim }) =>
  farmer.parcels.some(({ properties }) =>
    properties.seasons.some((season) => {
      const { from, to } = growthOf(season);
      const day = Date.parse(claim.occurred_on);
      const isSame = season.season_code === policy.season_code && season.loss_cause === claim.cause;
      return isSame && from <= day && day <= to;
    }),
  ),
);

holds(
  "an irrigated field loses no harvest to drought",
  seasons.filter(({ season }) => season.loss_cause === "drought"),
  ({ isIrrigated }) => !isIrrigated,
);

const rainFed = seasons.filter(({ isIrrigated, season }) => !isIrrigated && season.harvested_on !== null);
const droughtDays = new Map(
  grouped(
    [...sampled].flatMap(([seed, group]) => group.map((farmer) => ({ seed, farmer }))),
    ({ seed, farmer }) => `${seed} ${farmer.location.subdivision_code}`,
  ).map(([site, group]) => [
    site,
    group.flatMap(({ farmer }) =>
      farmer.insurance
        .flatMap((policy) => policy.claims)
        .filter(({ cause }) => cause === "drought")
        .map(({ occurred_on }) => Date.parse(occurred_on)),
    ),
  ]),
);
holds(
  "a drought spares no rain-fed field of the subdivision with a crop on that day",
  rainFed,
  ({ seed, place, season }) => {
    const { from, to } = growthOf(season);
    const days = droughtDays.get(`${seed} ${place}`) ?? [];
    return season.loss_cause !== null || !days.some((day) => from <= day && day < to);
  },
);
