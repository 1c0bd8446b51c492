import { isMapping } from "../schema/type-tag.js";
import { quoted, type RedactedResponse, shownText, unlike } from "./response.js";

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

/** Not the JSON of any value. */
const textOfMapping = "a mapping";

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

/**
 * Adds a place for the root of the body, for each member of the root and of `$.error`, and for each one in `$.error.details`,
 * however deep. Any other mapping or list is one text.
 */
function splitMembers(value: unknown, name: string, placed: { place: ResponsePlace; text: string }[]): void {
  const place = { kind: "member", name } as const;
  const isSplit = /^\$(?:\.error(?:\.details(?:[.[].*)?)?)?$/s.test(name);
  if (!isSplit || !isMapping(value)) {
    placed.push({ place, text: JSON.stringify(value) ?? "no JSON" });
    return;
  }
  placed.push({ place, text: textOfMapping });
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

// Two texts are compared in parts: what can be an id, such as `revoked-7f3a`, is one part, and so is each other character. A part
// that varies is an id or a time, and says nothing but the names that are always in it: three letters or more, such as `revoked`.

const partPattern = /[\w+/=.-]+|[^\w+/=.-]/g;
const namePattern = /[a-z]{3,}/gi;

/** The different texts of a part; only one if it stays the same. */
type Part = readonly string[];

/**
 * What the texts of a cause and of the usual cause show at a place:
 * - `agrees`: they are the same without the parts that vary
 * - `differs`: they are always different
 * - `open`: nobody can tell, since the texts of one of them vary in another way than ids and times
 */
export type TextComparison = "agrees" | "differs" | "open";

/** Compares the texts at a place of several responses each; `undefined` for one that does not have the place. */
export function compareTexts(
  texts: readonly (string | undefined)[],
  usualTexts: readonly (string | undefined)[],
): TextComparison {
  const parts = splitTexts(texts);
  const usualParts = splitTexts(usualTexts);
  if (parts === "open" || usualParts === "open") return "open";
  if (parts === undefined || usualParts === undefined) return parts === usualParts ? "agrees" : "differs";
  if (parts.length !== usualParts.length) return "differs";

  let comparison: TextComparison = "agrees";
  for (const [index, part] of parts.entries()) {
    const ofPart = compareParts(part, usualParts[index] ?? []);
    // One response does not show what varies for its cause.
    if (ofPart === "open" && texts.length > 1) return "open";
    if (ofPart === "differs") comparison = "differs";
  }
  return comparison;
}

/** Splits texts into parts; `undefined` if all are missing, and `open` if they have different numbers of parts. */
function splitTexts(texts: readonly (string | undefined)[]): readonly Part[] | "open" | undefined {
  const different = [...new Set(texts)];
  if (different.length === 1 && different[0] === undefined) return undefined;
  const splits: (readonly string[])[] = [];
  for (const text of different) {
    if (text === undefined) return "open";
    splits.push(text.match(partPattern) ?? []);
  }

  const parts: Part[] = [];
  const [first = []] = splits;
  if (splits.some(({ length }) => length !== first.length)) return "open";
  for (const index of first.keys()) {
    parts.push([...new Set(splits.map((split) => split[index] ?? ""))]);
  }
  return parts;
}

function compareParts(part: Part, usual: Part): TextComparison {
  if (part.length === 1 && usual.length === 1) return part[0] === usual[0] ? "agrees" : "differs";
  // What varies without any digit is a name or a sentence, for example of a node.
  if (![...part, ...usual].some((text) => /\d/.test(text))) return "open";
  if (!hasOwnName(part, usual) || !hasOwnName(usual, part)) return "agrees";
  // A service may choose the text by the key: unknown keys are other ones each time, and a given key is the same.
  return part.length === 1 || usual.length === 1 ? "open" : "differs";
}

/** Whether all texts of a part have a name that none of the other has. */
function hasOwnName(part: Part, other: Part): boolean {
  return namesInEach(part).some((name) => !other.some((text) => text.includes(name)));
}

function namesInEach([first = "", ...others]: Part): string[] {
  const names = first.match(namePattern) ?? [];
  return names.filter((name) => others.every((text) => text.includes(name)));
}

/** Describes the texts of a cause and of the usual one, which differ, without what varies. Both can be shortened for display. */
export function describeTexts(
  place: ResponsePlace,
  texts: readonly (string | undefined)[],
  usualTexts: readonly (string | undefined)[],
): { readonly expected: string; readonly found: string } {
  const expected = describeText(place, usualTexts);
  return { expected, found: unlike(describeText(place, texts), expected) };
}

/** Members, mostly JSON, are shown as they are, all else is quoted. */
function describeText({ kind }: ResponsePlace, texts: readonly (string | undefined)[]): string {
  const parts = splitTexts(texts);
  if (parts === undefined || parts === "open") return kind === "header" ? "no such header" : "nothing";
  const words = parts.map((part) => (part.length === 1 ? part[0] : `${namesInEach(part).join("")}…`));
  return kind === "member" ? shownText(words.join("")) : quoted(words.join(""));
}
