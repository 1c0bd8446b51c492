import {
  isSuccess,
  type OutcomeId,
  outcomes,
  type SuccessOutcomeId,
  type SuccessStatus,
} from "../rules/outcomes.js";
import type { Shape } from "../schema/shape.js";
import type { KeyEntry } from "./registry.js";

/** An endpoint of the API, and its responses. */
export interface Endpoint {
  readonly method: string;
  /** The exact path; a segment in braces matches any segment: `/things/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly status: SuccessStatus;
  /** Whether `data` is the key's context: the key decides the outcome of its success. Default: false. */
  readonly isMe?: true;
  /** The scope that it requires, or `null` for none. Default: the assumption `me_scope`. */
  readonly scope?: string | null;
  readonly summary: string;
  /** The success for a key; for `undefined`, an example. Changes nothing, because dry runs use it too. */
  readonly respond: (caller: KeyEntry | undefined) => TextBody;
}

/** An endpoint that the specification has, and its description. */
export interface ReleasedEndpoint extends Endpoint {
  readonly description: string;
  /** The shape of a success body, with its name in the description, and an example. */
  readonly responseName: string;
  readonly responseShape: Shape;
  readonly responseExample: unknown;
}

export interface TextBody {
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
}

/** The outcome of a success of an endpoint: its own, or for `/me` the one that the key decides. */
export function successOutcomeOf<OfKey>(endpoint: Endpoint, ofKey: OfKey): OfKey | SuccessOutcomeId {
  if (endpoint.isMe) return ofKey;
  return `${endpoint.status}.${endpoint.operationId}` as const;
}

/** All outcomes that a success of an endpoint can have. */
export function successOutcomesOf(endpoint: Endpoint): readonly OutcomeId[] {
  const own = successOutcomeOf(endpoint, undefined);
  if (own !== undefined) return [own];
  return outcomes.map(({ id }) => id).filter(isSuccess);
}
