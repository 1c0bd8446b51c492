// A 401 in parts: each place of a response is compared by itself, so that a difference shows where it is.

/** A part of a 401 that is compared by itself. */
export interface ResponsePlace {
  readonly kind:
    | "http_version"
    | "reason_phrase"
    | "header"
    | "parameter"
    | "header_names"
    | "member"
    | "body";
  /** As a difference shows it: `Server`, `WWW-Authenticate realm`, `$.error.code`. Two places of one kind have two names. */
  readonly name: string;
  /** The place that this one is a part of: the mapping of a member, or the header of a parameter. */
  readonly parent?: ResponsePlace;
}

/** The names of all headers, in their order. */
export const namesOfHeaders: ResponsePlace = { kind: "header_names", name: "headers" };

/** A place of a response with its text there. */
export interface PlacedText {
  readonly place: ResponsePlace;
  readonly text: string;
}

/** Tells places of all kinds apart: a header and a member may have one name. */
export function placeId({ kind, name }: ResponsePlace): string {
  return `${kind} ${name}`;
}
