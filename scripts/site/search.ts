import { type SearchIndex, wordsOf } from "./search-index.js";

// Runs in the browser, on every page. The index is read when the search is first used, by an element: browsers refuse
// modules and `fetch` to pages that are files.

declare const searchIndex: SearchIndex;

const form = document.querySelector("#search") as HTMLFormElement;
const input = form.querySelector("input") as HTMLInputElement;
const list = form.querySelector("ul") as HTMLUListElement;
const status = form.querySelector("output") as HTMLOutputElement;
let placesOfWord = new Map<string, number[]>();
/** The number of different words of each place. */
const lengths: number[] = [];

// In the sidebar the page itself comes into sight.
const current = document.querySelector<HTMLElement>("nav [aria-current]");
if (current?.offsetParent) current.offsetParent.scrollTop = current.offsetTop - 200;

form.hidden = false;
input.addEventListener("focus", load, { once: true });
input.addEventListener("input", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
document.addEventListener("click", ({ target }) => {
  if (!form.contains(target as Node)) list.hidden = true;
});
document.addEventListener("keydown", (event) => {
  const isInForm = form.contains(document.activeElement);
  if (event.key !== (isInForm ? "Escape" : "/")) return;
  if (isInForm) input.value = "";
  event.preventDefault();
  input.focus();
  show();
});

function load(): void {
  const script = document.createElement("script");
  script.src = "search-index.js";
  script.onload = () => {
    placesOfWord = new Map(searchIndex.words.split("\n").map(readLine));
    show();
  };
  document.head.append(script);
}

function readLine(line: string): [string, number[]] {
  const [word = "", ...steps] = line.split(" ");
  let place = 0;
  const places = steps.map((step) => {
    place += Number.parseInt(step, 36);
    lengths[place] = (lengths[place] ?? 0) + 1;
    return place;
  });
  return [word, places];
}

/**
 * The places with any word of a query, the best first: those with more of its words, then by their weight.
 *
 * Rare words, whole words, words of the title and words of short places weigh more. A message that was pasted has all its
 * words in one place.
 */
function find(query: string): number[] {
  const scores = new Map<number, { words: number; weight: number }>();
  for (const term of new Set(wordsOf(query))) {
    for (const [place, weight] of scoresOf(term)) {
      const before = scores.get(place) ?? { words: 0, weight: 0 };
      scores.set(place, { words: before.words + 1, weight: before.weight + weight });
    }
  }
  const ranks = [...scores].map(([place, { words, weight }]) => {
    return { place, rank: (words ** 3 * weight) / Math.log(2 + (lengths[place] ?? 0)) };
  });
  return ranks.sort((one, other) => other.rank - one.rank).map(({ place }) => place);
}

function scoresOf(term: string): Map<number, number> {
  const scores = new Map<number, number>();
  for (const [word, places] of placesOfWord) {
    if (!word.startsWith(term)) continue;
    const rarity = Math.log(1 + searchIndex.places.length / places.length);
    for (const place of places) {
      const inTitle = wordsOf(searchIndex.places[place]?.[1] ?? "").includes(word);
      const score = rarity * (word === term ? 2 : 1) * (inTitle ? 4 : 1);
      scores.set(place, Math.max(scores.get(place) ?? 0, score));
    }
  }
  return scores;
}

function show(): void {
  const found = find(input.value);
  const items = found.slice(0, 12).map((place) => {
    const [href, title, page] = searchIndex.places[place] as SearchIndex["places"][number];
    const [item, link, small] = ["li", "a", "small"].map((name) => document.createElement(name));
    link?.setAttribute("href", href);
    small?.append(page);
    link?.append(title, small as HTMLElement);
    item?.append(link as HTMLElement);
    return item as HTMLElement;
  });
  list.replaceChildren(...items);
  list.hidden = items.length === 0;
  const isAsked = input.value.trim() !== "" && placesOfWord.size > 0;
  status.value = isAsked ? `${found.length === 0 ? "Nothing" : found.length} found` : "";
}
