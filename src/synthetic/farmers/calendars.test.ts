import { expect, test } from "vitest";
import { calendars, type GrowingSeason, regionCalendars } from "./calendars.js";
import { countries } from "./countries.js";
import { crops } from "./crops.js";
import { day } from "./dates.js";
import { droughtMonths } from "./hazards.js";
import { common, spanIn, withinYearFrom } from "./spans.js";

const grown = Object.values(countries).flatMap((country) =>
  country.regions.flatMap((region) =>
    region.grows.map(([crop, name]) => {
      const season = calendars[country.code][name] as GrowingSeason;
      const days = regionCalendars[region.code]?.[crop] ?? season.crops[crop] ?? [];
      return { where: `${region.code} ${crop} ${name}`, crop, season, days };
    }),
  ),
);

test("what a region grows has days of harvest, and of sowing unless it stands for years", () => {
  const wrong = grown.filter(({ crop, days }) => days.length !== (crops[crop].stands === null ? 4 : 2));
  expect(wrong.map(({ where }) => where)).toEqual([]);
});

test("sowing and harvest lie in their season, one after the other, and a season is no longer than a year", () => {
  const right = ({ season: { month, months }, days }: (typeof grown)[number]) => {
    const ends = Date.UTC(2023, month - 1 + months, 1);
    const instants = days.map((one) => withinYearFrom(2023, month, one));
    return (
      months <= 12 && instants.every((one, i) => one < ends && (i === 0 || one > (instants[i - 1] as number)))
    );
  };
  expect(grown.filter((one) => !right(one)).map(({ where }) => where)).toEqual([]);
});

test("a crop stands no shorter and no longer than such a crop can", () => {
  const sown = grown.filter(({ days }) => days.length === 4);
  const right = ({ season: { month }, days }: (typeof grown)[number]) => {
    const [from, to, cutFrom, cutTo] = days.map((one) => withinYearFrom(2023, month, one) / day);
    const [early, late] = [(cutFrom as number) - (from as number), (cutTo as number) - (to as number)];
    return Math.min(early, late) >= 60 && Math.max(early, late) <= 335;
  };
  expect(sown.filter((one) => !right(one)).map(({ where }) => where)).toEqual([]);
});

test("every region grows something that the youngest farmer can have sown", () => {
  const regions = Object.values(countries).flatMap(({ regions }) => regions);
  const old = regions.filter(({ grows }) => grows.every(([crop]) => crops[crop].stands !== null));
  expect(old.map(({ code }) => code)).toEqual([]);
});

test("the parts of the year in which rain may fail have room for a drought and do not meet", () => {
  for (const windows of Object.values(droughtMonths)) {
    const spans = windows.flatMap((window) => [2023, 2024].map((year) => spanIn(year, window)));
    for (const { from, to } of spans) expect((to - from) / day).toBeGreaterThanOrEqual(65);
    const met = spans.flatMap((one, i) => spans.slice(i + 1).map((other) => common(one, other)));
    expect(met.filter((one) => one !== undefined)).toEqual([]);
  }
});
