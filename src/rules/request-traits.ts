/** What a request shows besides its method, path and key. */
type RequestTrait =
  /** A query that is not empty. */
  | "query"
  /** A text that looks like a key in the query. */
  | "key in query"
  /** A text that looks like a key in the path, or before it. */
  | "key in url"
  /** A text that looks like a key in a header other than `x-api-key`, such as `Authorization`, `api-key` or `Cookie`. */
  | "key in other header"
  /** A header that browsers send; a proxy may have forwarded it. */
  | "browser header"
  /** A non-empty body of a known length. */
  | "body"
  /** A browser's preflight request for a page of another origin. */
  | "preflight"
  /** A preflight request before a request with an `x-api-key` header. */
  | "preflight for key"
  /** Sent by the page that runs the sandbox, with no proxy in between. */
  | "from page";

export type RequestTraits = readonly RequestTrait[];

/** The traits of two lists, each once. */
export function mergeTraits(traits: RequestTraits, moreTraits: RequestTraits): RequestTraits {
  return moreTraits.length === 0 ? traits : [...new Set([...traits, ...moreTraits])];
}

const keyTraits: RequestTraits = ["key in query", "key in url", "key in other header"];

/** Whether a key is somewhere else than in `x-api-key`. */
export function hasKeyElsewhere(traits: RequestTraits): boolean {
  return traits.length > 0 && keyTraits.some((trait) => traits.includes(trait));
}
