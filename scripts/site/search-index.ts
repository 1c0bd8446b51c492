import MiniSearch, { type Options } from "minisearch";
import type { Page } from "./pages.js";
import type { Place } from "./render.js";

/** A heading or a row of a table: its address, its title, the page and heading above it, and its words. */
export type SearchPlace = Readonly<{ id: string; title: string; where: string; text: string }>;

/** The words of a text in lower case; of `live_access_not_approved` the whole and its parts. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().matchAll(/[\p{L}\p{N}](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu);
  return [...words].flatMap(([word]) => [...new Set([word, ...word.split(/[_.-]+/)])]);
}

export const searchOptions: Options<SearchPlace> = {
  fields: ["title", "text"],
  storeFields: ["title", "where"],
  tokenize: wordsOf,
  searchOptions: { boost: { title: 3 }, prefix: (term) => term.length > 1, fuzzy: 0.2 },
};

/** The index of all headings, and of all rows that start with a code. Decisions are found from their overview. */
export function searchIndexOf(pages: readonly { page: Page; places: readonly Place[] }[]) {
  const search = new MiniSearch(searchOptions);
  for (const { page, places } of pages.filter((one) => !one.page.source.startsWith("docs/decisions/"))) {
    let heading = "";
    for (const { id, title, level, text } of places) {
      if (level !== undefined) heading = title;
      const where = level === undefined ? `${page.label} · ${heading}` : page.label;
      const isPage = level === 1;
      search.add({
        id: isPage ? page.file : `${page.file}#${id}`,
        title: isPage ? page.label : title,
        ...{ where, text },
      });
    }
  }
  return search;
}
