import { isMapping } from "../../schema/shape.js";
import { headerOf } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";

/** A part of a 401 that is compared by itself. */
export interface ResponsePlace {
  readonly kind:
    | "http_version"
    | "reason_phrase"
    | "header"
    | "parameter"
    | "header_names"
    | "member"
    | "body";
  /** As a difference shows it: `Server`, `WWW-Authenticate realm`, `$.error.code`. Two places of one kind have two names. */
  readonly name: string;
  /** The place whose text has the name of this one: the mapping that a member is in, or the header of a parameter. */
  readonly parent?: ResponsePlace;
}

/** A place of a response with its text there. */
export interface PlacedText {
  readonly place: ResponsePlace;
  readonly text: string;
}

const httpVersion: ResponsePlace = { kind: "http_version", name: "HTTP version" };
const reasonPhrase: ResponsePlace = { kind: "reason_phrase", name: "reason phrase" };
/** The names of all headers, in their order. */
const namesOfHeaders: ResponsePlace = { kind: "header_names", name: "headers" };
const body: ResponsePlace = { kind: "body", name: "body" };
const wholeBody: ResponsePlace = { kind: "member", name: "$" };

/** The mappings whose members are places, and all mappings below the last one. */
const splitMappings = new Set(["$", "$.error", "$.error.details"]);

/** By R14, only the presence of these is equal. */
const freeHeaders = new Set(["date", "x-request-id"]);

/** A parameter of a challenge: `realm="api"`, or `max_age=60`. */
const namedParameter = /([\w-]+) *= *("(?:[^"\\]|\\.)*"|[^\s",]+)/g;
/**
 * One scheme with parameters between commas, and nothing else: `ApiKey realm="api", error="invalid"`. Several challenges in
 * one response, such as `Basic realm="a", ApiKey realm="b"`, do not match, and are not taken apart.
 */
const oneChallenge = new RegExp(`^([\\w-]+) +((?:${namedParameter.source}(?: *, *(?!$)|$))+)$`);

/** The text of a place that users see, and which tells places of all kinds apart. */
export function placeId({ kind, name }: ResponsePlace): string {
  return `${kind} ${name}`;
}

/** Returns the text at each place of a response. A place that it does not have is missing. */
export function splitIntoPlaces(response: RedactedResponse): PlacedText[] {
  const { version, reason, text = "not UTF-8", json } = response;
  const names = response.headers.map(([name]) => name);
  return [
    { place: httpVersion, text: version },
    { place: reasonPhrase, text: reason },
    ...splitHeaders(response),
    { place: namesOfHeaders, text: names.join(", ") },
    ...splitValue(wholeBody, json),
    { place: body, text },
  ];
}

function splitHeaders(response: RedactedResponse): PlacedText[] {
  const valuesByName = new Map<string, string>();
  for (const [name, value] of response.headers) {
    const compared = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    const earlier = valuesByName.get(name);
    valuesByName.set(name, earlier === undefined ? compared : `${earlier}, ${compared}`);
  }

  // The challenge has its scheme and the names of its parameters; their values are places of their own.
  const parameters: PlacedText[] = [];
  const challenge = takeChallengeApart(response);
  if (challenge.kind === "with_parameters") {
    const { headerName, scheme, pairs } = challenge;
    const header: ResponsePlace = { kind: "header", name: headerName };
    const names = pairs.map(([name]) => name);
    valuesByName.set(headerName, `${scheme} ${names.join(", ")}`);
    for (const [name, value] of pairs) {
      const place: ResponsePlace = { kind: "parameter", name: `${headerName} ${name}`, parent: header };
      parameters.push({ place, text: value });
    }
  }

  const headers: PlacedText[] = [];
  for (const [name, text] of valuesByName) headers.push({ place: { kind: "header", name }, text });
  return [...headers, ...parameters];
}

type Challenge =
  | { readonly kind: "none" | "not_taken_apart" }
  | {
      readonly kind: "with_parameters";
      readonly headerName: string;
      readonly scheme: string;
      readonly pairs: readonly (readonly [name: string, value: string])[];
    };

function takeChallengeApart(response: RedactedResponse): Challenge {
  const header = response.headers.find(([name]) => name.toLowerCase() === "www-authenticate");
  if (header === undefined) return { kind: "none" };

  const [headerName] = header;
  const [, scheme = "", parameters] = oneChallenge.exec(headerOf(response, "www-authenticate") ?? "") ?? [];
  if (parameters === undefined) return { kind: "not_taken_apart" };

  const pairs: (readonly [string, string])[] = [];
  for (const [, name = "", value = ""] of parameters.matchAll(namedParameter)) pairs.push([name, value]);
  // A name that comes twice would be one place with two values.
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) return { kind: "not_taken_apart" };
  return { kind: "with_parameters", headerName, scheme, pairs };
}

/** Returns a value of the body as JSON, or each of its members; nothing for a body that is not JSON. */
function splitValue(place: ResponsePlace, value: unknown): PlacedText[] {
  if (value === undefined) return [];
  if (!isMapping(value) || !isSplit(place)) return [{ place, text: JSON.stringify(value) }];

  const placed: PlacedText[] = [];
  const names = Object.keys(value);
  // Which details there are, and in which order, is a place of its own.
  if (isDetails(place)) placed.push({ place, text: `members ${names.join(", ")}` });
  for (const name of names) {
    const member: ResponsePlace = { kind: "member", name: nameOfMember(place, name), parent: place };
    placed.push(...splitValue(member, value[name]));
  }
  return placed;
}

/** Quotes a name with a dot: `{"a.b": 1}` has the place `$["a.b"]`, and `{"a": {"b": 1}}` has `$.a.b`. */
function nameOfMember(parent: ResponsePlace, name: string): string {
  return name.includes(".") ? `${parent.name}[${JSON.stringify(name)}]` : `${parent.name}.${name}`;
}

function isSplit(place: ResponsePlace): boolean {
  return splitMappings.has(place.name) || isDetails(place);
}

/** Whether a place is `error.details`, or in it. */
function isDetails({ name, parent }: ResponsePlace): boolean {
  if (name === "$.error.details") return true;
  return parent !== undefined && isDetails(parent);
}
