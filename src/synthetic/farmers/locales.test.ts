import { expect, test } from "vitest";
import { farmerLocaleChoices, farmerLocales } from "../../domain/farmer-locales.js";
import { calendars } from "./calendars.js";
import { localeFacts, resolveLocale } from "./locales.js";
import { farmerNames } from "./names.generated.js";

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

test("every locale has names for women and for men, and fields to grow something on", () => {
  expect(Object.keys(farmerNames).sort()).toEqual([...farmerLocales].sort());
  for (const locale of farmerLocales) {
    const lists = (farmerNames[locale] as readonly string[]).map((list) => list.split("|"));
    expect(lists.length).toBeGreaterThanOrEqual(3);
    for (const list of lists) {
      expect(list.length).toBeGreaterThan(15);
      expect(new Set(list).size).toBe(list.length);
    }
    const { country } = localeFacts[locale];
    for (const { code, grows } of country.regions) {
      expect(code.slice(0, 2)).toBe(country.code);
      for (const [crop, season] of grows) {
        expect(Object.keys(calendars[country.code])).toContain(season);
        expect(Object.keys(country.yields)).toContain(crop);
      }
    }
  }
});
