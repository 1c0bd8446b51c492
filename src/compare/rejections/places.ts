import { isMapping } from "../../schema/type-tag.js";
import { readChallenge } from "../response/parts.js";
import { quoted, type RedactedResponse, shownText } from "../response/response.js";

// A 401 in parts: each place of a response is compared by itself, so that a difference shows where it is. The places are the
// HTTP version, the reason phrase, each header and trailer, the parameters of one challenge, the names of all headers in their order, the
// members of the body, and its text, which has what no member shows, such as spaces.

export interface ResponsePlace {
  readonly kind: "start_line" | "header" | "trailer" | "parameter" | "header_names" | "member" | "body";
  /** As a difference shows it: `Server`, `WWW-Authenticate realm`, `$.error.code`. Two places of one kind have two names. */
  readonly name: string;
  /** The name of the mapping of a member, or of the header of a parameter. */
  readonly parent?: string;
}

interface PlacedText {
  readonly place: ResponsePlace;
  readonly text: string;
}

/**
 * The start of the text of a body that is not UTF-8: half a character, which no UTF-8 text has. The bytes after it may have a
 * key in an encoding: they are not shown.
 */
const startOfBytes = "\uD800";

/** Not the JSON of any value. */
const textOfMapping = "a mapping";

/** The headers whose values may differ between 401s (R14): only whether they are there is compared. */
const freeHeaders = new Set(["date", "x-request-id"]);

/** The headers that describe the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Returns the text at each place of a response. A place that it does not have is missing. */
export function splitResponse(response: RedactedResponse): ReadonlyMap<string, PlacedText> {
  const { version, reason, textOfBytes, json, headers, trailers = [] } = response;
  const names = headers.map(([name]) => name);
  const placed: PlacedText[] = [
    { place: { kind: "start_line", name: "HTTP version" }, text: version },
    { place: { kind: "start_line", name: "reason phrase" }, text: reason },
    ...splitHeaders(response),
    { place: { kind: "header_names", name: "headers" }, text: names.join(", ") },
  ];
  for (const [name, text] of trailers) {
    placed.push({ place: { kind: "trailer", name: `trailer ${name}` }, text });
  }
  splitMembers(json, { kind: "member", name: "$" }, placed);
  const text = response.text ?? `${startOfBytes}${textOfBytes}`;
  placed.push({ place: { kind: "body", name: "body" }, text });
  // Tells places of all kinds apart: a header and a member may have one name.
  return new Map(placed.map(({ place, text }) => [`${place.kind} ${place.name}`, { place, text }]));
}

/** Returns the text of each header, and after them the values of the challenge's parameters. */
function splitHeaders(response: RedactedResponse): PlacedText[] {
  const textsByName = new Map<string, string>();
  for (const [name, value] of response.headers) {
    const text = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    // A header that comes twice has its values after each other.
    const earlier = textsByName.get(name);
    textsByName.set(name, earlier === undefined ? text : `${earlier}, ${text}`);
  }

  // `ApiKey realm="api"` is the header `ApiKey realm` and the parameter `"api"`, unless a name comes twice.
  const parameters: PlacedText[] = [];
  const challenge = readChallenge(response);
  if (challenge.kind === "one") {
    const { headerName, scheme } = challenge;
    const names = challenge.parameters.map(({ name }) => name);
    if (names.length > 0 && new Set(names).size === names.length) {
      textsByName.set(headerName, `${scheme} ${names.join(", ")}`);
      for (const { name, value } of challenge.parameters) {
        const place = { kind: "parameter", name: `${headerName} ${name}`, parent: headerName } as const;
        parameters.push({ place, text: value });
      }
    }
  }
  const headers = [...textsByName].map(
    ([name, text]): PlacedText => ({ place: { kind: "header", name }, text }),
  );
  return [...headers, ...parameters];
}

/**
 * Adds a place for the root of the body, for each member of the root and of `$.error`, and for each one in `$.error.details`,
 * however deep. Any other mapping or list is one text.
 */
function splitMembers(value: unknown, place: ResponsePlace, placed: PlacedText[]): void {
  const isSplit = /^\$(?:\.error(?:\.details(?:[.[].*)?)?)?$/s.test(place.name);
  if (!isSplit || !isMapping(value)) {
    placed.push({ place, text: JSON.stringify(value) ?? "no JSON" });
    return;
  }
  placed.push({ place, text: textOfMapping });
  for (const [name, member] of Object.entries(value)) {
    // A name with a dot is quoted: `{"a.b": 1}` has the place `$["a.b"]`, and `{"a": {"b": 1}}` has `$.a.b`.
    const step = name.includes(".") ? `[${JSON.stringify(name)}]` : `.${name}`;
    splitMembers(member, { kind: "member", name: place.name + step, parent: place.name }, placed);
  }
}

/** A place with its texts; `undefined` for responses that do not have it. */
interface PlaceWithTexts {
  readonly place: ResponsePlace;
  readonly texts: readonly (string | undefined)[];
}

/**
 * Leaves out the places that differ only because another one of them does:
 *
 * | places that differ | because of |
 * |---|---|
 * | the text of the body | a member |
 * | `Content-Length`, `ETag` | a member, or the text of the body |
 * | the list of all headers | a header that is missing |
 * | a member or a parameter that is missing | the place that it is a part of |
 */
export function withoutConsequences<Item extends PlaceWithTexts>(differing: readonly Item[]): Item[] {
  const names = new Set(differing.map(({ place }) => place.name));
  const isMemberDifferent = differing.some(({ place }) => place.kind === "member");
  const isBodyDifferent = isMemberDifferent || names.has("body");
  const isHeaderMissing = differing.some(
    ({ place, texts }) => place.kind === "header" && texts.includes(undefined),
  );
  return differing.filter(({ place, texts }) => {
    const { kind, name, parent } = place;
    if (kind === "body") return !isMemberDifferent;
    if (kind === "header_names") return !isHeaderMissing;
    if (kind === "header" && headersOfBody.has(name.toLowerCase())) return !isBodyDifferent;
    return parent === undefined || !texts.includes(undefined) || !names.has(parent);
  });
}

const unshownBytes = "bytes that are not UTF-8";

/** Describes two texts at a place that differ. Both can be shortened for display, and bytes are not shown. */
export function describeTexts(
  place: ResponsePlace,
  text: string | undefined,
  otherText: string | undefined,
): [words: string, otherWords: string] {
  const words = describeText(place, text);
  const otherWords = describeText(place, otherText);
  if (words !== otherWords) return [words, otherWords];
  return [words, words === unshownBytes ? "other bytes" : "another value, which begins in the same way"];
}

/** Members, mostly JSON, and parameters are shown as they are, all else is quoted. */
function describeText({ kind }: ResponsePlace, text: string | undefined): string {
  if (text === undefined) {
    if (kind === "header") return "no such header";
    return kind === "parameter" ? "no such parameter" : "nothing";
  }
  if (kind === "body" && text.startsWith(startOfBytes)) return unshownBytes;
  return kind === "member" || kind === "parameter" ? shownText(text) : quoted(text);
}
