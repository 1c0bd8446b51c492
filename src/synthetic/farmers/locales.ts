import { type FarmerLocale, farmerLocales } from "../../domain/farmer-locales.js";
import { type Country, countries } from "./countries.js";

interface LocaleFacts {
  readonly country: Country;
  /** BCP 47. */
  readonly language: string;
  /** What a cooperative is called; `{{name}}` is a family name. */
  readonly cooperatives: readonly string[];
}

export const localeFacts = {
  en_GH: {
    country: countries.GH,
    language: "en-GH",
    cooperatives: ["{{name}} Cooperative Farmers Society", "{{name}} Farmers Union"],
  },
  en_IN: {
    country: countries.IN,
    language: "en-IN",
    cooperatives: ["{{name}} Farmer Producer Company", "{{name}} Primary Agricultural Society"],
  },
  en_NG: {
    country: countries.NG,
    language: "en-NG",
    cooperatives: ["{{name}} Farmers Cooperative", "{{name}} Growers Cooperative Society"],
  },
  es_MX: {
    country: countries.MX,
    language: "es-MX",
    cooperatives: ["Cooperativa Agrícola {{name}}", "Unión de Productores {{name}}"],
  },
  fr_SN: {
    country: countries.SN,
    language: "fr-SN",
    cooperatives: ["Coopérative agricole {{name}}", "Union des producteurs {{name}}"],
  },
  id_ID: {
    country: countries.ID,
    language: "id-ID",
    cooperatives: ["Koperasi Tani {{name}}", "Kelompok Tani {{name}}"],
  },
  pt_BR: {
    country: countries.BR,
    language: "pt-BR",
    cooperatives: ["Cooperativa Agrícola {{name}}", "Cooperativa dos Produtores {{name}}"],
  },
  tr: {
    country: countries.TR,
    language: "tr-TR",
    cooperatives: ["{{name}} Tarım Kooperatifi", "{{name}} Üretici Birliği"],
  },
  uk: {
    country: countries.UA,
    language: "uk-UA",
    cooperatives: ["Кооператив «{{name}}»", "Спілка фермерів «{{name}}»"],
  },
  vi: {
    country: countries.VN,
    language: "vi-VN",
    cooperatives: ["Hợp tác xã Nông nghiệp {{name}}", "Tổ hợp tác {{name}}"],
  },
} as const satisfies Record<FarmerLocale, LocaleFacts>;

/**
 * The locales that a text means: the one of that name, or all of a language (`en` means Ghana, India and Nigeria).
 *
 * Takes `en-GH` and `EN_gh` for `en_GH`. `undefined` for what is neither; never throws.
 *
 * @example
 * resolveLocale("en"); // ["en_GH", "en_IN", "en_NG"]
 */
export function resolveLocale(text: string): readonly FarmerLocale[] | undefined {
  const wanted = text.replace("-", "_").toLowerCase();
  const found = farmerLocales.filter((name) => {
    const known = [name, localeFacts[name].language.replace("-", "_"), name.split("_")[0] as string];
    return known.some((one) => one.toLowerCase() === wanted);
  });
  return found.length > 0 ? found : undefined;
}
