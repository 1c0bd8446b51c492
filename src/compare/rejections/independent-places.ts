import { placeId, type ResponsePlace } from "./places.js";

/** A place whose texts differ between responses. */
export interface DifferingPlace {
  readonly place: ResponsePlace;
  /** Whether one of the responses does not have it. */
  readonly isMissing: boolean;
}

/** Headers that follow from the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Leaves out the places that differ only because another one of them does. */
export function independentPlaces<Differing extends DifferingPlace>(
  places: readonly Differing[],
): Differing[] {
  const missing = new Set<string>();
  const parentsOfMissing = new Set<string>();
  let isHeaderMissing = false;
  let isMemberDifferent = false;
  let isBodyDifferent = false;
  for (const { place, isMissing } of places) {
    if (place.kind === "member") isMemberDifferent = true;
    if (place.kind === "body") isBodyDifferent = true;
    if (!isMissing) continue;
    missing.add(placeId(place));
    if (place.parent !== undefined) parentsOfMissing.add(placeId(place.parent));
    if (place.kind === "header") isHeaderMissing = true;
  }

  return places.filter(({ place }) => {
    const { kind, name, parent } = place;
    // The text of the body has its members.
    if (kind === "body") return !isMemberDifferent;
    // The names of the headers follow from a header that is missing. Their order can differ by itself.
    if (kind === "header_names") return !isHeaderMissing;
    if (kind === "header" && headersOfBody.has(name.toLowerCase())) {
      return !isMemberDifferent && !isBodyDifferent;
    }

    // A member of a missing mapping is missing, too, and so is a parameter of a missing header.
    if (parent !== undefined && missing.has(placeId(parent))) return false;
    // The text of a parent is the names of what is in it: it differs because one of these is missing.
    return missing.has(placeId(place)) || !parentsOfMissing.has(placeId(place));
  });
}
