/** The locales that farmers can have, named as faker names them, since the names of people are from its data. */
export const farmerLocales = [
  "en_GH",
  "en_IN",
  "en_NG",
  "es_MX",
  "fr_SN",
  "id_ID",
  "pt_BR",
  "tr",
  "uk",
  "vi",
] as const;
export type FarmerLocale = (typeof farmerLocales)[number];

/** What can be asked for: a locale, or a language, which means all locales of it. */
export const farmerLocaleChoices: readonly [string, ...string[]] = [
  ...new Set(farmerLocales.flatMap((name) => [name.split("_")[0] as string, name])),
] as [string, ...string[]];

/** How many farmers a seed has: each has an index of 32 bits. */
export const mostFarmers = 2 ** 32;
