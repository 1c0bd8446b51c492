/** A request to the API as plain data. Every member is required: `readApiRequest` makes it for every adapter. */
export interface ApiRequest {
  /** Upper case, as HTTP sends it. */
  readonly method: string;
  /** The path without its query, still percent-encoded. */
  readonly path: string;
  /** The value of `x-api-key`, which each adapter gets trimmed; several are joined by `, `. `undefined` without this header. */
  readonly apiKey: string | undefined;
  /** The SHA-256 of the presented key, if the sender has only the hash of it. `undefined`: that of `apiKey` counts. */
  readonly keyHash: string | undefined;
  readonly traits: RequestTraits;
  /** The headers that the journal keeps: lower-case names and values in turn, without keys. */
  readonly keptHeaders: readonly string[];
  /** The sent values behind its traits, only while it is handled; nearly always `undefined`. */
  readonly evidence:
    | {
        readonly inQuery: readonly string[];
        /** In the path, or before it. */
        readonly inUrl: readonly string[];
        readonly inOtherHeaders: readonly string[];
        /** The origin of the page that sent it, such as `https://shop.example`. */
        readonly page: string | undefined;
      }
    | undefined;
  /** Whether a story or the control plane sends it, so that it causes no advice. */
  readonly fromStory: boolean;
  /** The address of the dashboard, which a 404 shows to people who open the base URL. Nearly always `undefined`. */
  readonly dashboard: string | undefined;
}

/** A request as an adapter receives it: `readApiRequest` reads it. */
export interface RawRequest {
  readonly method: string;
  /** What is before the path of a request to a proxy, such as `http://user@host`. Default: nothing. */
  readonly authority?: string | undefined;
  readonly path: string;
  /** Empty, or everything from the question mark on. */
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The traits that only its adapter knows, such as a body without a length. Default: none. */
  readonly traits?: RequestTraits;
  /** As in `ApiRequest`. Default: none. */
  readonly dashboard?: string | undefined;
}

/** Who sent a request: a client, or the story and `POST /send`. */
export const requestSources = ["client", "story"] as const;

/** What a request shows besides its method, path and key. */
export type RequestTraits = readonly /** A query that is not empty. */
(
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
  | "from page"
)[];

/** The traits of two lists, each once. */
export function mergeTraits(traits: RequestTraits, moreTraits: RequestTraits): RequestTraits {
  return moreTraits.length === 0 ? traits : [...new Set([...traits, ...moreTraits])];
}

const keyTraits: RequestTraits = ["key in query", "key in url", "key in other header"];

/** Whether a key is somewhere else than in `x-api-key`. */
export function hasKeyElsewhere(traits: RequestTraits): boolean {
  return traits.length > 0 && keyTraits.some((trait) => traits.includes(trait));
}
