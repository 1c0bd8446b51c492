import { isMapping } from "../schema/shape.js";
import { headerOf, type RedactedResponse } from "./response.js";

// A place is a part of a 401 that is compared by itself. Its name is also what a difference shows as its place:
//   reason phrase
//   Server                    a header by its name; the challenge has its scheme and the names of its parameters
//   WWW-Authenticate realm    a parameter of the challenge
//   headers                   the names of all headers, in their order
//   $.error.code              a member of the body
//   body                      the body as text

/** The texts of a response by their places. A place that a response does not have is missing. */
export type PlaceTexts = ReadonlyMap<string, string>;

/** A place with its texts in several responses; `undefined` for a response without it. */
export interface ComparedPlace {
  readonly at: string;
  readonly values: readonly (string | undefined)[];
}

/** By R14, only the presence of these is equal. */
const freeHeaders = new Set(["date", "x-request-id"]);

const namedParameter = /([\w-]+) *= *("(?:[^"\\]|\\.)*"|[^\s",]+)/g;
/** A scheme with parameters. Several challenges in one response are not taken apart. */
const oneChallenge = new RegExp(`^([\\w-]+) +((?:${namedParameter.source}(?: *, *(?!$)|$))+)$`);

/** The values whose members are places: the body, `error`, and `error.details` with all mappings in it. */
const splitValues = /^\$(?:\.error(?:\.details(?:\..*)?)?)?$/;

/** Returns each place of a response with its text. */
export function splitIntoPlaces(response: RedactedResponse): PlaceTexts {
  const { reason, headers, text = "not UTF-8", json } = response;
  const texts = new Map([["reason phrase", reason]]);

  for (const [name, value] of headers) {
    const compared = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    const earlier = texts.get(name);
    texts.set(name, earlier === undefined ? compared : `${earlier}, ${compared}`);
  }
  addParameters(response, texts);
  const names = headers.map(([name]) => name);
  texts.set("headers", names.join(", "));

  if (json !== undefined) addMembers("$", json, texts);
  texts.set("body", text);
  return texts;
}

/** Adds each parameter of the challenge, and leaves their names in the header's own text. */
function addParameters(response: RedactedResponse, texts: Map<string, string>): void {
  const header = response.headers.find(([name]) => name.toLowerCase() === "www-authenticate");
  const challenge = headerOf(response, "www-authenticate") ?? "";
  const [, scheme, parameters] = oneChallenge.exec(challenge) ?? [];
  if (header === undefined || parameters === undefined) return;

  // A name that comes twice would be one place with two values.
  const pairs = [...parameters.matchAll(namedParameter)];
  const names = pairs.map(([, name]) => name);
  if (new Set(names).size < names.length) return;

  const [headerName] = header;
  texts.set(headerName, `${scheme} ${names.join(", ")}`);
  for (const [, name, value = ""] of pairs) texts.set(`${headerName} ${name}`, value);
}

/** Adds a value of the body as JSON, or each of its members. */
function addMembers(at: string, value: unknown, texts: Map<string, string>): void {
  const isSplit = isMapping(value) && splitValues.test(at);
  if (!isSplit) {
    texts.set(at, JSON.stringify(value));
    return;
  }

  // Which details there are, and in which order, is a place of its own.
  const names = Object.keys(value);
  if (at.startsWith("$.error.details")) texts.set(at, `members ${names.join(", ")}`);
  for (const name of names) addMembers(`${at}.${name}`, value[name], texts);
}

/** Leaves out the places that differ only because another one of them does. */
export function independentPlaces<Place extends ComparedPlace>(places: readonly Place[]): Place[] {
  const missing = new Set<string>();
  for (const { at, values } of places) if (values.includes(undefined)) missing.add(at);
  const wholesOfMissing = new Set([...missing].map(wholeAround));
  const isHeaderMissing = [...missing].some(isHeader);
  const isAnyMember = places.some(({ at }) => at.startsWith("$"));
  const isAnyBody = isAnyMember || places.some(({ at }) => at === "body");

  return places.filter(({ at }) => {
    // The text of the body has its members, and these headers follow from the body.
    if (at === "body") return !isAnyMember;
    if (/^(?:content-length|etag)$/i.test(at)) return !isAnyBody;
    // The names of the headers follow from a header that is missing. Their order can differ by itself.
    if (at === "headers") return !isHeaderMissing;

    // What is in a missing value is missing, too.
    const whole = wholeAround(at);
    if (whole !== undefined && missing.has(whole)) return false;
    // A value that has only the names of its members differs by the one that is missing.
    return missing.has(at) || !wholesOfMissing.has(at);
  });
}

/** The place whose text has the name of this one: the value around a member, or the header of a parameter. */
function wholeAround(at: string): string | undefined {
  if (at.startsWith("$")) return at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : undefined;
  return isChallengeParameter(at) ? at.slice(0, at.indexOf(" ")) : undefined;
}

/** Whether a place is a parameter of a header. */
export function isChallengeParameter(at: string): boolean {
  return /^[^$\s]+ \S+$/.test(at) && at !== "reason phrase";
}

function isHeader(at: string): boolean {
  return /^[^$\s]+$/.test(at) && at !== "body" && at !== "headers";
}
