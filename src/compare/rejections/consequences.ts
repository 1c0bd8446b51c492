import { namesOfHeaders, placeId, type ResponsePlace } from "./places.js";

// A place can differ only because another one does. Then only the other one is a finding:
//
// | places that differ | because of |
// |---|---|
// | the text of the body | a member |
// | `Content-Length`, `ETag` | a member, or the text of the body |
// | the list of all headers | a header that is missing |
// | `$.error.details`, the list of its members | a member of it that is missing |
// | `$.error.details.limit`, missing | `$.error.details`, missing |
//
// A challenge has its parameters as details have their members.

/** A place whose texts differ between responses. */
export interface DifferingPlace {
  readonly place: ResponsePlace;
  /** Whether some of the responses do not have the place. */
  readonly isMissingInSome: boolean;
}

/** The headers that describe the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Returns the ids of the places that differ only because another one of these places does. */
export function findConsequences(places: readonly DifferingPlace[]): ReadonlySet<string> {
  return new Set([
    ...consequencesOfBody(places),
    ...consequencesOfMissingHeaders(places),
    ...consequencesOfMissingParts(places),
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
  const missingHeaders = places.filter(
    ({ place, isMissingInSome }) => place.kind === "header" && isMissingInSome,
  );
  return missingHeaders.length === 0 ? [] : [placeId(namesOfHeaders)];
}

/** With a mapping or a challenge, its parts are missing; if only a part is, the list of the parts does not have its name. */
function consequencesOfMissingParts(places: readonly DifferingPlace[]): string[] {
  const missing = places.filter(({ isMissingInSome }) => isMissingInSome);
  const missingIds = new Set(missing.map(({ place }) => placeId(place)));
  const ids: string[] = [];
  for (const { place } of missing) {
    if (place.parent === undefined) continue;
    const parentId = placeId(place.parent);
    const isWithParent = missingIds.has(parentId);
    ids.push(isWithParent ? placeId(place) : parentId);
  }
  return ids;
}
