import { namesOfHeaders, placeId, type ResponsePlace } from "./places.js";

/** A place whose texts differ between responses. */
export interface DifferingPlace {
  readonly place: ResponsePlace;
  /** Whether one of the responses does not have the place. */
  readonly isMissing: boolean;
}

/** The headers that describe the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Returns the ids of the places that differ only because another one of these places does. */
export function findConsequences(places: readonly DifferingPlace[]): ReadonlySet<string> {
  const kinds = new Set(places.map(({ place }) => place.kind));
  const isAnyMemberDifferent = kinds.has("member");
  const isBodyDifferent = isAnyMemberDifferent || kinds.has("body");
  const missingPlaces = places.filter(({ isMissing }) => isMissing);
  const missingIds = new Set(missingPlaces.map(({ place }) => placeId(place)));

  const consequences = new Set<string>();
  for (const { place, isMissing } of places) {
    const { kind, name, parent } = place;
    const id = placeId(place);
    // The text of the body has that of its members, and some headers describe the body.
    if (kind === "body" && isAnyMemberDifferent) consequences.add(id);
    if (kind === "header" && headersOfBody.has(name.toLowerCase()) && isBodyDifferent) consequences.add(id);
    if (!isMissing) continue;

    // The list of all headers' names does not have the name of a missing header.
    if (kind === "header") consequences.add(placeId(namesOfHeaders));
    if (parent === undefined) continue;
    // With a mapping, its members are missing, and with a header, its parameters.
    // If only a member or a parameter is missing, the list of them does not have its name.
    const parentId = placeId(parent);
    consequences.add(missingIds.has(parentId) ? id : parentId);
  }
  return consequences;
}
