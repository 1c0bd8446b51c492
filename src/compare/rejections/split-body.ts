import { isMapping } from "../../schema/type-tag.js";
import type { PlacedText, ResponsePlace } from "./places.js";

const wholeBody: ResponsePlace = { kind: "member", name: "$" };
const details = "$.error.details";

/** The mappings whose members are places; so are those of all mappings in the details. */
const splitMappings = new Set(["$", "$.error", details]);

/** Returns the members of the body as JSON; nothing for a body that is not JSON. */
export function splitBody(json: unknown): PlacedText[] {
  return json === undefined ? [] : splitValue(wholeBody, json);
}

/** Returns a value as JSON, or each of its members. */
function splitValue(place: ResponsePlace, value: unknown): PlacedText[] {
  const isSplit = splitMappings.has(place.name) || isInDetails(place);
  if (!isMapping(value) || !isSplit) return [{ place, text: JSON.stringify(value) }];

  const placedTexts: PlacedText[] = [];
  const names = Object.keys(value);
  // Which details there are, and in which order, is a place of its own.
  if (isInDetails(place)) placedTexts.push({ place, text: `members ${names.join(", ")}` });
  for (const name of names) {
    const member: ResponsePlace = { kind: "member", name: nameOfMember(place, name), parent: place };
    placedTexts.push(...splitValue(member, value[name]));
  }
  return placedTexts;
}

/** Quotes a name with a dot: `{"a.b": 1}` has the place `$["a.b"]`, and `{"a": {"b": 1}}` has `$.a.b`. */
function nameOfMember(parent: ResponsePlace, name: string): string {
  return name.includes(".") ? `${parent.name}[${JSON.stringify(name)}]` : `${parent.name}.${name}`;
}

/** Whether a place is `error.details`, or in it. */
function isInDetails({ name, parent }: ResponsePlace): boolean {
  if (name === details) return true;
  return parent !== undefined && isInDetails(parent);
}
