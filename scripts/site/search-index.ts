import type { Page } from "./pages.js";
import type { Place } from "./render.js";

/** What `search-index.js` holds. */
export interface SearchIndex {
  /** Each place that can be found: its address, its title, and where it is. */
  readonly places: readonly (readonly [href: string, title: string, where: string])[];
  /** A line for each word: the word, then the places with it, each as the distance from the one before, in base 36. */
  readonly words: string;
}

/** The words of a text in lower case; of `live_access_not_approved` the whole and its parts. */
export function wordsOf(text: string): string[] {
  const words = text.toLowerCase().matchAll(/[\p{L}\p{N}](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu);
  return [...words].flatMap(([word]) => [...new Set([word, ...word.split(/[_.-]+/)])]);
}

export function searchIndexOf(pages: readonly { page: Page; places: readonly Place[] }[]): SearchIndex {
  const found: (readonly [string, string, string])[] = [];
  const byWord = new Map<string, number[]>();
  for (const { page, places } of pages) {
    let heading = "";
    for (const { id, title, level, text } of places) {
      for (const word of new Set(wordsOf(`${text} ${page.label}`))) {
        if (word.length > 1) byWord.set(word, [...(byWord.get(word) ?? []), found.length]);
      }
      const isRow = level === undefined;
      if (!isRow) heading = title;
      const where = isRow ? `${page.label} · ${heading}` : page.label;
      found.push([level === 1 ? page.file : `${page.file}#${id}`, title, where]);
    }
  }
  const steps = (at: readonly number[]) =>
    at.map((place, index) => (place - (at[index - 1] ?? 0)).toString(36));
  const lines = [...byWord].sort(([one], [other]) => (one < other ? -1 : 1));
  return { places: found, words: lines.map(([word, at]) => [word, ...steps(at)].join(" ")).join("\n") };
}
