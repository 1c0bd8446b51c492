import { isMapping } from "../schema/type-tag.js";
import { quoted, type RedactedResponse, shownText } from "./response.js";

// A 401 in parts: each place of a response is compared by itself, so that a difference shows where it is. The places are the
// HTTP version, the reason phrase, each header and trailer, the names of all headers in their order, the members of the body, and
// its text, which has what no member shows, such as spaces.

export interface ResponsePlace {
  readonly kind: "start_line" | "header" | "header_names" | "member" | "body";
  /** As a difference shows it: `Server`, `trailer Server`, `$.error.code`. Two places of one kind have two names. */
  readonly name: string;
}

/** The places of a response with their texts. */
export type SplitResponse = ReadonlyMap<string, { readonly place: ResponsePlace; readonly text: string }>;

/** The headers whose values may differ between 401s (R14): only whether they are there is compared. */
const freeHeaders = new Set(["date", "x-request-id"]);

/** The headers that describe the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Returns the text at each place of a response. A place that it does not have is missing. */
export function splitResponse(response: RedactedResponse): SplitResponse {
  const { version, reason, body, json, headers, trailers = [] } = response;
  const names = headers.map(([name]) => name);
  const placed: { place: ResponsePlace; text: string }[] = [
    { place: { kind: "start_line", name: "HTTP version" }, text: version },
    { place: { kind: "start_line", name: "reason phrase" }, text: reason },
    { place: { kind: "header_names", name: "headers" }, text: names.join(", ") },
  ];
  const named = [...headers, ...trailers.map(([name, value]) => [`trailer ${name}`, value] as const)];
  for (const name of new Set(named.map(([name]) => name))) {
    // A header that comes twice has its values after each other.
    const values = named.filter((header) => header[0] === name).map(([, value]) => value);
    const text = freeHeaders.has(name.toLowerCase()) ? "present" : values.join(", ");
    placed.push({ place: { kind: "header", name }, text });
  }
  splitMembers(json, "$", placed);
  placed.push({ place: { kind: "body", name: "body" }, text: body });
  // Tells places of all kinds apart: a header and a member may have one name.
  return new Map(placed.map(({ place, text }) => [`${place.kind} ${place.name}`, { place, text }]));
}

/** Adds a place for the root of the body, and for each member of a mapping, however deep. A list is one text. */
function splitMembers(value: unknown, name: string, placed: { place: ResponsePlace; text: string }[]): void {
  const place = { kind: "member", name } as const;
  if (!isMapping(value)) {
    placed.push({ place, text: JSON.stringify(value) ?? "no JSON" });
    return;
  }
  placed.push({ place, text: "a mapping" });
  for (const [member, memberValue] of Object.entries(value)) {
    // A name with a dot is quoted: `{"a.b": 1}` has the place `$["a.b"]`, and `{"a": {"b": 1}}` has `$.a.b`.
    const step = member.includes(".") ? `[${JSON.stringify(member)}]` : `.${member}`;
    splitMembers(memberValue, name + step, placed);
  }
}

/**
 * Leaves out the places that differ only because another one of them does:
 *
 * | places that differ | because of |
 * |---|---|
 * | the text of the body | a member |
 * | `Content-Length`, `ETag` | a member, or the text of the body |
 * | the list of all headers | a header |
 * | a member of a mapping | the mapping, which only some responses have |
 */
export function withoutConsequences<Item extends { readonly place: ResponsePlace }>(
  differing: readonly Item[],
): Item[] {
  const names = differing.map(({ place }) => place.name);
  const isMemberDifferent = differing.some(({ place }) => place.kind === "member");
  const isBodyDifferent = isMemberDifferent || names.includes("body");
  const isHeaderDifferent = differing.some(({ place }) => place.kind === "header");
  return differing.filter(({ place: { kind, name } }) => {
    if (kind === "body") return !isMemberDifferent;
    if (kind === "header_names") return !isHeaderDifferent;
    if (kind === "header" && headersOfBody.has(name.toLowerCase())) return !isBodyDifferent;
    return !names.some((other) => name.startsWith(`${other}.`) || name.startsWith(`${other}[`));
  });
}

// Two texts are compared word by word: what can be an id, such as `req-7f3a`, is one word, and so is each other character. A word
// that varies between the responses of one cause is an id or a time, and says nothing. All others are compared.

const wordPattern = /[\w+/=.-]+|[^\w+/=.-]/g;

/** The texts at a place of several responses; `undefined` for one that does not have the place. */
export type Texts = readonly (string | undefined)[];

/**
 * What the texts of two causes show at a place:
 * - `agrees`: they are the same without the words that vary
 * - `differs`: they are always different
 * - `open`: nobody can tell, since the texts of one of them vary in another way than ids and times
 */
export type TextComparison = "agrees" | "differs" | "open";

export function compareTexts(texts: Texts, usualTexts: Texts): TextComparison {
  const words = readWords(texts);
  const usualWords = readWords(usualTexts);
  if (words === "varies" || usualWords === "varies") return "open";
  if (words === "missing" || usualWords === "missing") return words === usualWords ? "agrees" : "differs";
  if (words.length !== usualWords.length) return "differs";

  let comparison: TextComparison = "agrees";
  for (const [index, word] of words.entries()) {
    const usualWord = usualWords[index] ?? [];
    const isFixed = word.length === 1 && usualWord.length === 1;
    if (isFixed && word[0] !== usualWord[0]) comparison = "differs";
    // What varies without any digit is a name or a sentence, for example of a node.
    if (!isFixed && ![...word, ...usualWord].some((text) => /\d/.test(text))) return "open";
  }
  return comparison;
}

/** Returns what each word of texts is in them; `varies` if only some are there, or they have different numbers of words. */
function readWords(texts: Texts): (readonly string[])[] | "missing" | "varies" {
  const different = [...new Set(texts)];
  if (different.every((text) => text === undefined)) return "missing";
  const split: string[][] = [];
  for (const text of different) {
    if (text === undefined) return "varies";
    split.push(text.match(wordPattern) ?? []);
  }

  const [first = []] = split;
  if (split.some(({ length }) => length !== first.length)) return "varies";
  return first.map((_, index) => [...new Set(split.map((words) => words[index] ?? ""))]);
}

/** Describes texts without what varies, shortened. Members, mostly JSON, are shown as they are, all else is quoted. */
export function describeText({ kind }: ResponsePlace, texts: Texts): string {
  const words = readWords(texts);
  if (words === "missing" || words === "varies") return kind === "header" ? "no such header" : "nothing";
  const text = words.map((word) => (word.length === 1 ? word[0] : "…")).join("");
  return kind === "member" ? shownText(text) : quoted(text);
}
