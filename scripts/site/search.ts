import { type SearchIndex, wordsOf } from "./search-index.js";

// Runs in the browser, on every page. The index is read when the search is first used, by an element: browsers refuse
// modules and `fetch` to pages that are files.

declare const searchIndex: SearchIndex;

const form = document.querySelector("#search") as HTMLFormElement;
const input = form.querySelector("input") as HTMLInputElement;
const list = form.querySelector("ul") as HTMLUListElement;
const status = form.querySelector("output") as HTMLOutputElement;
let placesOfWord = new Map<string, number[]>();

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
    return place;
  });
  return [word, places];
}

/** The places with any word of a query, the best first: rare words, whole words and words of the title count for more. */
function find(query: string): number[] {
  const scores = new Map<number, number>();
  for (const term of new Set(wordsOf(query))) {
    for (const [place, score] of scoresOf(term)) scores.set(place, (scores.get(place) ?? 0) + score);
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([place]) => place);
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
