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
  const aroundMissing = new Set<string>();
  let isHeaderMissing = false;
  let isMemberDifferent = false;
  let isBodyDifferent = false;
  for (const { place, isMissing } of places) {
    if (place.kind === "member") isMemberDifferent = true;
    if (place.kind === "body") isBodyDifferent = true;
    if (!isMissing) continue;
    missing.add(placeId(place));
    if (place.around !== undefined) aroundMissing.add(placeId(place.around));
    if (place.kind === "header") isHeaderMissing = true;
  }

  return places.filter(({ place }) => {
    const { kind, name, around } = place;
    // The text of the body has its members.
    if (kind === "body") return !isMemberDifferent;
    // The names of the headers follow from a header that is missing. Their order can differ by itself.
    if (kind === "header_names") return !isHeaderMissing;
    if (kind === "header" && headersOfBody.has(name.toLowerCase())) {
      return !isMemberDifferent && !isBodyDifferent;
    }

    // What is in a missing value is missing, too.
    if (around !== undefined && missing.has(placeId(around))) return false;
    // A value that has only the names of its members differs by the one that is missing.
    return missing.has(placeId(place)) || !aroundMissing.has(placeId(place));
  });
}
