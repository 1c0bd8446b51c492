import MiniSearch, { type SearchResult } from "minisearch";
import { type SearchIndex, type SearchPlace, wordsOf } from "./search-index.js";

/** Words that people search for, with the pages' own words for the same thing. */
const synonyms: Readonly<Record<string, string>> = {
  backoff: "retry",
  limitations: "cover",
  limitation: "cover",
  unsupported: "cover",
  internet: "network contacts",
  offline: "internet",
  privacy: "internet",
  telemetry: "internet",
  eaddrinuse: "address_in_use",
  econnrefused: "wait server",
  throttle: "rate limited",
  throttled: "rate limited",
  "429": "rate_limited",
  team: "share",
  multi: "share",
  tenant: "instance",
  quit: "stop",
  shutdown: "stop",
  kill: "stop",
  "ctrl-c": "stop stopping",
  expire: "expired",
  minimal: "assumptions varies",
  profile: "assumptions",
  staging: "share teams",
  maven: "java",
  gradle: "java",
  spring: "java",
  robust: "certify",
  robustness: "certify",
};

/** Words of a question that do not describe its subject. */
const fillers = new Set(
  "a an and are at be by can do does for how i if in is it my no not of on or see so the to what when where which why with".split(
    " ",
  ),
);

/** Makes the search of an index: the places that fit a query best come first. */
export function createSearch({ places, words: lines }: SearchIndex): (query: string) => SearchPlace[] {
  const search = new MiniSearch<{ id: number; title: string; text: string }>({
    fields: ["title", "text"],
    tokenize: wordsOf,
    searchOptions: {
      boost: { title: 3 },
      prefix: (term) => term.length > 1,
      weights: { prefix: 0.4, fuzzy: 0.3 },
      boostDocument: (id) => places[id]?.[3] ?? 1,
    },
  });
  const texts = textsOf(lines);
  search.addAll(places.map(([, title], id) => ({ id, title, text: texts[id]?.join(" ") ?? "" })));
  /** The queries for a word: itself and its synonyms; words close to it if no page has it. */
  const queriesFor = (word: string) => {
    const words = [word, ...(synonyms[word]?.split(" ") ?? [])];
    const isKnown = words.some((one) => search.search(one).length > 0);
    return { combineWith: "OR" as const, queries: words, ...(!isKnown && { fuzzy: 0.25 }) };
  };
  return (query) => {
    const all = [...new Set(wordsOf(query))];
    const words = all.filter((word) => !fillers.has(word));
    const queries = (words.length > 0 ? words : all).map(queriesFor);
    const every = new Set(search.search({ combineWith: "AND", queries }).map(({ id }) => id));
    const pasted = query.trim().toLowerCase();
    const rank = ({ id, score }: SearchResult) => {
      const [, title, , , row] = places[id] as SearchPlace;
      const isPasted = words.length > 1 && row?.toLowerCase().includes(pasted);
      const isTitle = words.length > 1 && title.toLowerCase() === pasted;
      return score * (every.has(id) ? 3 : 1) * (isPasted || isTitle ? 10 : 1) * (isTitle ? 2 : 1);
    };
    const found = search.search({ combineWith: "OR", queries }).sort((one, other) => rank(other) - rank(one));
    return found.map(({ id }) => places[id] as SearchPlace);
  };
}

// The words of each place.
function textsOf(lines: string): string[][] {
  const texts: string[][] = [];
  for (const line of lines.split("\n")) {
    const [word = "", ...steps] = line.split(" ");
    let place = 0;
    for (const step of steps) {
      place += Number.parseInt(step, 36);
      texts[place] ??= [];
      texts[place]?.push(word);
    }
  }
  return texts;
}
