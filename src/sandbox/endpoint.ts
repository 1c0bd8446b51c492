import {
  type ApiOutcomeId,
  isSuccess,
  type OutcomeId,
  outcomes,
  type successStatuses,
} from "../rules/outcomes.js";
import type { RecordAdditions } from "./record-additions.js";
import type { KeyEntry } from "./registry.js";

/** An endpoint of the API, and its responses. */
export interface Endpoint {
  readonly method: string;
  /** The exact path; a segment in braces matches any segment: `/things/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly status: (typeof successStatuses)[number];
  /**
   * Whether this is `/me`, whose body shows the key. Its success has an outcome for each kind of key, such as `200.live` and
   * `200.legacy`. The success of any other endpoint has one outcome, such as `200.listThings`. Default: false.
   */
  readonly isMe?: true;
  /** The scope that it requires, or `null` for none. Default: the assumption `me_scope`. */
  readonly scope?: string | null;
  readonly summary: string;
  /** Whether its success has a body. */
  readonly hasBody: boolean;
  /** The body of its success for a key, with what the sandbox adds to records; empty without a body. Dry runs call it, too: it changes nothing. */
  readonly respond: (entry: KeyEntry, additions: RecordAdditions) => TextBody;
  /** The body of a success for an example key, for documents. */
  readonly example: () => TextBody;
}

export interface TextBody {
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
}

/** The one outcome of a success of an endpoint other than `/me`: `200.listThings`. */
export function ownSuccessOf({ status, operationId }: Endpoint): ApiOutcomeId {
  return `${status}.${operationId}` as const;
}

/** All outcomes that a success of an endpoint can have: more than one only for `/me`. */
export function successOutcomesOf(endpoint: Endpoint): readonly OutcomeId[] {
  if (!endpoint.isMe) return [ownSuccessOf(endpoint)];
  return outcomes.map(({ id }) => id).filter(isSuccess);
}
