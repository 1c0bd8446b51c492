import type { Faker } from "@faker-js/faker";
import { faker as enGh } from "@faker-js/faker/locale/en_GH";
import { faker as enIn } from "@faker-js/faker/locale/en_IN";
import { faker as enNg } from "@faker-js/faker/locale/en_NG";
import { faker as esMx } from "@faker-js/faker/locale/es_MX";
import { faker as frSn } from "@faker-js/faker/locale/fr_SN";
import { faker as idId } from "@faker-js/faker/locale/id_ID";
import { faker as ptBr } from "@faker-js/faker/locale/pt_BR";
import { faker as tr } from "@faker-js/faker/locale/tr";
import { faker as uk } from "@faker-js/faker/locale/uk";
import { faker as vi } from "@faker-js/faker/locale/vi";

const locales: Readonly<Record<string, Faker>> = {
  en_GH: enGh,
  en_IN: enIn,
  en_NG: enNg,
  es_MX: esMx,
  fr_SN: frSn,
  id_ID: idId,
  pt_BR: ptBr,
  tr,
  uk,
  vi,
};

/** Enough that few farmers of a page share a name, few enough for browsers. */
const most = 48;

// Slips in the data of their locale, or names that nobody of the country would bear.
const unsuitable = new Set(["Abbott", "Akeem-omosanya", "COmfort", "Eliabeth"]);

type Names = {
  readonly generic?: readonly string[];
  readonly female?: readonly string[];
  readonly male?: readonly string[];
};

/** The module with the names of farmers, taken from faker when the project is built. */
export function farmerNamesModule(): string {
  const tables = Object.entries(locales).map(([name, faker]) => {
    const { first_name: given = {}, last_name: family = {} } = faker.rawDefinitions.person as unknown as {
      first_name?: Names;
      last_name?: Names;
    };
    const lists = [
      spread(given.female),
      spread(given.male),
      spread(family.female ?? family.generic),
      spread(family.male ?? family.generic),
    ];
    // One list for both, where a family name is the same for women and men.
    const kept = lists[2] === lists[3] ? lists.slice(0, 3) : lists;
    return `  ${name}: [\n${kept.map((list) => `    ${JSON.stringify(list)},\n`).join("")}  ],\n`;
  });
  return [
    "// Made by `npm run generate` from the data of @faker-js/faker (MIT). Do not edit.",
    "",
    "/** Of each locale: given names of women, of men, family names, and those of men where they differ. */",
    "export const farmerNames: Readonly<Record<string, readonly string[]>> = {",
    `${tables.join("")}};\n`,
  ].join("\n");
}

// Taken at even distances through the sorted list, so that not all begin with A.
function spread(names: readonly string[] = []): string {
  const usable = [...new Set(names)]
    .filter((name) => /^\p{Lu}[\p{L}\p{M}'’ -]+$/u.test(name) && !unsuitable.has(name))
    .sort();
  const count = Math.min(most, usable.length);
  return Array.from({ length: count }, (_, i) => usable[Math.floor((i * usable.length) / count)]).join("|");
}
