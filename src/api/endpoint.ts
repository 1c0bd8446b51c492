import type { Assumptions } from "../domain/assumptions.js";
import type { PathId } from "../domain/outcomes.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import type { JsonBody } from "./messages.js";
import type { FlatHeaders } from "./open-headers.js";

/** A JSON Schema 2020-12, as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A path on which an endpoint itself refuses, past the gate. */
export type OwnRefusalPath = Extract<
  PathId,
  "400.bad_request" | "404.unknown_record" | "409.conflict" | `422.${string}`
>;

/**
 * One endpoint of the API. A new endpoint is one file with one of these, and its row in `routes.ts`: the gate, the
 * journal, the doors and the OpenAPI document pick it up from there.
 */
export interface Endpoint {
  readonly method: "GET" | "POST";
  /** The exact path; what stands in braces is any one segment: `/things/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The scope that it needs; `null` when none. */
  readonly scope: (assumptions: Assumptions) => string | null;
  /** What it looks at beside the key and the path. Left out: nothing. */
  readonly input?: InputSchema;
  /** Default: 200. */
  readonly status?: 201;
  /** What the body of a success looks like, and one that could be sent. */
  readonly responseSchema: JsonSchema;
  readonly responseExample: unknown;
  /** On which paths it refuses by itself. Default: none. */
  readonly refusals?: readonly OwnRefusalPath[];
  /** Whether it is not released, so that worlds without the preview do not have it (R49). Default: false. */
  readonly preview?: true;
  /** Whether `data` is the key's context, which the profile `varied` knows how to vary. Default: false. */
  readonly answersContext?: true;
  /**
   * What a caller gets that passed the gate and was counted. Changes nothing: what a success is to change is done by its
   * `carryOut`, because answers are also foreseen.
   */
  readonly respond: (caller: KeyEntry, world: World, asked: EndpointInput) => Success | OwnRefusal;
}

/** What an endpoint looks at beside the key and the path; it is checked before the endpoint is asked. */
export interface InputSchema {
  /** Parameters of the query, by name; any other is refused. */
  readonly query?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  /** What its body, which is JSON, looks like, and one that could be sent. */
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown };
  /** Whether it takes an `Idempotency-Key`. */
  readonly idempotencyKey?: true;
}

/** What was asked of an endpoint, as far as it takes it; all that is declared is as declared. */
export interface EndpointInput {
  /** On the sandbox's clock. */
  readonly now: number;
  /** What stands in the path in the place of its parameters, not decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Whole numbers where the schema says so. */
  readonly query: Readonly<Record<string, string | number>>;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
}

/** The body of a success. */
export interface Success extends JsonBody {
  /** More headers of the answer. */
  readonly headers?: FlatHeaders;
  /** Does to the world what the answer says is done; called once, or never when the answer is only foreseen. */
  readonly commit?: () => void;
}

/** A refusal of the endpoint's own. */
export interface OwnRefusal {
  readonly refused: OwnRefusalPath;
  /** What the answer says of it; holds nothing that looks like a key (R46). */
  readonly details?: Readonly<Record<string, unknown>>;
}
