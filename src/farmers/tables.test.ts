import { expect, test } from "vitest";
import { day } from "../spec/api-key.js";
import { farmerLocaleChoices, farmerLocales } from "../spec/farmer-locales.js";
import { common, periodIn, withinYearFrom } from "./seasons.js";
import nameTable from "./tables/names.json" with { type: "json" };
import { countryOf, crops, type GrowingSeason, resolveLocale } from "./tables.js";

const everywhere = farmerLocales.map(countryOf);
const grown = everywhere.flatMap(({ seasons, regions }) =>
  regions.flatMap((region) =>
    region.grows.map(([crop, name]) => {
      const season = seasons[name] as GrowingSeason;
      const days = region.calendars?.[crop] ?? season.crops[crop] ?? [];
      return { where: `${region.code} ${crop} ${name}`, crop, season, days };
    }),
  ),
);

test.each(farmerLocales)("every region of %s has names, languages and something to grow", (locale) => {
  const { code, yields, seasons, regions } = countryOf(locale);
  for (const region of regions) {
    for (const list of Object.values(region.names) as string[][]) expect(list.length).toBeGreaterThan(15);
    const languages = Object.keys(region.languages);
    expect(Intl.getCanonicalLocales(languages)).toEqual(languages);
    expect(Object.values(region.languages).reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1);
    expect(region.code.slice(0, 2)).toBe(code);
    expect(Object.keys(seasons)).toEqual(expect.arrayContaining(region.grows.map(([, season]) => season)));
    expect(Object.keys(yields)).toEqual(expect.arrayContaining(region.grows.map(([crop]) => crop)));
    // The youngest farmer has had no time to plant a perennial crop.
    expect(region.grows.some(([crop]) => crops[crop].stands === undefined)).toBe(true);
  }
});

test.each(Object.entries(nameTable))("the names of %s are letters, each once in its list", (_, lists) => {
  for (const list of Object.values(lists)) {
    expect(new Set(list).size).toBe(list.length);
    expect(list.filter((name) => !/^\p{L}[\p{L}\p{M}’ ]*$/u.test(name))).toEqual([]);
  }
});

test.each(farmerLocales)("%s has a lender for a large farm without a cooperative", (locale) => {
  const { lenders } = countryOf(locale);
  for (const [, weight, lowest, highest] of lenders)
    expect([weight > 0, lowest < highest]).toEqual([true, true]);
  expect(lenders.some(([lender]) => lender.endsWith("_bank"))).toBe(true);
});

test("a crop of a region has days of harvest, and of sowing unless it is perennial", () => {
  const wrong = grown.filter(({ crop, days }) => days.length !== (crops[crop].stands === undefined ? 4 : 2));
  expect(wrong.map(({ where }) => where)).toEqual([]);
});

test("an annual crop grows for 60 to 335 days", () => {
  const sown = grown.filter(({ days }) => days.length === 4);
  const right = ({ season: { month }, days }: (typeof grown)[number]) => {
    const [from, to, cutFrom, cutTo] = days.map((one) => withinYearFrom(2023, month, one) / day);
    const [early, late] = [(cutFrom as number) - (from as number), (cutTo as number) - (to as number)];
    return Math.min(early, late) >= 60 && Math.max(early, late) <= 335;
  };
  expect(sown.filter((one) => !right(one)).map(({ where }) => where)).toEqual([]);
});

test("the parts of the year when rain may fail have room for a drought and do not overlap", () => {
  for (const { droughts } of everywhere) {
    const spans = droughts.flatMap((window) => [2023, 2024].map((year) => periodIn(year, window)));
    for (const { from, to } of spans) expect((to - from) / day).toBeGreaterThanOrEqual(65);
    const met = spans.flatMap((one, i) => spans.slice(i + 1).map((other) => common(one, other)));
    expect(met.filter((one) => one !== undefined)).toEqual([]);
  }
});

test("a name means one locale, a language all of its locales, anything else none", () => {
  expect(resolveLocale("en_GH")).toEqual(["en_GH"]);
  expect(resolveLocale("en-gh")).toEqual(["en_GH"]);
  expect(resolveLocale("en")).toEqual(["en_GH", "en_IN", "en_NG"]);
  expect(resolveLocale("vi")).toEqual(["vi"]);
  expect(resolveLocale("tr-TR")).toEqual(["tr"]);
  for (const other of ["", "e", "xx", "en_US", "GH", "__proto__"])
    expect(resolveLocale(other)).toBeUndefined();
  expect(farmerLocaleChoices.filter((one) => resolveLocale(one) === undefined)).toEqual([]);
});
