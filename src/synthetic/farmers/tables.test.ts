import { expect, test } from "vitest";
import { z } from "zod";
import { farmerLocaleChoices, farmerLocales } from "../../domain/farmer.js";
import { common, day, spanIn, withinYearFrom } from "./dates.js";
import { livestockTypes, perils } from "./farmer-schema.js";
import {
  type CropName,
  countries,
  countryTables,
  crops,
  type GrowingSeason,
  names,
  resolveLocale,
} from "./tables.js";

const cropNames = Object.keys(crops) as CropName[];
const crop = z.enum(cropNames);
const share = z.number().min(0).max(1);
const yearDay = z.int().refine((value) => {
  const date = new Date(Date.UTC(2023, Math.floor(value / 100) - 1, value % 100));
  return (date.getUTCMonth() + 1) * 100 + date.getUTCDate() === value;
});
const calendars = z.partialRecord(
  crop,
  z.union([z.tuple([yearDay, yearDay]), z.tuple([yearDay, yearDay, yearDay, yearDay])]),
);
const yields = z.partialRecord(crop, z.number().positive());
const hazards = z.array(z.tuple([z.enum(perils), yearDay, yearDay]));
const grows = z.array(z.tuple([crop, z.string(), z.number().positive(), share])).min(1);
const region = z.strictObject({
  code: z.string().regex(/^[A-Z]{2}-[A-Z0-9]{1,3}$/),
  name: z.string(),
  longitude: z.number().min(-180).max(180),
  latitude: z.number().min(-60).max(60),
  radiusKm: z.number().positive(),
  language: z.string().optional(),
  grows: z.union([z.string(), grows]),
  yields: yields.optional(),
  calendars: calendars.optional(),
  hazards: hazards.optional(),
});
const country = z.strictObject({
  language: z.string().regex(/^[a-z]{2}-[A-Z]{2}$/),
  cooperatives: z.array(z.string().includes("{{name}}")).min(1),
  code: z.string().regex(/^[A-Z]{2}$/),
  currency: z.string().regex(/^[A-Z]{3}$/),
  digits: z.int().min(0).max(2),
  unitsPerDollar: z.number().positive(),
  farmSize: z.strictObject({ median: z.number().positive(), deviation: z.number().positive() }),
  meanAge: z.number().min(30).max(60),
  womenShare: share,
  meanHousehold: z.number().positive(),
  insuredShare: share,
  borrowingShare: share,
  cooperativeShare: share,
  yields,
  livestock: z.array(z.tuple([z.enum(livestockTypes), share, z.number().positive()])),
  seasons: z.record(
    z.string(),
    z.strictObject({ month: z.int().min(1).max(12), months: z.int().min(1).max(12), crops: calendars }),
  ),
  hazards,
  droughts: z.array(z.tuple([yearDay, yearDay])).min(1),
  mixes: z.record(z.string(), grows).optional(),
  regions: z.array(region).min(5),
});
const cropRow = z.strictObject({
  code: z.string().regex(/^c_\d+$/),
  name: z.string(),
  dollarsPerKg: z.number().positive(),
  stands: z.tuple([z.int().positive(), z.int().positive()]).optional(),
});

const everywhere = farmerLocales.map((locale) => countries[locale]);
const grown = everywhere.flatMap(({ seasons, regions }) =>
  regions.flatMap((region) =>
    region.grows.map(([crop, name]) => {
      const season = seasons[name] as GrowingSeason;
      const days = region.calendars?.[crop] ?? season.crops[crop] ?? [];
      return { where: `${region.code} ${crop} ${name}`, crop, season, days };
    }),
  ),
);

test("the tables have their shape", () => {
  for (const table of Object.values(countryTables)) country.parse(table);
  z.record(z.string(), cropRow).parse(crops);
});

test.each(farmerLocales)("%s has names, and every region of it something to grow", (locale) => {
  const { code, yields, seasons, regions } = countries[locale];
  for (const list of Object.values(names[locale]) as string[][]) {
    expect(list.length).toBeGreaterThan(15);
    expect(new Set(list).size).toBe(list.length);
  }
  for (const region of regions) {
    expect(region.code.slice(0, 2)).toBe(code);
    expect(Object.keys(seasons)).toEqual(expect.arrayContaining(region.grows.map(([, season]) => season)));
    expect(Object.keys(yields)).toEqual(expect.arrayContaining(region.grows.map(([crop]) => crop)));
    // The youngest farmer has had no time to plant a perennial crop.
    expect(region.grows.some(([crop]) => crops[crop].stands === undefined)).toBe(true);
  }
});

test("a crop of a region has days of harvest, and of sowing unless it is perennial", () => {
  const wrong = grown.filter(({ crop, days }) => days.length !== (crops[crop].stands === undefined ? 4 : 2));
  expect(wrong.map(({ where }) => where)).toEqual([]);
});

test("sowing and harvest lie in their season, one after the other", () => {
  const right = ({ season: { month, months }, days }: (typeof grown)[number]) => {
    const ends = Date.UTC(2023, month - 1 + months, 1);
    const instants = days.map((one) => withinYearFrom(2023, month, one));
    return instants.every((one, i) => one < ends && (i === 0 || one > (instants[i - 1] as number)));
  };
  expect(grown.filter((one) => !right(one)).map(({ where }) => where)).toEqual([]);
});

test("an annual crop stands for 60 to 335 days", () => {
  const sown = grown.filter(({ days }) => days.length === 4);
  const right = ({ season: { month }, days }: (typeof grown)[number]) => {
    const [from, to, cutFrom, cutTo] = days.map((one) => withinYearFrom(2023, month, one) / day);
    const [early, late] = [(cutFrom as number) - (from as number), (cutTo as number) - (to as number)];
    return Math.min(early, late) >= 60 && Math.max(early, late) <= 335;
  };
  expect(sown.filter((one) => !right(one)).map(({ where }) => where)).toEqual([]);
});

test("the parts of the year in which rain may fail have room for a drought and do not meet", () => {
  for (const { droughts } of everywhere) {
    const spans = droughts.flatMap((window) => [2023, 2024].map((year) => spanIn(year, window)));
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
