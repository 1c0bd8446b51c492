import type { PathId } from "../domain/outcomes.js";
import type { Shape } from "../schema/shape.js";
import type { KeyEntry } from "../world/registry.js";
import type { World } from "../world/world.js";
import type { FlatHeaders } from "./limits.js";
import type { TextBody } from "./messages.js";

/** A path on which an endpoint itself refuses, after authorization. */
export type OwnRefusalPath = Extract<
  PathId,
  "400.bad_request" | "404.unknown_record" | "409.conflict" | `422.${string}`
>;

/**
 * One endpoint of the API. A new endpoint is one file with one of these, and its row in `routes.ts`: authorization,
 * journal, adapters and the OpenAPI document pick it up from there.
 */
export interface Endpoint {
  readonly method: "GET" | "POST";
  /** The exact path; what stands in braces is any one segment: `/things/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The scope that it needs. Default: what the assumption `me_scope` names, which may be none. */
  readonly scope?: string;
  /** Its input beside the key and the path. Default: none. */
  readonly input?: InputSchema;
  /** Default: 200. */
  readonly status?: 201;
  /** The shape of the body of a success, with its name in the description, and an example. */
  readonly responseName: string;
  readonly responseShape: Shape;
  readonly responseExample: unknown;
  /** On which paths it refuses by itself. Default: none. */
  readonly refusals?: readonly OwnRefusalPath[];
  /** Whether it is not released, so that worlds without the preview do not have it (R49). Default: false. */
  readonly preview?: true;
  /** Whether `data` is the key's context, which the profile `varied` knows how to vary. Default: false. */
  readonly answersContext?: true;
  /**
   * The response to an authorized and counted caller. Changes nothing, because it also serves dry runs: the changes of a
   * success are made by its `commit`.
   */
  readonly respond: (caller: KeyEntry, world: World, asked: EndpointInput) => Success | OwnRefusal;
}

/** The input of an endpoint beside the key and the path; checked before the endpoint responds. */
export interface InputSchema {
  /** Parameters of the query, by name; any other is refused. */
  readonly query?: Readonly<Record<string, Shape>>;
  /** The shape of its JSON body, and an example. */
  readonly body?: { readonly shape: Shape; readonly example: unknown };
  /** Whether it takes an `Idempotency-Key`. */
  readonly idempotencyKey?: true;
}

/** The input of one request, checked against the shapes of the endpoint. */
export interface EndpointInput {
  /** On the sandbox's clock. */
  readonly now: number;
  /** The values of the parameters of the path, not decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Numbers where the shape says so. */
  readonly query: Readonly<Record<string, string | number>>;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
}

/** The body of a success. */
export interface Success extends TextBody {
  /** More headers of the answer. */
  readonly headers?: FlatHeaders;
  /** Does to the world what the answer says is done; called once, or never when the answer is only foreseen. */
  readonly commit?: () => void;
}

/** A refusal of the endpoint's own. */
export interface OwnRefusal {
  readonly refused: OwnRefusalPath;
  /** The details of the answer; hold nothing that looks like a key (R46). */
  readonly details?: Readonly<Record<string, unknown>>;
}
