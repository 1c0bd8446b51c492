import { isMapping } from "../../schema/type-tag.js";
import type { PlacedText, ResponsePlace } from "./places.js";

// A body has a place for its root, for each member of the root and of `$.error`, and for each one in `$.error.details`, however
// deep. The text of a mapping with such members only shows that it is a mapping. Any other mapping or list is one text.

type Mapping = Readonly<Record<string, unknown>>;

/** Not the JSON of any value. */
const textOfMapping = "a mapping";

/** Returns the root of the body and its members as JSON. */
export function splitBody(json: unknown): PlacedText[] {
  const root: ResponsePlace = { kind: "member", name: "$" };
  if (json === undefined) return [{ place: root, text: "no JSON" }];
  if (!isMapping(json)) return [asOneText(root, json)];

  const placedTexts: PlacedText[] = [{ place: root, text: textOfMapping }];
  for (const [name, value] of Object.entries(json)) {
    const place = memberOf(root, name);
    if (name === "error" && isMapping(value)) placedTexts.push(...splitError(place, value));
    else placedTexts.push(asOneText(place, value));
  }
  return placedTexts;
}

function splitError(errorPlace: ResponsePlace, error: Mapping): PlacedText[] {
  const placedTexts: PlacedText[] = [{ place: errorPlace, text: textOfMapping }];
  for (const [name, value] of Object.entries(error)) {
    const place = memberOf(errorPlace, name);
    if (name === "details" && isMapping(value)) placedTexts.push(...splitDetails(place, value));
    else placedTexts.push(asOneText(place, value));
  }
  return placedTexts;
}

/** Splits the details, or a mapping in them. */
function splitDetails(detailsPlace: ResponsePlace, details: Mapping): PlacedText[] {
  const placedTexts: PlacedText[] = [{ place: detailsPlace, text: textOfMapping }];
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
