import { type DifferingPlace, placeId, type ResponsePlace } from "./places.js";

/** What a place that differs is asked about all places that do. */
interface DifferingPlaces {
  readonly kinds: ReadonlySet<ResponsePlace["kind"]>;
  /** The ids of the places that one of the responses does not have. */
  readonly missing: ReadonlySet<string>;
  /** The ids of the mappings and headers of which a part is missing. */
  readonly withMissingPart: ReadonlySet<string>;
  readonly isHeaderMissing: boolean;
}

/** Why a place differs only because another place does. */
const reasonsToLeaveOut: readonly ((place: ResponsePlace, all: DifferingPlaces) => boolean)[] = [
  isBodyOfMembers,
  isHeaderOfBody,
  isListOfHeaders,
  isInMissingPlace,
  isListOfParts,
];

/** Leaves out the places that differ only because another of the places does. */
export function independentPlaces<Differing extends DifferingPlace>(
  places: readonly Differing[],
): Differing[] {
  const summaries = summarize(places);
  return places.filter(({ place }) => !reasonsToLeaveOut.some((isReason) => isReason(place, summaries)));
}

function summarize(places: readonly DifferingPlace[]): DifferingPlaces {
  const missing = new Set<string>();
  const withMissingPart = new Set<string>();
  let isHeaderMissing = false;
  for (const { place, isMissing } of places) {
    if (!isMissing) continue;
    missing.add(placeId(place));
    if (place.parent !== undefined) withMissingPart.add(placeId(place.parent));
    if (place.kind === "header") isHeaderMissing = true;
  }
  return { kinds: new Set(places.map(({ place }) => place.kind)), missing, withMissingPart, isHeaderMissing };
}

/** The text of the body contains its members. */
function isBodyOfMembers(place: ResponsePlace, { kinds }: DifferingPlaces): boolean {
  return place.kind === "body" && kinds.has("member");
}

/** Headers that follow from the body. */
const headersOfBody = new Set(["content-length", "etag"]);

function isHeaderOfBody({ kind, name }: ResponsePlace, { kinds }: DifferingPlaces): boolean {
  const isDescribingBody = kind === "header" && headersOfBody.has(name.toLowerCase());
  return isDescribingBody && (kinds.has("member") || kinds.has("body"));
}

/** The list of all headers' names does not have the name of a missing header. */
function isListOfHeaders(place: ResponsePlace, { isHeaderMissing }: DifferingPlaces): boolean {
  return place.kind === "header_names" && isHeaderMissing;
}

/** With a mapping, its members are missing, and with a header, its parameters. */
function isInMissingPlace({ parent }: ResponsePlace, { missing }: DifferingPlaces): boolean {
  return parent !== undefined && missing.has(placeId(parent));
}

/** The text of a mapping or header with parts is the list of their names: it does not have the name of a missing part. */
function isListOfParts(place: ResponsePlace, { missing, withMissingPart }: DifferingPlaces): boolean {
  const id = placeId(place);
  return withMissingPart.has(id) && !missing.has(id);
}
