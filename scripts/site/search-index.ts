import type { Page } from "./pages.js";
import type { Place } from "./render.js";

/**
 * A heading or a row of a table: its address, its title, the page and heading above it, its weight in results, and the
 * start of a row.
 */
export type SearchPlace = readonly [href: string, title: string, where: string, weight: number, row?: string];

/** The content of `search-index.js`. */
export interface SearchIndex {
  readonly places: readonly SearchPlace[];
  /** A line for each word: the word, then the places with it, each as the distance from the one before, in base 36. */
  readonly words: string;
}

/** The words of a text in lower case; of `live_access_not_approved` the whole and its parts. */
export function wordsOf(text: string): string[] {
  const words = text.toLowerCase().matchAll(/[\p{L}\p{N}](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu);
  return [...words].flatMap(([word]) => [...new Set([word, ...word.split(/[_.-]+/)])]);
}

export function searchIndexOf(pages: readonly { page: Page; places: readonly Place[] }[]): SearchIndex {
  const found: SearchPlace[] = [];
  const byWord = new Map<string, number[]>();
  for (const { page, places } of pages) {
    let heading = "";
    for (const { id, title, level, text } of places) {
      if (level !== undefined) heading = title;
      const where = level === undefined ? `${page.label} · ${heading}` : page.label;
      for (const word of new Set(wordsOf(`${text} ${where}`))) {
        byWord.set(word, [...(byWord.get(word) ?? []), found.length]);
      }
      const weight = weightOf(page);
      if (level === 1) found.push([page.file, page.label, where, 1.5 * weight]);
      else found.push([`${page.file}#${id}`, title, where, weight, ...startOf(level, text)]);
    }
  }
  return { places: found, words: linesOf(byWord) };
}

// Messages that people paste are in rows.
function startOf(level: number | undefined, row: string): [] | [string] {
  return level === undefined ? [row.replace(/[`*]|\]\([^)]*\)/g, "").slice(0, 120)] : [];
}

function linesOf(byWord: ReadonlyMap<string, readonly number[]>): string {
  const steps = (at: readonly number[]) =>
    at.map((place, index) => (place - (at[index - 1] ?? 0)).toString(36));
  const lines = [...byWord].sort(([one], [other]) => (one < other ? -1 : 1));
  return lines.map(([word, at]) => [word, ...steps(at)].join(" ")).join("\n");
}

/** Tasks rank above the reference, and both above the project's history. */
function weightOf({ group, source, file, isMade }: Page): number {
  if (source.startsWith("examples/")) return 1;
  if (group === undefined || file === "changelog.html" || file === "decisions.html") return 0.2;
  // The preview is a guess.
  if (isMade || file === "preview.html") return 0.6;
  return group === "Tasks" || group === "Start" ? 1.5 : 1;
}
