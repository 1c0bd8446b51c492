import { readChallenge } from "../response/challenge.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import { namesOfHeaders, type PlacedText, type ResponsePlace } from "./places.js";
import { splitBody } from "./split-body.js";

const httpVersion: ResponsePlace = { kind: "http_version", name: "HTTP version" };
const reasonPhrase: ResponsePlace = { kind: "reason_phrase", name: "reason phrase" };
/** The text of the body, which also has what no member shows, such as spaces, and bytes that are not UTF-8. */
const body: ResponsePlace = { kind: "body", name: "body" };

/**
 * The start of the text of a body that is not UTF-8: half a character, which no UTF-8 text has. The bytes after it may have a
 * key in an encoding: they are not shown.
 */
export const startOfBytes = "\uD800";

/** The headers whose values may differ between 401s (R14): only whether they are there is compared. */
const freeHeaders = new Set(["date", "x-request-id"]);

/** Returns the text at each place of a response. A place that it does not have is missing. */
export function splitResponse(response: RedactedResponse): PlacedText[] {
  const { version, reason, textOfBytes, json, headers } = response;
  const text = response.text ?? `${startOfBytes}${textOfBytes}`;
  const names = headers.map(([name]) => name);
  return [
    { place: httpVersion, text: version },
    { place: reasonPhrase, text: reason },
    ...splitHeaders(response),
    { place: namesOfHeaders, text: names.join(", ") },
    ...splitBody(json),
    { place: body, text },
  ];
}

/** Returns the text of each header, and after them the values of the challenge's parameters. */
function splitHeaders(response: RedactedResponse): PlacedText[] {
  const challenge = splitChallenge(response);
  const headers: PlacedText[] = [];
  for (const [name, text] of joinHeaders(response)) {
    if (challenge.kind === "split" && challenge.header.place.name === name) headers.push(challenge.header);
    else headers.push({ place: { kind: "header", name }, text });
  }
  return challenge.kind === "split" ? [...headers, ...challenge.parameters] : headers;
}

/** A challenge as its header, with the names of the parameters, and their values; `whole` if it stays one text. */
type SplitChallenge =
  | { readonly kind: "whole" }
  | { readonly kind: "split"; readonly header: PlacedText; readonly parameters: readonly PlacedText[] };

/** Splits `ApiKey realm="api"` into the header `ApiKey realm` and the parameter `"api"`. */
function splitChallenge(response: RedactedResponse): SplitChallenge {
  const challenge = readChallenge(response);
  if (challenge.kind !== "one" || !hasPlaceForEach(challenge.parameters)) return { kind: "whole" };

  const { headerName, scheme } = challenge;
  const header: ResponsePlace = { kind: "header", name: headerName };
  const names: string[] = [];
  const parameters: PlacedText[] = [];
  for (const { name, value } of challenge.parameters) {
    names.push(name);
    const place: ResponsePlace = { kind: "parameter", name: `${headerName} ${name}`, parent: header };
    parameters.push({ place, text: value });
  }
  return { kind: "split", header: { place: header, text: `${scheme} ${names.join(", ")}` }, parameters };
}

/** A name that comes twice would be one place with two values. */
function hasPlaceForEach(parameters: readonly { readonly name: string }[]): boolean {
  const names = new Set(parameters.map(({ name }) => name));
  return parameters.length > 0 && names.size === parameters.length;
}

/** Returns the values of the headers by their names. A header that comes twice has its values after each other. */
function joinHeaders({ headers }: RedactedResponse): Map<string, string> {
  const textsByName = new Map<string, string>();
  for (const [name, value] of headers) {
    const text = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    const earlier = textsByName.get(name);
    textsByName.set(name, earlier === undefined ? text : `${earlier}, ${text}`);
  }
  return textsByName;
}
