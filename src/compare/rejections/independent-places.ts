import { type DifferingPlace, placeId, type ResponsePlace } from "./places.js";

/** Headers that follow from the body. */
const headersOfBody = new Set(["content-length", "etag"]);

/** Leaves out the places that differ only because another of the places does. */
export function independentPlaces<Differing extends DifferingPlace>(
  places: readonly Differing[],
): Differing[] {
  const kinds = new Set(places.map(({ place }) => place.kind));
  const missing = places.filter(({ isMissing }) => isMissing).map(({ place }) => place);
  const isHeaderMissing = missing.some(({ kind }) => kind === "header");
  const missingIds = new Set(missing.map(placeId));
  const idsOfParents = new Set<string>();
  for (const { parent } of missing) if (parent !== undefined) idsOfParents.add(placeId(parent));

  const independent: Differing[] = [];
  for (const differing of places) {
    const { place } = differing;
    // The text of the body has its members.
    if (place.kind === "body" && kinds.has("member")) continue;
    if (isHeaderOfBody(place) && (kinds.has("member") || kinds.has("body"))) continue;

    // The list of all headers' names does not have a missing header.
    if (place.kind === "header_names" && isHeaderMissing) continue;

    // With a mapping, its members are missing, and with a header, its parameters.
    if (place.parent !== undefined && missingIds.has(placeId(place.parent))) continue;

    // The text of a mapping or header with places in it is their names: it differs because one of them is missing.
    const isThere = !missingIds.has(placeId(place));
    if (isThere && idsOfParents.has(placeId(place))) continue;
    independent.push(differing);
  }
  return independent;
}

function isHeaderOfBody({ kind, name }: ResponsePlace): boolean {
  return kind === "header" && headersOfBody.has(name.toLowerCase());
}
