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

// Mistakes in the data of their locale, or names that are not used in the country.
const unsuitable = new Set(["Abbott", "Akeem-omosanya", "COmfort", "Eliabeth"]);

type Names = {
  readonly generic?: readonly string[];
  readonly female?: readonly string[];
  readonly male?: readonly string[];
};

/** The common names of each locale, taken from faker when the project is built. */
export function farmerNames(): string {
  const tables = Object.entries(locales).map(([name, faker]) => {
    const { first_name: given = {}, last_name: family = {} } = faker.rawDefinitions.person as unknown as {
      first_name?: Names;
      last_name?: Names;
    };
    const [women, men] = [spread(family.female ?? family.generic), spread(family.male ?? family.generic)];
    const lists = {
      female: spread(given.female),
      male: spread(given.male),
      family: women,
      // Left out where women and men bear the same family names.
      ...(women.join() !== men.join() && { familyOfMen: men }),
    };
    const lines = Object.entries(lists).map(([list, words]) => `    "${list}": ${JSON.stringify(words)}`);
    return `  "${name}": {\n${lines.join(",\n")}\n  }`;
  });
  return `{\n${tables.join(",\n")}\n}\n`;
}

// Taken at even distances through the sorted list, so that not all begin with A.
function spread(names: readonly string[] = []): string[] {
  const usable = [...new Set(names)]
    .filter((name) => /^\p{Lu}[\p{L}\p{M}'’ -]+$/u.test(name) && !unsuitable.has(name))
    .sort();
  const count = Math.min(most, usable.length);
  return Array.from({ length: count }, (_, i) => usable[Math.floor((i * usable.length) / count)] as string);
}
