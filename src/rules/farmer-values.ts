// The values that farmers can have, apart from their shape, which pages leave out.

/** The locales of farmers: a language, with a country if the language has several. */
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

/** What a caller can choose: each language and each locale, at least one. */
export const farmerLocaleChoices: readonly [string, ...string[]] = [
  ...new Set(farmerLocales.flatMap((name) => [name.split("_")[0] as string, name])),
] as [string, ...string[]];

/** The number of farmers of a seed: each has an index of 32 bits. */
export const maxFarmers = 2 ** 32;

/** How the boundary of a field was determined. */
export const surveyMethods = ["driven", "surveyed", "auto-imagery", "manual"] as const;
