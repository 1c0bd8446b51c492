import { type RequestEvidence, type RequestTraits, readHeaders } from "./request-traits.js";

/** A request to the API as plain data. Every member is required: `receivedRequest` makes it for every adapter. */
export interface ApiRequest {
  /** Upper case, as HTTP sends it. */
  readonly method: string;
  /** Without its query, still percent-encoded. */
  readonly path: string;
  /** The `x-api-key` header, trimmed; several are joined by `, `. `undefined` without this header. */
  readonly apiKey: string | undefined;
  /** The SHA-256 of the key that `apiKey` stands for; `undefined` for the hash of `apiKey`. */
  readonly keyHash: string | undefined;
  readonly traits: RequestTraits;
  /** The headers that the journal keeps: lower-case names and values in turn, without keys. */
  readonly client: readonly string[];
  /** Details about its traits; nearly always `undefined`. */
  readonly evidence: RequestEvidence | undefined;
  /** Its query, body and headers, for endpoints that accept them. */
  readonly content: RequestContent | undefined;
  /** Whether a story or the control plane sends it, so that it causes no advice. */
  readonly fromStory: boolean;
}

export interface ReadBody {
  readonly text: string;
  readonly problem?: string;
}

/** The parts of a request that adapters read only for endpoints with an input schema. */
export interface RequestContent {
  /** Without its question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Names and values in turn, only for the check: none is stored, because each may be a secret. */
  readonly headers: readonly string[];
  readonly body: ReadBody;
}

/** A request as an adapter receives it, before its body. */
export interface Received {
  readonly method: string;
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The traits that its headers do not show. Default: none. */
  readonly traits?: RequestTraits;
}

/** Makes the request of every adapter: sockets, web requests, stories and the control plane. */
export function receivedRequest({ method, path, query, headers, traits = 0 }: Received): ApiRequest {
  const headerFacts = readHeaders(headers, query);
  return {
    method,
    path,
    apiKey: headerFacts.apiKey,
    keyHash: undefined,
    traits: headerFacts.traits | traits,
    client: headerFacts.client,
    evidence: headerFacts.evidence,
    content: undefined,
    fromStory: false,
  };
}
