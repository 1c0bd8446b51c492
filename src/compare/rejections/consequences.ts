import type { TextAtPlace } from "./compare-texts.js";
import { namesOfHeaders, placeId, type ResponsePlace } from "./places.js";

// A place can differ only because another one does. Then only the other one is a finding:
//
// | places that differ | because of |
// |---|---|
// | the text of the body | a member |
// | `Content-Length`, `ETag` | a member, or the text of the body |
// | the list of all headers | a header that is missing |
// | a member or a parameter that is missing | the place that it is a part of, if this differs, too |

/** A place whose texts differ between responses. */
export interface DifferingPlace {
  readonly place: ResponsePlace;
  readonly texts: readonly TextAtPlace[];
}

/** The headers that describe the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Returns the ids of the places that differ only because another one of these places does. */
export function findConsequences(places: readonly DifferingPlace[]): ReadonlySet<string> {
  return new Set([
    ...consequencesOfBody(places),
    ...consequencesOfMissingHeaders(places),
    ...consequencesOfParents(places),
  ]);
}

/** The text of the body has that of its members, and some headers describe the body. */
function consequencesOfBody(places: readonly DifferingPlace[]): string[] {
  const isAnyMemberDifferent = places.some(({ place }) => place.kind === "member");
  const isBodyDifferent = isAnyMemberDifferent || places.some(({ place }) => place.kind === "body");
  const ids: string[] = [];
  for (const { place } of places) {
    const isOfBody = place.kind === "header" && headersOfBody.has(place.name.toLowerCase());
    if (isOfBody && isBodyDifferent) ids.push(placeId(place));
    if (place.kind === "body" && isAnyMemberDifferent) ids.push(placeId(place));
  }
  return ids;
}

/** The list of all headers does not have the name of a missing one. */
function consequencesOfMissingHeaders(places: readonly DifferingPlace[]): string[] {
  const isAnyMissing = places.some(
    ({ place, texts }) => place.kind === "header" && texts.includes(undefined),
  );
  return isAnyMissing ? [placeId(namesOfHeaders)] : [];
}

/** A mapping that is no mapping elsewhere has no members there, and a challenge names its parameters. */
function consequencesOfParents(places: readonly DifferingPlace[]): string[] {
  const idsOfPlaces = new Set(places.map(({ place }) => placeId(place)));
  const ids: string[] = [];
  for (const { place, texts } of places) {
    if (place.parent === undefined || !texts.includes(undefined)) continue;
    if (idsOfPlaces.has(placeId(place.parent))) ids.push(placeId(place));
  }
  return ids;
}
