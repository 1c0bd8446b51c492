import type { Page } from "./pages.js";
import type { Place } from "./render.js";

/** A heading or a row of a table: its address, its title, the page and heading above it, its words, and its weight. */
export type SearchPlace = readonly [href: string, title: string, where: string, text: string, weight: number];

/** The content of `search-index.js`. */
export type SearchIndex = readonly SearchPlace[];

/** The words of a text in lower case; of `live_access_not_approved` the whole and its parts. */
export function wordsOf(text: string): string[] {
  const words = text.toLowerCase().matchAll(/[\p{L}\p{N}](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu);
  return [...words].flatMap(([word]) => [...new Set([word, ...word.split(/[_.-]+/)])]);
}

/** Lists the places of all pages. */
export function searchIndexOf(pages: readonly { page: Page; places: readonly Place[] }[]): SearchIndex {
  return pages.flatMap(({ page, places }) => {
    let heading = "";
    return places.map(({ id, title, level, text }): SearchPlace => {
      const isRow = level === undefined;
      if (!isRow) heading = title;
      const where = isRow ? `${page.label} · ${heading}` : page.label;
      const shown = level === 1 ? page.label : title;
      const href = level === 1 ? page.file : `${page.file}#${id}`;
      const words = plain(`${text} ${where}`);
      return [href, shown, where, words, weightOf(page) * (level === 1 ? 1.5 : 1)];
    });
  });
}

/** A text in lower case, without marks of Markdown: a message that was pasted is found in it. */
export function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\]\([^)]*\)|[*`|[\]#]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Tasks rank above the reference, and both above the project's history. */
function weightOf({ group, file, isMade }: Page): number {
  if (isMade) return 0.6;
  if (group === undefined || file === "changelog.html" || file === "decisions.html") return 0.2;
  return group === "Tasks" || group === "Begin" ? 1.5 : 1;
}
