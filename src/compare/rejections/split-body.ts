import { isMapping } from "../../schema/type-tag.js";
import type { PlacedText, ResponsePlace } from "./places.js";

// A body has a place for each member of its root, for each member of `$.error`, and for each one in `$.error.details`,
// however deep. Any other mapping or list is one text.

type Mapping = Readonly<Record<string, unknown>>;

/** Returns the members of the body as JSON; nothing for a body that is not JSON. */
export function splitBody(json: unknown): PlacedText[] {
  if (json === undefined) return [];
  const root: ResponsePlace = { kind: "member", name: "$" };
  if (!isMapping(json)) return [asOneText(root, json)];

  const placedTexts: PlacedText[] = [];
  for (const [name, value] of Object.entries(json)) {
    const place = memberOf(root, name);
    if (name === "error" && isMapping(value)) placedTexts.push(...splitError(place, value));
    else placedTexts.push(asOneText(place, value));
  }
  return placedTexts;
}

function splitError(errorPlace: ResponsePlace, error: Mapping): PlacedText[] {
  const placedTexts: PlacedText[] = [];
  for (const [name, value] of Object.entries(error)) {
    const place = memberOf(errorPlace, name);
    if (name === "details" && isMapping(value)) placedTexts.push(...splitDetails(place, value));
    else placedTexts.push(asOneText(place, value));
  }
  return placedTexts;
}

/** Splits the details, or a mapping in them. Which members there are, and in which order, is a place of its own. */
function splitDetails(detailsPlace: ResponsePlace, details: Mapping): PlacedText[] {
  const names = Object.keys(details);
  const placedTexts: PlacedText[] = [{ place: detailsPlace, text: `members ${names.join(", ")}` }];
  for (const [name, value] of Object.entries(details)) {
    const place = memberOf(detailsPlace, name);
    if (isMapping(value)) placedTexts.push(...splitDetails(place, value));
    else placedTexts.push(asOneText(place, value));
  }
  return placedTexts;
}

function asOneText(place: ResponsePlace, value: unknown): PlacedText {
  return { place, text: JSON.stringify(value) };
}

/** Quotes a name with a dot: `{"a.b": 1}` has the place `$["a.b"]`, and `{"a": {"b": 1}}` has `$.a.b`. */
function memberOf(parent: ResponsePlace, name: string): ResponsePlace {
  const path = name.includes(".") ? `${parent.name}[${JSON.stringify(name)}]` : `${parent.name}.${name}`;
  return { kind: "member", name: path, parent };
}
